/// Two devices at once: each run on its own, mixtures refused before they do harm.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "gpu/capture.hpp"
#include "gpu/device_case.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "registry/device/cuda_call.hpp"
#include "registry/device/runtime.hpp"
#include "support/random_reduction.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

bool one_device_only() {
  if (detail::device_count() >= 2) return false;
  WARN("one device only: not tried");
  return true;
}

std::unique_ptr<Stream> stream_on(int device) {
  const detail::CurrentDevice current(device);
  must(current.status());
  return std::make_unique<Stream>();
}

int current_device() {
  int device = -1;
  must(cudaGetDevice(&device));
  return device;
}

/// A problem on a device, with all that runs of it need.
struct Side {
  DeviceCase c;
  DeviceWorkspace workspace;
  std::unique_ptr<Stream> stream;
  lab::Reference reference;

  Side(const GemmArguments& shape, const Kernel& kernel, int device, std::uint64_t seed)
      : c(shape, {.seed = seed}, device),
        workspace(kernel, c.arguments(), device),
        stream(stream_on(device)),
        reference(must(lab::compute_reference(c.problem.arguments))) {}

  /// The arguments without a word of where they lie.
  GemmArguments automatic() const {
    GemmArguments args = c.arguments();
    for (TensorView* view : {&args.a, &args.b, &args.out}) view->memory = {};
    return args;
  }
};

/// The best precompiled kernels for a shape on device 0, of each family.
std::vector<Kernel> a_kernel_of_each_family(const GemmArguments& shape) {
  const DeviceCase c(shape);
  std::vector<Kernel> kernels;
  for (const Candidate& kernel : precompiled_kernels(c.arguments())) {
    const auto same = [&](const Kernel& k) { return k.metadata().family == kernel.metadata().family; };
    if (std::none_of(kernels.begin(), kernels.end(), same)) kernels.push_back(kernel);
  }
  return kernels;
}

void check_stream_refused(const Status& status) {
  INFO(status.message());
  CHECK(status.code() == StatusCode::device_error);
  CHECK(status.message().find("the stream belongs to CUDA device 0, the tensors lie on device 1") !=
        std::string::npos);
}

void check_pointer_refused(const Status& status, Operand name) {
  INFO(status.message());
  CHECK(status.reason() == Reason::mixed_devices);
  CHECK(status.operand() == name);
  CHECK(status.message().find("expected memory of CUDA device 1, got memory of device 0") !=
        std::string::npos);
}

/// What a run would have to refuse: tensors and a plan of `right` on device 1, with parts of `wrong` on
/// device 0.
void check_refusals(const Kernel& kernel, const Plan& plan, const Side& right, const Side& wrong) {
  const PlanOperands operands = right.c.operands();
  const PlanOperands others = wrong.c.operands();
  const GemmArguments args = right.automatic();
  check_stream_refused(kernel.run(args, {.stream = *wrong.stream, .workspace = right.workspace}));
  check_stream_refused(
      kernel.run(right.c.arguments(), {.stream = *wrong.stream, .workspace = right.workspace}));
  check_stream_refused(plan.run(operands, *wrong.stream, right.workspace));
  check_stream_refused(plan.run(others, *wrong.stream, wrong.workspace));
  for (CUstream_st* const stream : {static_cast<cudaStream_t>(*right.stream), cudaStream_t{}}) {
    check_pointer_refused(plan.run(others, stream, right.workspace), Operand::out);
    PlanOperands mixed = operands;
    mixed[Operand::a] = others[Operand::a];
    check_pointer_refused(plan.run(mixed, stream, right.workspace), Operand::a);
    mixed = operands;
    mixed[Operand::b] = others[Operand::b];
    check_pointer_refused(plan.run(mixed, stream, right.workspace), Operand::b);
    if (plan.workspace_size() == 0) continue;
    check_pointer_refused(plan.run(operands, stream, wrong.workspace), Operand::workspace);
    check_pointer_refused(kernel.run(args, {.stream = stream, .workspace = wrong.workspace}),
                          Operand::workspace);
  }
  GemmArguments mixed = args;
  mixed.a = wrong.automatic().a;
  CHECK(kernel.run(mixed, {.stream = *right.stream, .workspace = right.workspace}).reason() ==
        Reason::mixed_devices);
}

/// Whether a plan and a run still give their results, whichever device is current.
void check_runs(const Kernel& kernel, const Plan& plan, Side& side) {
  for (const int current : {0, 1}) {
    must(cudaSetDevice(current));
    side.c.reset();
    must(plan.run(side.c.operands(), *side.stream, side.workspace));
    CHECK(current_device() == current);
    side.c.check_result(kernel, side.reference);
    side.c.reset();
    must(kernel.run(side.automatic(), {.stream = *side.stream, .workspace = side.workspace}));
    CHECK(current_device() == current);
    side.c.check_result(kernel, side.reference);
  }
  must(cudaSetDevice(0));
}

}  // namespace

