/// Runs with copies of host tensors, on a stand-in of a device that does everything late. tests/gpu/ has them
/// on a GPU.
#include "quarry/on_device.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/trials/trial.hpp"
#include "operations/common/operand_list.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/copied_runs.hpp"
#include "registry/device/runtime.hpp"
#include "support/catch_compat.hpp"
#include "support/late_copies.hpp"
#include "support/random_gemm.hpp"

using namespace quarry;
using namespace quarry::test;

static_assert(!std::is_copy_constructible_v<OnDevice>);
static_assert(std::is_nothrow_move_constructible_v<OnDevice>);
static_assert(std::is_nothrow_move_assignable_v<OnDevice>);

namespace {

OnDevice on_late(LateDevice& device, std::size_t staging_bytes = 4096) {
  return OnDevice(std::make_unique<detail::CopiedRuns>(std::make_unique<LateCopies>(device), staging_bytes));
}

void must(const Status& status) {
  INFO(status.message());
  REQUIRE(status);
}

/// All bytes of the outputs, guards included.
std::vector<std::byte> output_bytes(const lab::Operands& operands) {
  std::vector<std::byte> bytes;
  for (const lab::NamedTensor& each : operands.tensors()) {
    if (each.is_output)
      bytes.insert(bytes.end(), each.tensor.storage(), each.tensor.storage() + each.tensor.storage_bytes());
  }
  return bytes;
}

bool has_array(const lab::Operands& operands) {
  return std::ranges::any_of(operands.tensors(),
                             [](const auto& each) { return each.tensor.view().is_pointer_array; });
}

/// Kernels of each operation, some.
std::map<Operation, std::vector<Kernel>> kernels_by_operation() {
  std::map<Operation, std::vector<Kernel>> kernels;
  for (const Kernel& kernel : get_kernels()) kernels[kernel.metadata().operation].push_back(kernel);
  return kernels;
}

/// Matrices of f32, and c = a x b.
struct Product {
  explicit Product(std::int64_t m = 9, std::int64_t n = 7, std::int64_t k = 5)
      : m(m), n(n), k(k), a(at(m * k)), b(at(k * n)), out(at(m * n), -1) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 3;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2;
  }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  GemmArguments arguments() {
    return {.a = TensorView::row_major(a.data(), DType::f32, {m, k}),
            .b = TensorView::row_major(b.data(), DType::f32, {k, n}),
            .out = TensorView::row_major(out.data(), DType::f32, {m, n})};
  }
  std::vector<float> expected() const {
    std::vector<float> sums(at(m * n));
    for (std::int64_t i = 0; i < m * n * k; ++i)
      sums[at(i / k)] += a[at(i / (n * k) * k + i % k)] * b[at(i % k * n + i / k % n)];
    return sums;
  }

  std::int64_t m, n, k;
  std::vector<float> a, b, out;
};

}  // namespace

TEST_CASE("a run with copies gives the bits of a run on the tensors, and touches nothing else",
          "[on_device]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(static_cast<unsigned>(seed));
  int runs = 0;
  for (const auto& [operation, kernels] : kernels_by_operation()) {
    for (int trial = 0; trial < 100; ++trial) {
      const Kernel kernel = kernels[random() % kernels.size()];
      INFO(kernel.name() << ", trial " << trial);
      const lab::OperationLab& lab = lab::lab_of(operation);
      const KernelMetadata& metadata = kernel.metadata();
      const std::uint64_t own = random();
      const std::int64_t number = static_cast<std::int64_t>(random() % (lab.paths.size() + 4));
      const lab::Problem drawn = lab.emulated(metadata, own, number);
      const lab::Problem problem = lab::with(lab.controls_for(metadata, drawn), drawn);
      auto direct = lab::TrialProblem::make(problem, own, lab::Place::host);
      auto copied = lab::TrialProblem::make(problem, own, lab::Place::host);
      REQUIRE(direct);
      REQUIRE(copied);
      if (!kernel.supports(direct->arguments())) continue;
      const auto bytes = kernel.workspace_size(direct->arguments());
      REQUIRE(bytes);
      const auto workspace = WorkspaceBuffer::on_host(*bytes);
      must(workspace.status());

      LateDevice state;
      {
        OnDevice device = on_late(state, 512 << random() % 8);
        const std::vector<std::byte> before = output_bytes(copied->host);
        const Status ran = device.run(kernel, copied->arguments());
        if (has_array(copied->host)) {
          CHECK(ran.code() == StatusCode::unsupported);
          CHECK(state.live == 0);
          continue;
        }
        must(ran);
        REQUIRE(output_bytes(copied->host) == before);
        must(device.sync());
        REQUIRE(device.pending() == 0);
      }
      CHECK(state.live == 0);
      CHECK(state.staging == 0);
      must(kernel.run(direct->arguments(), {.workspace = *workspace}));
      REQUIRE(output_bytes(copied->host) == output_bytes(direct->host));
      must(copied->host.check_outputs());
      ++runs;
    }
  }
  CHECK(runs > 300);
}

