/// Kernels on the device: results, streams, memory kinds.
#include <cstring>

#include "gpu/device_case.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "registry/device/runtime.hpp"
#include "support/random_reduction.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

constexpr Types all_types[] = {
    {DType::f16, DType::f16, DType::f32, DType::f16},   {DType::bf16, DType::bf16, DType::f32, DType::bf16},
    {DType::f16, DType::f16, DType::f16, DType::f16},   {DType::f16, DType::f16, DType::f32, DType::f32},
    {DType::bf16, DType::bf16, DType::f32, DType::f32}, {DType::f32, DType::f32, DType::f32, DType::f32},
    {DType::f64, DType::f64, DType::f64, DType::f64},   {DType::s8, DType::s8, DType::s32, DType::s32},
    {DType::s8, DType::s8, DType::s32, DType::s8},      {DType::u8, DType::u8, DType::s32, DType::u8},
    {DType::u8, DType::s8, DType::s32, DType::s32},     {DType::s8, DType::u8, DType::s32, DType::f32},
    {DType::u8, DType::u8, DType::s32, DType::s32},
};

GemmArguments random_problem(Random& random, ShapeLimits limits) {
  const auto layout = [&random] { return coin(random) ? Layout::row : Layout::column; };
  if (coin(random)) limits.alignment_bytes = 16;
  limits.arrays = true;
  GemmArguments shape =
      random_shape(random, one_of(random, all_types), {layout(), layout(), layout()}, limits);
  if (coin(random)) {
    constexpr Mode modes[] = {Mode::split_k_serial, Mode::split_k_parallel, Mode::stream_k};
    shape.controls.mode = one_of(random, modes);
    if (shape.controls.mode == Mode::stream_k) {
      shape.controls.multiprocessors = between(random, 1, 6);
    } else {
      shape.controls.split_k_slices = between(random, 1, 4);
    }
  }
  constexpr int swizzles[] = {1, 2, 4, 8};
  shape.controls.swizzle = one_of(random, swizzles);
  return shape;
}

}  // namespace

TEST_CASE("precompiled kernels compute what the reference says, and their plans give the same bits") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const Stream stream;
  int ran = 0;
  for (int i = 0; i < 60; ++i) {
    const GemmArguments shape = random_problem(random, {300, 300, 300});
    DeviceCase c(shape, {.seed = random(), .in_place = random_in_place(random)});
    const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
    const CandidateList found = get_kernels(c.arguments(), {}, {.availability = Availability::precompiled});
    if (found.empty()) continue;  // a development build precompiles few kernels
    for (int j = 0; j < 3; ++j, ++ran) {
      const Candidate& kernel = found[random() % found.size()];
      const DeviceWorkspace workspace(kernel, c.arguments());
      c.reset();
      must(kernel.run(c.arguments(), {.stream = stream, .workspace = workspace}));
      c.check_result(kernel, reference);
      const std::vector<std::byte> by_run = c.output_bytes();

      const Plan plan = must(kernel.prepare(c.arguments()));
      c.reset();
      must(plan.run(c.operands(), stream, workspace));
      c.check_result(kernel, reference);
      CHECK(c.output_bytes() == by_run);
    }
  }
  check_enough(ran, 31);
  check_no_error_left();
}

TEST_CASE("every reduction that there is code of computes what the reference says, by run and by plan") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const Stream stream;
  int ran = 0;
  for (const detail::Row& row : test::reduction_rows()) {
    const Kernel kernel(row);
    if (!kernel.precompiled(default_device_model().cc)) continue;
    for (int i = 0; i < 20; ++i, ++ran) {
      lab::OperandsOf<ReduceSplitKArguments> problem = must(lab::OperandsOf<ReduceSplitKArguments>::make(
          test::random_reduction(random, row, 400), {.seed = random(), .in_place = random_in_place(random)}));
      const lab::Reference reference = must(lab::compute_reference(problem.arguments));
      const lab::DeviceOperandsOf<ReduceSplitKArguments> device =
          must(lab::DeviceOperandsOf<ReduceSplitKArguments>::make(problem, 0));
      const ReduceSplitKArguments& args = device.arguments;
      const Plan plan = must(kernel.prepare(args));
      for (const bool by_plan : {false, true}) {
        CAPTURE(kernel.name(), by_plan, problem.arguments.partials.extents[0]);
        problem.reset_outputs();
        must(device.upload_outputs(problem));
        must(by_plan ? plan.run(detail::operands_of(args), stream) : kernel.run(args, {.stream = stream}));
        must(cudaStreamSynchronize(stream));
        must(device.download_outputs(problem));
        must(problem.check_outputs());
        REQUIRE(lab::compare(reference, problem.arguments, row.metadata).within());
      }
    }
  }
  CHECK(ran > 0);
  check_no_error_left();
}