TEST_CASE("two devices: mixtures are refused before anything is launched, and right runs go on") {
  if (one_device_only()) return;
  for (const Mode mode : {Mode::gemm, Mode::split_k_serial, Mode::split_k_parallel}) {
    GemmArguments shape = f16_shape(136, 200, 520);
    shape.controls = {.mode = mode, .split_k_slices = mode == Mode::gemm ? 1 : 3};
    for (const Kernel& kernel : a_kernel_of_each_family(shape)) {
      INFO(kernel.name());
      Side first(shape, kernel, 0, 1);
      Side second(shape, kernel, 1, 2);
      const Plan of_first = must(kernel.prepare(first.c.arguments()));
      const Plan of_second = must(kernel.prepare(second.c.arguments()));
      for (const int current : {0, 1}) {
        must(cudaSetDevice(current));
        first.c.reset();
        second.c.reset();
        check_refusals(kernel, of_second, second, first);
        CHECK(current_device() == current);
        for (Side* side : {&first, &second}) {
          must(side->c.device.download_outputs(side->c.problem));
          CHECK_FALSE(side->c.problem.check_outputs());  // nothing was written
        }
      }
      check_runs(kernel, of_first, first);
      check_runs(kernel, of_second, second);
    }
  }
  check_no_error_left();
}