TEST_CASE("the best kernel runs, inputs may change behind a run, and outputs wait for sync", "[on_device]") {
  LateDevice state;
  OnDevice device = on_late(state);
  Product p;
  const std::vector<float> expected = p.expected();
  must(device.run(p.arguments()));
  CHECK(device.pending() == 1);
  p.a.assign(p.a.size(), 99);
  p.b.assign(p.b.size(), 99);
  CHECK(p.out == std::vector<float>(p.out.size(), -1));
  must(device.sync());
  CHECK(p.out == expected);
  CHECK(device.pending() == 0);
  p.out.assign(p.out.size(), 5);  // a second call brings nothing back
  must(device.sync());
  CHECK(p.out == std::vector<float>(p.out.size(), 5));
}

TEST_CASE("a run reads what an earlier one wrote on the device", "[on_device]") {
  LateDevice state;
  OnDevice device = on_late(state);
  Product p(6, 6, 6);
  const std::vector<float> once = p.expected();
  must(device.run(p.arguments()));
  const std::size_t uploaded = state.uploaded;

  Product next(6, 6, 6);
  GemmArguments chained = next.arguments();
  chained.a = p.arguments().out;
  must(device.run(chained));
  CHECK(device.pending() == 2);
  CHECK(state.downloaded == 0);
  CHECK(state.uploaded - uploaded == 6 * 6 * sizeof(float));  // of B alone

  SECTION("in the order of the runs") {}
  SECTION("in place") {
    GemmArguments in_place = p.arguments();  // the first output += a x b
    in_place.c = in_place.out;
    in_place.epilogue.beta = 1;
    must(device.run(in_place));
    CHECK(device.pending() == 2);
    CHECK(state.downloaded == 0);
    must(device.sync());
    std::vector<float> twice = once;
    for (float& value : twice) value *= 2;
    CHECK(p.out == twice);
  }
  SECTION("a part of it: it comes back before") {
    GemmArguments part = next.arguments();
    std::vector<float> of_part(6 * 6);
    part.a = TensorView::row_major(p.out.data(), DType::f32, {3, 6});
    part.out = TensorView::row_major(of_part.data(), DType::f32, {3, 6});
    must(device.run(part));
    CHECK(p.out == once);
    CHECK(device.pending() == 1);
    must(device.sync());
    next.a = once;
    const std::vector<float> all = next.expected();
    CHECK(std::equal(all.begin(), all.begin() + 18, of_part.begin()));
  }
  must(device.sync());
  next.a = once;
  CHECK(next.out == next.expected());
}

TEST_CASE("tensors that share memory share a copy, and gaps between rows stay the program's", "[on_device]") {
  LateDevice state;
  OnDevice device = on_late(state);
  // A, C, which is the output, and a gap side by side in one matrix of 8 x 20.
  constexpr int width = 20;
  std::vector<float> whole(8 * width, 7);
  Product p(8, 8, 8);
  for (std::size_t i = 0; i < 64; ++i) whole[i / 8 * width + i % 8] = p.a[i];
  for (std::size_t i = 0; i < 64; ++i) whole[i / 8 * width + 8 + i % 8] = 1;
  GemmArguments args = p.arguments();
  args.a = TensorView::row_major(whole.data(), DType::f32, {8, 8}, width);
  args.out = TensorView::row_major(whole.data() + 8, DType::f32, {8, 8}, width);
  args.c = args.out;
  args.epilogue.beta = 1;
  must(device.run(args));
  CHECK(state.live == 2);
  for (std::size_t row = 0; row < 8; ++row) whole[row * width + 16] = 70;  // the gap is written meanwhile
  must(device.sync());
  const std::vector<float> sums = p.expected();
  for (std::size_t i = 0; i < 8 * width; ++i) {
    const std::size_t row = i / width, column = i % width;
    const float value = column < 8     ? p.a[row * 8 + column]
                        : column < 16  ? sums[row * 8 + column - 8] + 1
                        : column == 16 ? 70
                                       : 7;
    REQUIRE(whole[i] == value);
  }
  // Outputs side by side in one matrix do not wait for each other.
  std::vector<float> both(8 * 16, -1);
  for (const std::size_t half : {0U, 8U}) {
    GemmArguments slice = p.arguments();
    slice.out = TensorView::row_major(both.data() + half, DType::f32, {8, 8}, 16);
    must(device.run(slice));
  }
  CHECK(device.pending() == 2);
  must(device.sync());
  for (std::size_t i = 0; i < both.size(); ++i) REQUIRE(both[i] == sums[i / 16 * 8 + i % 8]);
}