TEST_CASE("device and host executor agree bit by bit on small integers") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  int ran = 0;
  for (int i = 0; i < 40; ++i) {
    GemmArguments shape = random_problem(random, {200, 200, 400});
    shape.epilogue.activation = Activation::relu;
    DeviceCase c(shape, {.seed = random(), .values = lab::Values::small_integers});
    const CandidateList found = get_kernels(c.arguments(), {}, {.availability = Availability::precompiled});
    if (found.empty()) continue;
    const Candidate& kernel = found[random() % found.size()];
    INFO(kernel.name());
    const DeviceWorkspace workspace(kernel, c.arguments());
    must(kernel.run(c.arguments(), {.workspace = workspace}));
    must(c.device.download_outputs(c.problem));
    must(c.problem.check_outputs());
    const std::vector<std::byte> by_device = c.output_bytes();

    std::vector<std::byte> memory(workspace.buffer.bytes() + 512);
    const auto past = reinterpret_cast<std::uintptr_t>(memory.data()) % 256;
    c.problem.reset_outputs();
    must(kernel.run(c.problem.arguments,
                    {.workspace = {memory.data() + (256 - past), workspace.buffer.bytes()}}));
    CHECK(c.output_bytes() == by_device);
    ++ran;
  }
  check_enough(ran, 11);
}

TEST_CASE("pointers are enough: the driver says where they lie") {
  DeviceCase c(f16_shape(128, 128, 64));
  const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
  GemmArguments args = c.arguments();
  for (TensorView* view : {&args.a, &args.b, &args.out}) view->memory = {};
  const Candidate kernel = precompiled_kernels(args).front();
  const DeviceWorkspace workspace(kernel, args);
  must(kernel.run(args, {.workspace = workspace}));
  c.check_result(kernel, reference);

  GemmArguments host_args = c.problem.arguments;
  for (TensorView* view : {&host_args.a, &host_args.b, &host_args.out}) view->memory = {};
  c.problem.reset_outputs();
  std::vector<std::byte> memory(workspace.buffer.bytes() + 512);
  const auto past = reinterpret_cast<std::uintptr_t>(memory.data()) % 256;
  must(kernel.run(host_args, {.workspace = {memory.data() + (256 - past), workspace.buffer.bytes()}}));
  must(c.problem.check_outputs());
}

TEST_CASE("managed and pinned memory runs on the device") {
  for (const bool managed : {false, true}) {
    DeviceCase c(f16_shape(64, 128, 96));
    const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
    void* memory = nullptr;
    const std::size_t bytes = c.problem[Operand::a].storage_bytes();
    must(managed ? cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal) : cudaMallocHost(&memory, bytes));
    std::memcpy(memory, c.problem[Operand::a].storage(), bytes);
    GemmArguments args = c.arguments();
    args.a.data = static_cast<std::byte*>(memory) + c.problem[Operand::a].offset();
    args.a.memory = {};
    const Candidate kernel = precompiled_kernels(args).front();
    const DeviceWorkspace workspace(kernel, args);
    must(kernel.run(args, {.workspace = workspace}));
    c.check_result(kernel, reference);
    must(managed ? cudaFree(memory) : cudaFreeHost(memory));
  }
}

TEST_CASE("host memory beside device memory is refused by name") {
  DeviceCase c(f16_shape(64, 64, 64));
  GemmArguments args = c.arguments();
  const Candidate kernel = precompiled_kernels(args).front();
  args.b.data = c.problem[Operand::b].data();
  args.b.memory = {};
  const Status status = kernel.run(args);
  CHECK(status.reason() == Reason::mixed_devices);
  CHECK(status.operand() == Operand::b);

  const float alpha = 1;  // host memory, which the kernel could not read
  args = c.arguments();
  args.out.memory = {};
  args.epilogue.alpha = Scalar::at(&alpha);
  CHECK(kernel.run(args).operand() == Operand::alpha);
  check_no_error_left();
}

namespace {

/// A batch of f16 matrices through arrays whose pointers keep to 16 bytes.
GemmArguments array_shape(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto array = [batch](std::int64_t rows, std::int64_t columns) {
    return PointerArrayView::row_major(nullptr, DType::f16, batch, {rows, columns}).aligned(16);
  };
  GemmArguments shape{.a = array(m, k), .b = array(k, n), .c = array(m, n), .out = array(m, n)};
  shape.epilogue.beta = 0.5;
  shape.epilogue.residual = array(m, n);
  shape.epilogue.aux = array(m, n);
  return shape;
}

}  // namespace

