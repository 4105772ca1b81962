/// Batch-invariant queries on the device: a row of A gives the same bits for all M, wherever it stands; and
/// warm-ups: what they made ready is not loaded by a run.
#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>

#include "gpu/capture.hpp"
#include "gpu/device_case.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "quarry/warm_up.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

constexpr int most_rows = 600;
constexpr std::size_t most_kernels = 4;  ///< that are tried for each M

/// Checks all M from 1 on: rows of one pool, in random order. @param k contiguous in both operands
void check_invariant(DType type, DType out, int n, int k, const char* where = "true") {
  const auto seed = lab::fresh_seed();
  CAPTURE(seed, to_string(type), to_string(out), n, k, where);
  const Filter filter = must(Filter::parse(where));
  Random random(seed);
  const auto shape = [&](std::int64_t m) {
    return GemmArguments{.a = TensorView::row_major(nullptr, type, {m, k}),
                         .b = TensorView::column_major(nullptr, type, {k, n}),
                         .out = TensorView::row_major(nullptr, out, {m, n})};
  };
  const auto row_bytes = static_cast<std::size_t>(k * bytes_of(type));
  const auto out_bytes = static_cast<std::size_t>(n * bytes_of(out));
  const auto pool = must(lab::OperandsOf<GemmArguments>::make(shape(most_rows), {.seed = seed}));
  std::map<int, std::vector<std::byte>> first;
  std::map<std::string_view, int> kernels;
  std::vector<int> rows(most_rows);
  std::iota(rows.begin(), rows.end(), 0);
  for (int m = 1; m <= most_rows; ++m) {
    std::shuffle(rows.begin(), rows.end(), random);
    // The same seed and B of the same shape, but A comes first: both are copied from the pool.
    auto problem = must(lab::OperandsOf<GemmArguments>::make(shape(m), {.seed = seed}));
    const auto* const from = static_cast<const std::byte*>(pool.arguments.a.data);
    auto* const to = static_cast<std::byte*>(const_cast<void*>(problem.arguments.a.data));
    for (int i = 0; i < m; ++i) {
      std::memcpy(to + static_cast<std::size_t>(i) * row_bytes,
                  from + static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]) * row_bytes, row_bytes);
    }
    std::memcpy(const_cast<void*>(problem.arguments.b.data), pool.arguments.b.data,
                static_cast<std::size_t>(n) * row_bytes);
    const auto device = must(lab::DeviceOperandsOf<GemmArguments>::make(problem, 0));
    // Any kernel of the class may be the first for some M: the best of them take turns.
    const CandidateList of_class = get_kernels(device.arguments, filter, {.batch_invariant = true});
    REQUIRE_FALSE(of_class.empty());
    const auto turn = static_cast<std::size_t>(m) % std::min<std::size_t>(of_class.size(), most_kernels);
    const Candidate kernel = of_class[turn];
    ++kernels[kernel.name()];
    problem.reset_outputs();
    must(device.upload_outputs(problem));
    must(kernel.run(device.arguments, {}));
    must(cudaDeviceSynchronize());
    must(device.download_outputs(problem));
    must(problem.check_outputs());
    const auto* const result = static_cast<const std::byte*>(problem.arguments.out.data);
    for (int i = 0; i < m; ++i) {
      const std::byte* const line = result + static_cast<std::size_t>(i) * out_bytes;
      const auto [place, is_new] = first.try_emplace(rows[static_cast<std::size_t>(i)],
                                                     std::vector<std::byte>(line, line + out_bytes));
      CAPTURE(kernel.name(), m, i);
      if (!is_new) REQUIRE(std::memcmp(place->second.data(), line, out_bytes) == 0);
    }
  }
  CHECK(first.size() == most_rows);
  CHECK(kernels.size() > 1);
}

}  // namespace

TEST_CASE("batch-invariant queries give a row the same bits for all M from 1 to 600") {
  check_invariant(DType::bf16, DType::bf16, 256, 1024);
  check_invariant(DType::f16, DType::f32, 72, 4096);
  check_invariant(DType::f32, DType::f32, 64, 512);
  // Classes that a query of this device may not choose.
  check_invariant(DType::bf16, DType::bf16, 256, 1024, "sum_class == mma_k16");
  check_invariant(DType::bf16, DType::f32, 40, 512, "sum_class == fma");
}

TEST_CASE("what a warm-up made ready runs while its stream is capturing") {
  GemmArguments cut = f16_shape(64, 136, 4096);
  cut.controls = {.mode = Mode::split_k_parallel, .split_k_slices = 4};
  for (const GemmArguments& shape : {f16_shape(80, 136, 264), cut}) {
    DeviceCase c(shape);
    const Arguments problems[] = {c.arguments()};
    const WarmUpReport report = warm_up(problems);
    for (const WarmUpFailure& failure : report.failures) FAIL(failure.status.message());
    const Candidate kernel = must(find_best(c.arguments()));
    const DeviceWorkspace workspace(kernel, c.arguments());
    const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
    const Stream stream;
    Capture capture(stream);
    must(kernel.run(c.arguments(), {.stream = stream, .workspace = workspace}));
    must(capture.end());
    capture.replay(stream);
    c.check_result(kernel, reference);
  }
}