TEST_CASE("operands that share memory are as aligned as on the host", "[on_device]") {
  LateDevice state;
  OnDevice device = on_late(state);
  constexpr int width = 160;
  alignas(256) static std::uint16_t whole[64 * width];
  alignas(256) static std::uint16_t a[64 * 64];
  const GemmArguments args = {.a = TensorView::row_major(a, DType::f16, {64, 64}),
                              .b = TensorView::row_major(whole + 80, DType::f16, {64, 64}, width),
                              .out = TensorView::row_major(whole + 1, DType::f16, {64, 64}, width)};
  const CandidateList found = get_kernels(args, *Filter::parse("b.alignment == 8"));
  REQUIRE_FALSE(found.empty());
  must(device.run(found.front(), args));
  must(device.sync());
}

TEST_CASE("alpha and beta may be behind pointers", "[on_device]") {
  LateDevice state;
  OnDevice device = on_late(state);
  Product p;
  std::vector<float> expected = p.expected();
  for (float& value : expected) value *= 3;
  float alpha = 3;
  GemmArguments args = p.arguments();
  args.epilogue.alpha = Scalar::at(&alpha);
  must(device.run(args));
  alpha = 0;
  must(device.sync());
  CHECK(p.out == expected);
}

TEST_CASE("extents of 0 are copied as nothing", "[on_device]") {
  LateDevice state;
  OnDevice device = on_late(state);
  Product p(4, 3, 5);
  GemmArguments args = p.arguments();
  args.a = TensorView::row_major(p.a.data(), DType::f32, {4, 0});
  args.b = TensorView::row_major(p.b.data(), DType::f32, {0, 3});
  must(device.run(args));
  must(device.sync());
  CHECK(p.out == std::vector<float>(12, 0));
  args = p.arguments();
  args.a = TensorView::row_major(p.a.data(), DType::f32, {0, 5});
  args.out = TensorView::row_major(p.out.data(), DType::f32, {0, 3});
  must(device.run(args));
  CHECK(device.pending() == 0);
}

TEST_CASE("what a run with copies refuses", "[on_device]") {
  LateDevice state;
  OnDevice device = on_late(state);
  Product p;
  const auto refused = [&](const GemmArguments& args, StatusCode code, const std::string& words) {
    const Status status = device.run(args);
    INFO(status.message());
    CHECK(status.code() == code);
    CHECK(status.message().find(words) != std::string::npos);
    CHECK(device.pending() == 0);
    CHECK(state.uploaded == 0);
  };
  GemmArguments args = p.arguments();
  args.b = args.b.on({MemoryKind::device, 0});
  args.a = args.a.on({MemoryKind::device, 0});
  args.out = args.out.on({MemoryKind::device, 0});
  // Where there is no device, or a device that is not for this, that is said first.
  if (detail::device_count() == 0)
    refused(args, StatusCode::invalid_arguments, "Operand `out` lies in memory of CUDA device 0");
  for (TensorView* view : {&args.a, &args.b, &args.out}) *view = view->on({MemoryKind::managed, 0});
  refused(args, StatusCode::invalid_arguments, "Operand `out` lies in managed memory");
  args = p.arguments();
  args.b.data = nullptr;
  refused(args, StatusCode::invalid_arguments, "`b`");
  args = p.arguments();
  args.b.extents[0] = 6;
  refused(args, StatusCode::invalid_arguments, "K");
  args = p.arguments();
  args.a = args.out;
  args.a.extents = {9, 5};
  refused(args, StatusCode::invalid_arguments, "overlaps");
  const float* pointers[] = {p.a.data()};
  args = p.arguments();
  args.out = TensorView::row_major(p.out.data(), DType::f32, {1, 9, 7});
  args.a = PointerArrayView::row_major(reinterpret_cast<const void* const*>(pointers), DType::f32, 1, {9, 5});
  refused(args, StatusCode::unsupported, "array of pointers");

  const Result<Candidate> f16 =
      find_best(GemmArguments{.a = TensorView::row_major(nullptr, DType::f16, {8, 8}),
                              .b = TensorView::row_major(nullptr, DType::f16, {8, 8}),
                              .out = TensorView::row_major(nullptr, DType::f16, {8, 8})});
  REQUIRE(f16);
  CHECK(device.run(*f16, p.arguments()).code() == StatusCode::unsupported);
  CHECK(state.uploaded == 0);
  must(device.sync());
}