TEST_CASE("two devices: eight threads run and plan on both at once") {
  if (one_device_only()) return;
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  constexpr std::size_t count = 8;
  constexpr int rounds = 20;
  const GemmArguments shape = f16_shape(200, 136, 264);
  const CandidateList found = precompiled_kernels(DeviceCase(shape).arguments());
  for (int choice = 0; choice < 6; ++choice) {
    const Kernel kernel = found[choice == 0 ? 0 : random() % found.size()];
    INFO(kernel.name());
    std::vector<std::unique_ptr<Side>> sides;
    for (std::size_t i = 0; i < count; ++i)
      sides.push_back(std::make_unique<Side>(shape, kernel, static_cast<int>(i % 2), random()));
    std::atomic<int> waiting = count;
    std::vector<std::string> faults(count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        const Side& side = *sides[i];
        const cudaStream_t stream_elsewhere = *sides[(i + 1) % count]->stream;
        const int current = static_cast<int>(i / 2 % 2);
        const auto note = [&](const Status& status) {
          if (!status) faults[i] = status.message();
          int now = -1;
          if (cudaGetDevice(&now) != cudaSuccess || now != current) faults[i] = "another device is current";
        };
        if (i >= 4 && cudaSetDevice(current) != cudaSuccess) faults[i] = "the device cannot be current";
        --waiting;
        while (waiting > 0) {
        }
        if (i < 4 && cudaSetDevice(current) != cudaSuccess) faults[i] = "the device cannot be current";
        note(kernel.run(side.c.arguments(), {.stream = *side.stream, .workspace = side.workspace}));
        const Result<Plan> plan = kernel.prepare(side.c.arguments());
        note(plan.status());
        for (int round = 0; plan && round < rounds; ++round) {
          note(plan->run(side.c.operands(), *side.stream, side.workspace));
          note(kernel.run(side.automatic(), {.stream = *side.stream, .workspace = side.workspace}));
          if (plan->run(side.c.operands(), stream_elsewhere, side.workspace)) faults[i] = "not refused";
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(faults == std::vector<std::string>(count));
    for (auto& side : sides) side->c.check_result(kernel, side->reference);
  }
  check_no_error_left();
}

TEST_CASE("two devices: graphs of each are captured and replayed, and refusals do not end a capture") {
  if (one_device_only()) return;
  for (const Mode mode : {Mode::gemm, Mode::split_k_parallel}) {
    GemmArguments shape = f16_shape(72, 136, 520);
    shape.controls = {.mode = mode, .split_k_slices = mode == Mode::gemm ? 1 : 3};
    const Kernel kernel = precompiled_kernels(DeviceCase(shape).arguments()).front();
    std::unique_ptr<Side> sides[] = {std::make_unique<Side>(shape, kernel, 0, 3),
                                     std::make_unique<Side>(shape, kernel, 1, 4)};
    for (const int device : {0, 1}) {
      Side& side = *sides[device];
      const Side& other = *sides[1 - device];
      const Plan plan = must(kernel.prepare(side.c.arguments()));
      const Plan plan_elsewhere = must(kernel.prepare(other.c.arguments()));
      for (const int current : {0, 1}) {
        for (const bool by_plan : {false, true}) {
          CAPTURE(device, current, by_plan);
          must(cudaSetDevice(current));
          side.c.reset();
          Capture capture(*side.stream);
          CHECK_FALSE(plan.run(other.c.operands(), *side.stream, side.workspace));
          CHECK(plan_elsewhere.run(other.c.operands(), *side.stream, other.workspace).code() ==
                StatusCode::device_error);
          must(by_plan ? plan.run(side.c.operands(), *side.stream, side.workspace)
                       : kernel.run(side.automatic(), {.stream = *side.stream, .workspace = side.workspace}));
          must(capture.end());
          CHECK(capture.nodes() == (mode == Mode::gemm ? 1 : 2));
          CHECK(current_device() == current);
          capture.replay(*side.stream);
          side.c.check_result(kernel, side.reference);
        }
      }
    }
    must(cudaSetDevice(0));
  }
  check_no_error_left();
}

TEST_CASE("two devices: reductions keep to theirs") {
  if (one_device_only()) return;
  Random random(7);
  int ran = 0;
  const std::unique_ptr<Stream> streams[] = {stream_on(0), stream_on(1)};
  for (const detail::Row& row : reduction_rows()) {
    const Kernel kernel(row);
    if (!kernel.precompiled(default_device_model().cc)) continue;
    lab::OperandsOf<ReduceSplitKArguments> problem = must(
        lab::OperandsOf<ReduceSplitKArguments>::make(random_reduction(random, row, 200), {.seed = random()}));
    const lab::Reference reference = must(lab::compute_reference(problem.arguments));
    const lab::DeviceOperandsOf<ReduceSplitKArguments> on_0 =
        must(lab::DeviceOperandsOf<ReduceSplitKArguments>::make(problem, 0));
    const lab::DeviceOperandsOf<ReduceSplitKArguments> on_1 =
        must(lab::DeviceOperandsOf<ReduceSplitKArguments>::make(problem, 1));
    const ReduceSplitKArguments& args = on_1.arguments;
    const PlanOperands operands = detail::operands_of(args);
    const PlanOperands others = detail::operands_of(on_0.arguments);
    const Plan plan = must(kernel.prepare(args));
    CAPTURE(kernel.name());
    check_stream_refused(kernel.run(args, {.stream = *streams[0]}));
    check_stream_refused(plan.run(operands, *streams[0]));
    check_stream_refused(plan.run(others, *streams[0]));
    PlanOperands mixed = operands;
    mixed[Operand::partials] = others[Operand::partials];
    check_pointer_refused(plan.run(mixed, *streams[1]), Operand::partials);
    check_pointer_refused(plan.run(others, *streams[1]), Operand::out);
    for (const bool by_plan : {false, true}) {
      problem.reset_outputs();
      must(on_1.upload_outputs(problem));
      must(by_plan ? plan.run(operands, *streams[1]) : kernel.run(args, {.stream = *streams[1]}));
      must(on_1.download_outputs(problem));
      must(problem.check_outputs());
      CHECK(lab::compare(reference, problem.arguments, row.metadata).within());
    }
    CHECK(current_device() == 0);
    ++ran;
  }
  CHECK(ran > 0);
  check_no_error_left();
}

TEST_CASE("two devices: reorders keep to theirs") {
  if (one_device_only()) return;
  constexpr std::size_t bytes = 64 * 96;
  std::vector<std::int8_t> from(bytes);
  for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<std::int8_t>(i * 7 % 251);
  const auto rows = [](const void* data) { return TensorView::row_major(data, DType::s8, {64, 96}); };
  const auto columns = [](const void* data) {
    return TensorView::column_interleaved32(data, DType::s8, {64, 96});
  };
  std::vector<std::int8_t> expected(bytes);
  must(reorder(rows(from.data()), columns(expected.data())));
  const std::unique_ptr<Stream> streams[] = {stream_on(0), stream_on(1)};
  for (const int current : {0, 1}) {
    must(cudaSetDevice(current));
    const lab::DeviceBuffer x = must(lab::DeviceBuffer::allocate(bytes, 1));
    const lab::DeviceBuffer y = must(lab::DeviceBuffer::allocate(bytes, 1));
    const lab::DeviceBuffer elsewhere = must(lab::DeviceBuffer::allocate(bytes, 0));
    must(x.upload(from.data(), bytes));
    must(y.fill(0));
    check_stream_refused(reorder(rows(x.data()), columns(y.data()), {.stream = *streams[0]}));
    CHECK(reorder(rows(elsewhere.data()), columns(y.data()), {.stream = *streams[1]}).code() ==
          StatusCode::invalid_arguments);
    std::vector<std::int8_t> to(bytes);
    must(y.download(to.data(), 0, bytes));
    CHECK(to == std::vector<std::int8_t>(bytes));
    must(reorder(rows(x.data()), columns(y.data()), {.stream = *streams[1]}));
    must(y.download(to.data(), 0, bytes));
    CHECK(to == expected);
    CHECK(current_device() == current);
  }
  must(cudaSetDevice(0));
  check_no_error_left();
}