TEST_CASE("batches are found through arrays of pointers in device memory, in every mode") {
  for (const Mode mode : {Mode::gemm, Mode::split_k_serial, Mode::split_k_parallel}) {
    GemmArguments shape = array_shape(5, 136, 200, 264);
    shape.controls.mode = mode;
    if (mode != Mode::gemm) shape.controls.split_k_slices = 3;
    DeviceCase c(shape, {.seed = 1});
    const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
    const CandidateList found = precompiled_kernels(c.arguments());
    for (const Candidate& kernel : {found.front(), found[found.size() - 1]}) {
      INFO(kernel.name());
      CHECK(kernel.metadata().modes.array);
      const DeviceWorkspace workspace(kernel, c.arguments());
      c.reset();
      must(kernel.run(c.arguments(), {.workspace = workspace}));
      c.check_result(kernel, reference);

      // A plan, with the arrays of another problem.
      DeviceCase other(shape, {.seed = 2});
      const lab::Reference other_reference = must(lab::compute_reference(other.problem.arguments));
      const Plan plan = must(kernel.prepare(c.arguments()));
      must(plan.run(other.operands(), nullptr, workspace));
      other.check_result(kernel, other_reference);
    }
  }
  check_no_error_left();
}

TEST_CASE("an array of pointers in host memory beside device memory is refused by name") {
  DeviceCase c(array_shape(3, 64, 64, 64));
  const Candidate kernel = precompiled_kernels(c.arguments()).front();
  GemmArguments args = c.arguments();
  args.b.data = c.problem.arguments.b.data;
  args.b.memory = {};  // the driver is asked
  const Status status = kernel.run(args);
  CHECK(status.reason() == Reason::array_place);
  CHECK(status.operand() == Operand::b);

  // Arrays that all are host memory, and point to the device.
  GemmArguments left = c.problem.arguments;
  left.controls.mode = Mode::gemm;
  auto* const pointers = static_cast<const void**>(const_cast<void*>(left.a.data));
  pointers[1] = c.arguments().a.data;
  CHECK(kernel.run(left).message().find(
            "Pointer to device memory in an array in host memory: entry 1 of the array of pointers `a`") ==
        0);
  check_no_error_left();
}

TEST_CASE("alpha and beta are read on the device when the kernel runs") {
  GemmArguments shape = f16_shape(64, 64, 64);
  shape.c = shape.out;
  shape.epilogue.alpha = 0.5;
  shape.epilogue.beta = -2;
  DeviceCase c(shape);
  const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
  const lab::DeviceBuffer scalars = must(lab::DeviceBuffer::allocate(2 * sizeof(float), 0));
  GemmArguments args = c.arguments();
  args.epilogue.alpha = Scalar::at(scalars.data());
  args.epilogue.beta = Scalar::at(static_cast<float*>(scalars.data()) + 1);
  const Candidate kernel = precompiled_kernels(args).front();
  const DeviceWorkspace workspace(kernel, args);
  const float values[] = {0.5F, -2.0F};
  must(scalars.upload(values, sizeof values));
  must(kernel.run(args, {.workspace = workspace}));
  c.check_result(kernel, reference);
}

TEST_CASE("a bad workspace is refused before anything runs") {
  GemmArguments shape = f16_shape(64, 64, 512);
  shape.controls = {.mode = Mode::split_k_serial, .split_k_slices = 4};
  DeviceCase c(shape);
  const Candidate kernel = precompiled_kernels(c.arguments()).front();
  const DeviceWorkspace workspace(kernel, c.arguments());
  REQUIRE(workspace.buffer.bytes() > 0);
  for (const Workspace bad :
       {Workspace{}, Workspace{workspace.buffer.data(), workspace.buffer.bytes() - 1}}) {
    CHECK(kernel.run(c.arguments(), {.workspace = bad}).code() == StatusCode::invalid_workspace);
  }
  must(c.device.download_outputs(c.problem));
  CHECK_FALSE(c.problem.check_outputs());
}

TEST_CASE("tensors run on their device, whichever is current") {
  const int devices = detail::device_count();
  if (devices < 2) {
    WARN("one device only: not tried");
    return;
  }
  DeviceCase c(f16_shape(128, 64, 96), {}, 1);
  const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
  must(cudaSetDevice(0));
  const Candidate kernel = precompiled_kernels(c.arguments()).front();
  const DeviceWorkspace workspace(kernel, c.arguments(), 1);
  must(kernel.run(c.arguments(), {.workspace = workspace}));
  c.check_result(kernel, reference);
  int current = -1;
  must(cudaGetDevice(&current));
  CHECK(current == 0);

  const Stream stream_of_0;
  const Status status = kernel.run(c.arguments(), {.stream = stream_of_0, .workspace = workspace});
  CHECK(status.code() == StatusCode::device_error);
  CHECK(status.message().find("the stream belongs to CUDA device 0") != std::string::npos);
  check_no_error_left();

  GemmArguments mixed = c.arguments();
  DeviceCase other(f16_shape(128, 64, 96));
  mixed.a = other.arguments().a;
  CHECK(kernel.run(mixed).reason() == Reason::mixed_devices);
}