TEST_CASE("whatever fails, memory is freed and the next run works", "[on_device]") {
  Product p(9, 7, 300);
  const std::vector<float> expected = p.expected();
  GemmArguments args = p.arguments();
  args.controls = {.mode = Mode::split_k_parallel, .split_k_slices = 2};  // with a workspace
  int failures = 0;
  for (int call = 1; call < 1000; ++call) {
    LateDevice state;
    state.fails_at = call;
    {
      OnDevice device = on_late(state, 512);
      Status done = device.run(args);
      if (done) done = device.sync();
      if (done) break;
      ++failures;
      CHECK(done.code() == StatusCode::device_error);
      CHECK(done.message() == "planted");
      const bool was_not_tried = device.pending() == 1;  // the stream could not be used: nothing is lost
      CHECK((device.pending() == 0 || (was_not_tried && state.downloaded == 0)));
      state.fails_at = 0;
      p.out.assign(p.out.size(), -1);
      must(device.run(args));
      must(device.sync());
      CHECK(p.out == expected);
    }
    CHECK(state.live == 0);
    CHECK(state.staging == 0);
  }
  CHECK(failures > 8);
}

TEST_CASE("memory that is in use is flat, and freed when it is closed", "[on_device]") {
  LateDevice state;
  OnDevice device = on_late(state);
  Product p;
  for (int i = 0; i < 100; ++i) {
    must(device.run(p.arguments()));  // writes the same output again
    CHECK(device.pending() == 1);
    CHECK(state.live <= 5);
  }
  must(device.sync());
  p.out.assign(p.out.size(), -1);
  must(device.run(p.arguments()));
  OnDevice moved = std::move(device);
  CHECK(device.is_closed());
  CHECK(device.sync().code() == StatusCode::invalid_arguments);
  CHECK(device.run(p.arguments()).code() == StatusCode::invalid_arguments);
  CHECK(moved.pending() == 1);
  moved.close();
  moved.close();
  CHECK(moved.is_closed());
  CHECK(moved.pending() == 0);
  CHECK(moved.stream() == nullptr);
  CHECK(p.out == std::vector<float>(p.out.size(), -1));  // dropped
  CHECK(moved.sync().message() == "This OnDevice is closed");
  CHECK(moved.run(p.arguments()).code() == StatusCode::invalid_arguments);
  CHECK(state.live == 0);
  CHECK(state.staging == 0);
}

TEST_CASE("large tensors go in pieces through little staging memory", "[on_device]") {
  LateDevice state;
  OnDevice device = on_late(state, 512);
  Product p(100, 90, 70);
  must(device.run(p.arguments()));
  must(device.sync());
  CHECK(p.out == p.expected());
}

TEST_CASE("copies in host memory need no device", "[on_device]") {
  Result<OnDevice> device = OnDevice::in_host_memory();
  REQUIRE(device);
  Product p;
  must(device->run(p.arguments()));
  must(device->sync());
  CHECK(p.out == p.expected());
  CHECK(device->stream() == nullptr);
}

TEST_CASE("a device that is not there", "[on_device]") {
  for (const int device : {-1, detail::device_count(), 1000})
    CHECK(OnDevice::create({.device = device}).status().code() == StatusCode::no_device);
}
