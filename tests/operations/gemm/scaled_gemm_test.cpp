/// The host executor with scales of operands, and the lab's reference, against the sum of scaled products in
/// f64, element by element.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/host/element.hpp"
#include "operations/gemm/executor.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_rules.hpp"
#include "support/random_gemm.hpp"

namespace {

using namespace quarry;
using host::HostKernel;
using test::between;
using test::coin;
using test::one_of;
using test::Random;

/// A tensor with memory of its own: a matrix, a batch of them by a stride, or an array of pointers to them.
class Stored {
 public:
  Stored() = default;
  /// As padded_matrix makes them; an array of pointers where `as_array`.
  Stored(TensorView view, bool as_array) : view_(view) {
    const auto entries = static_cast<std::size_t>(view.rank == 3 ? view.extents[0] : 1);
    const auto stride = static_cast<std::size_t>(view.rank == 3 ? view.strides[0] : 0);
    const std::size_t rows = view.rank - 2U;
    std::size_t elements = 1;
    for (std::size_t i = rows; i < view.rank; ++i)
      elements += static_cast<std::size_t>(view.extents[i] * view.strides[i]);
    bytes_.resize(bytes_up_to(elements + entries * stride) + 16);
    view_.data = bytes_.data();
    if (!as_array) return;
    for (std::size_t i = entries; i-- > 0;) pointers_.push_back(first(static_cast<int>(i)));  // backwards
    view_.is_pointer_array = true;
    view_.data = pointers_.data();
    view_.assumed_alignment = static_cast<std::uint16_t>(unit_bytes(view.dtype));
  }
  Stored(Stored&&) = default;
  Stored& operator=(Stored&&) = default;

  const TensorView& view() const { return view_; }

  double read(int entry, std::int64_t row, std::int64_t column) const {
    return host::read_element(view_.dtype, first(entry), index(row, column));
  }
  void write(int entry, std::int64_t row, std::int64_t column, double value) {
    host::write_element(view_.dtype, const_cast<void*>(first(entry)), index(row, column), value);
  }

  /// Writes `draw()` to every element.
  template <class Draw>
  void fill(const Draw& draw) {
    const int entries = view_.rank == 3 ? static_cast<int>(view_.extents[0]) : 1;
    for (int entry = 0; entry < entries; ++entry) {
      for (std::int64_t i = 0; i < view_.extents[view_.rank - 2U]; ++i) {
        for (std::int64_t j = 0; j < view_.extents[view_.rank - 1U]; ++j) write(entry, i, j, draw());
      }
    }
  }

 private:
  std::size_t bytes_up_to(std::size_t element) const {
    return static_cast<std::size_t>(bytes_for(view_.dtype, static_cast<std::int64_t>(element)));
  }
  const void* first(int entry) const {
    if (view_.is_pointer_array) return pointers_[static_cast<std::size_t>(entry)];
    const std::int64_t stride = view_.rank == 3 ? view_.strides[0] : 0;
    return bytes_.data() + bytes_up_to(static_cast<std::size_t>(entry * stride));
  }
  std::int64_t index(std::int64_t row, std::int64_t column) const {
    return row * view_.strides[view_.rank - 2U] + column * view_.strides[view_.rank - 1U];
  }

  TensorView view_;
  std::vector<std::byte> bytes_;
  std::vector<const void*> pointers_;
};

/// A random problem with scales, in memory.
struct ScaledProblem {
  Types types;
  int m, n, k, batch;
  Stored a, b, a_scale, b_scale, out;
  GemmArguments args = {};
};

constexpr Types scaled_types[] = {
    {DType::f16, DType::f16, DType::f32, DType::f16},    {DType::f16, DType::f16, DType::f16, DType::f32},
    {DType::bf16, DType::bf16, DType::f32, DType::f32},  {DType::f32, DType::f32, DType::f32, DType::f32},
    {DType::f64, DType::f64, DType::f64, DType::f64},    {DType::s8, DType::s8, DType::s32, DType::f32},
    {DType::s8, DType::u8, DType::s32, DType::s8},       {DType::e4m3, DType::e5m2, DType::f32, DType::bf16},
    {DType::e4m3, DType::e4m3, DType::f32, DType::e4m3}, {DType::f16, DType::s4, DType::f32, DType::f16},
    {DType::bf16, DType::u4, DType::f32, DType::f32},    {DType::bf16, DType::s4, DType::f32, DType::bf16},
    {DType::f16, DType::e4m3, DType::f32, DType::f32},   {DType::bf16, DType::u8, DType::f32, DType::bf16},
};

/// Positions of K that a scale is for.
int group_of(ScaleGranularity granularity) {
  if (granularity == ScaleGranularity::block_1x32) return 32;
  return granularity == ScaleGranularity::block_1x64 ? 64 : 128;
}

/// Extents of the scales, as the documentation of GemmArguments gives them.
std::array<int, 2> extents_of_a(ScaleGranularity granularity, int m, int k) {
  if (granularity == ScaleGranularity::tensor) return {1, 1};
  const int group = group_of(granularity);
  return {m, granularity == ScaleGranularity::row ? 1 : (k + group - 1) / group};
}
std::array<int, 2> extents_of_b(ScaleGranularity granularity, int k, int n) {
  if (granularity == ScaleGranularity::tensor) return {1, 1};
  if (granularity == ScaleGranularity::column) return {1, n};
  const int group = group_of(granularity);
  return {(k + group - 1) / group, granularity == ScaleGranularity::block_128x128 ? (n + 127) / 128 : n};
}

/// Which row or column of scales an element's is in, of so many; each is for `group` elements, or for one.
std::int64_t place(std::int64_t index, std::int64_t elements, std::int64_t scales, int group) {
  return scales == 1 ? 0 : scales == elements ? index : index / group;
}

/// One batch entry of an operand times its scales, row by row.
std::vector<double> scaled(const Stored& operand, const Stored& scale, int group, int entry) {
  const TensorView& view = operand.view();
  const TensorView& of = scale.view();
  const std::int64_t rows = view.extents[view.rank - 2U];
  const std::int64_t columns = view.extents[view.rank - 1U];
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      double factor = 1;
      if (of.rank > 0) {
        factor = scale.read(of.rank == 3 ? entry : 0, place(i, rows, of.extents[of.rank - 2U], group),
                            place(j, columns, of.extents[of.rank - 1U], group));
      }
      values.push_back(factor * operand.read(view.rank == 3 ? entry : 0, i, j));
    }
  }
  return values;
}

/// A matrix in memory of its own; a batch by chance, where there is one.
Stored make(Random& random, DType type, int batch, int rows, int columns, bool is_output = false) {
  const int entries = is_output || coin(random) ? batch : 0;
  const Layout layout = coin(random) ? Layout::row : Layout::column;
  const bool as_array = entries > 0 && random() % 4 == 0;
  const int alignment = is_half_byte(type) ? 2 : 1;  // lines begin at whole bytes
  return {test::padded_matrix(random, type, layout, alignment, entries, rows, columns), as_array};
}

/// @param exact values and scales of which no sum is rounded
void draw(Random& random, bool exact, ScaledProblem& p) {
  p.types = one_of(random, scaled_types);
  p.m = between(random, 1, 140);
  p.n = between(random, 1, 300);
  p.k = between(random, 1, 400);
  if (exact && p.types.accumulator == DType::f16) p.k = std::min(p.k, 200);
  p.batch = coin(random) ? 0 : between(random, 1, 3);
  p.a = make(random, p.types.a, p.batch, p.m, p.k);
  p.b = make(random, p.types.b, p.batch, p.k, p.n);
  p.out = make(random, p.types.out, p.batch, p.m, p.n, true);
  p.args = {.a = p.a.view(), .b = p.b.view(), .out = p.out.view(), .accumulator = p.types.accumulator};
  constexpr ScaleGranularity of_a[] = {ScaleGranularity::tensor, ScaleGranularity::row,
                                       ScaleGranularity::block_1x128, ScaleGranularity::block_1x32,
                                       ScaleGranularity::block_1x64};
  constexpr ScaleGranularity of_b[] = {ScaleGranularity::tensor,      ScaleGranularity::column,
                                       ScaleGranularity::block_1x128, ScaleGranularity::block_128x128,
                                       ScaleGranularity::block_1x32,  ScaleGranularity::block_1x64};
  const bool both = coin(random);
  const bool only_a = coin(random);
  if (both || only_a) {
    p.args.a_scale_granularity = one_of(random, of_a);
    const auto [rows, columns] = extents_of_a(p.args.a_scale_granularity, p.m, p.k);
    p.a_scale = make(random, DType::f32, p.batch, rows, columns);
    p.args.a_scale = p.a_scale.view();
  }
  if (both || !only_a) {
    p.args.b_scale_granularity = one_of(random, of_b);
    const auto [rows, columns] = extents_of_b(p.args.b_scale_granularity, p.k, p.n);
    p.b_scale = make(random, DType::f32, p.batch, rows, columns);
    p.args.b_scale = p.b_scale.view();
  }
  p.args.epilogue.alpha = coin(random) ? 1.0 : -0.5;

  const auto value = [&](DType type) {
    if (exact || is_integer(type)) return static_cast<double>(between(random, is_unsigned(type) ? 0 : -3, 3));
    return static_cast<double>(between(random, -2048, 2048)) / 512;
  };
  p.a.fill([&] { return value(p.types.a); });
  p.b.fill([&] { return value(p.types.b); });
  const auto scale = [&] {
    constexpr double powers[] = {0.25, 0.5, 1, 2};
    return exact ? one_of(random, powers) : between(random, 1, 4000) / 1000.0;
  };
  if (p.args.a_scale) p.a_scale.fill(scale);
  if (p.args.b_scale) p.b_scale.fill(scale);
  p.out.fill([] { return 55; });
}

HostKernel scaled_kernel(Random& random, const Types& types) {
  constexpr int tiles[] = {16, 32, 64, 96, 128, 256};
  HostKernel kernel = {.types = types, .tile_m = 32, .tile_n = 48, .tile_k = one_of(random, tiles)};
  kernel.instruction_k = coin(random) ? 16 : 1;
  kernel.warps_k = kernel.tile_k >= 32 ? between(random, 1, 2) : 1;
  return kernel;
}

/// What a kernel is launched with for a problem.
GemmParams params_of(Random& random, const GemmProblem& problem, const HostKernel& kernel) {
  constexpr Mode modes[] = {Mode::gemm, Mode::split_k_serial, Mode::split_k_parallel, Mode::stream_k};
  GemmParams p = {};
  p.a = problem.a.matrix;
  p.b = problem.b.matrix;
  p.out = problem.out.matrix;
  p.epilogue = problem.epilogue;
  p.m = problem.m;
  p.n = problem.n;
  p.k = problem.k;
  p.batch = problem.batch;
  p.mode = one_of(random, modes);
  p.slices = p.mode == Mode::gemm || p.mode == Mode::stream_k ? 1 : between(random, 1, 4);
  const auto tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
  p.tiles_m = tiles(p.m, kernel.tile_m);
  p.tiles_n = tiles(p.n, kernel.tile_n);
  p.k_tiles_per_slice = tiles(tiles(p.k, kernel.tile_k), p.slices);
  return p;
}

/// Computes the problem as some kernel would, or its transpose.
void compute(Random& random, const ScaledProblem& p) {
  GemmProblem problem;
  const Status ok = test::normalise(p.args, problem);
  INFO(ok.message());
  REQUIRE(ok);
  if (coin(random)) problem = exchanged(problem);
  const HostKernel kernel = scaled_kernel(random, problem.types);
  const GemmParams params = params_of(random, problem, kernel);
  const auto blocks = static_cast<unsigned>(between(random, 1, 9));
  INFO("tile_k " << kernel.tile_k << " warps_k " << kernel.warps_k << " instruction " << kernel.instruction_k
                 << " mode " << to_string(params.mode) << " slices " << params.slices << " blocks "
                 << blocks);
  REQUIRE(host::execute(kernel, params, problem.scales, blocks));
}

std::string described(const ScaledProblem& p) {
  const auto scale = [](const std::optional<TensorView>& view, ScaleGranularity granularity) {
    return view ? std::string(to_string(granularity)) : std::string("none");
  };
  return std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k) + " batch " +
         std::to_string(p.batch) + " " + std::string(to_string(p.types.a)) + " " +
         std::string(to_string(p.types.accumulator)) + " " + std::string(to_string(p.types.out)) + " a " +
         scale(p.args.a_scale, p.args.a_scale_granularity) + " b " +
         scale(p.args.b_scale, p.args.b_scale_granularity);
}

/// Calls `check(value, sum, magnitude)` for each output: what was computed, the sum of scaled products, and
/// the sum of their magnitudes.
template <class Check>
void for_each_output(const ScaledProblem& p, const Check& check) {
  const auto [m, n, k] = std::array{p.m, p.n, p.k};
  for (int entry = 0; entry < std::max(p.batch, 1); ++entry) {
    const std::vector<double> a = scaled(p.a, p.a_scale, group_of(p.args.a_scale_granularity), entry);
    const std::vector<double> b = scaled(p.b, p.b_scale, group_of(p.args.b_scale_granularity), entry);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        double magnitude = 0;
        for (int at = 0; at < k; ++at) {
          const double product =
              a[static_cast<std::size_t>(i * k + at)] * b[static_cast<std::size_t>(at * n + j)];
          sum += product;
          magnitude += std::abs(product);
        }
        check(p.out.read(entry, i, j), sum, magnitude);
      }
    }
  }
}

/// A value as a type holds it.
double rounded(DType type, double value) {
  double stored = 0;
  host::write_element(type, &stored, 0, value);
  return host::read_element(type, &stored, 0);
}

/// Checks the lab's reference against the sums, and what was computed against the reference.
void check_reference(const ScaledProblem& p, int threads) {
  const Result<lab::Reference> reference = lab::compute_reference(p.args, {.threads = threads});
  REQUIRE(reference);
  const std::vector<double>& values = reference->outputs[0].values;
  const double alpha = p.args.epilogue.alpha.value;
  double worst = 0;
  std::size_t next = 0;
  for_each_output(p, [&](double, double sum, double magnitude) {
    worst = std::max(worst, std::abs(values[next++] - alpha * sum) / (magnitude + 1));
  });
  CHECK(next == values.size());
  CHECK(worst < 1e-12);
  const lab::Tolerance tolerance =
      lab::tolerance(p.types.accumulator, p.types.out, MathUnit::simt, p.k, Math::exact);
  const lab::Comparison compared = lab::compare(*reference, p.args, tolerance);
  INFO(compared.text());
  CHECK(compared.within());
}

}  // namespace

TEST_CASE("scaled sums of small integers are exact", "[scales]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 60; ++i) {
    ScaledProblem p;
    draw(random, true, p);
    INFO("case " << i << ": " << described(p));
    compute(random, p);
    int wrong = 0;
    const double alpha = p.args.epilogue.alpha.value;
    for_each_output(
        p, [&](double value, double sum, double) { wrong += value != rounded(p.types.out, alpha * sum); });
    CHECK(wrong == 0);
    check_reference(p, 1 + i % 2);
  }
}

TEST_CASE("scaled sums are within the errors of their roundings", "[scales]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 60; ++i) {
    ScaledProblem p;
    draw(random, false, p);
    INFO("case " << i << ": " << described(p));
    compute(random, p);
    // Each product takes part in K additions at most, and in a few multiplications by factors.
    const double of_sums = is_integer(p.types.accumulator) ? 0 : unit_roundoff(p.types.accumulator);
    const double of_factors = unit_roundoff(p.types.accumulator == DType::f64 ? DType::f64 : DType::f32);
    const double alpha = p.args.epilogue.alpha.value;
    const double largest = info_of(p.types.out).largest;
    double worst = 0;
    for_each_output(p, [&](double value, double sum, double magnitude) {
      const double expected = alpha * sum;
      if (std::abs(expected) > largest / 2) return;  // saturates, or comes near to it
      const double step = is_integer(p.types.out) ? 0.5 : info_of(p.types.out).smallest;
      const double bound = (p.k * of_sums + (p.k + 16) * of_factors) * std::abs(alpha) * magnitude +
                           unit_roundoff(p.types.out) * std::abs(expected) + 2 * step;
      worst = std::max(worst, std::abs(value - expected) / bound);
    });
    CHECK(worst <= 1);
    check_reference(p, 1 + i % 2);
  }
}

TEST_CASE("scales that are blocks keep sums of f16 to 128 products", "[scales]") {
  constexpr int k = 8192;
  const std::vector<std::uint16_t> ones(k, 0x3c00);
  const std::vector<float> scales(k / 128, 1.0F);
  float out = 0;
  GemmArguments args{.a = TensorView::row_major(ones.data(), DType::f16, {1, k}),
                     .b = TensorView::row_major(ones.data(), DType::f16, {k, 1}),
                     .out = TensorView::row_major(&out, DType::f32, {1, 1}),
                     .accumulator = DType::f16};
  const auto sum = [&] {
    GemmProblem problem;
    REQUIRE(test::normalise(args, problem));
    const HostKernel kernel = {.types = problem.types, .tile_k = 32};
    Random random(1);
    GemmParams params = params_of(random, problem, kernel);
    params.mode = Mode::gemm;
    params.slices = 1;
    REQUIRE(host::execute(kernel, params, problem.scales, 1));
    return out;
  };
  CHECK(sum() == 2048);  // where 1 is half a step of f16
  args.a_scale = TensorView::row_major(scales.data(), DType::f32, {1, 1});
  CHECK(sum() == 2048);
  args.a_scale = TensorView::row_major(scales.data(), DType::f32, {1, k / 128});
  args.a_scale_granularity = ScaleGranularity::block_1x128;
  CHECK(sum() == k);
}

TEST_CASE("scales are not read where K is 0, nor multiplied in s32", "[scales]") {
  const float infinite = HUGE_VALF;
  float out = 1;
  const OperandScales scales = {{.data = &infinite, .is_given = true}, {}};
  HostKernel kernel = {.types = {DType::f16, DType::f16, DType::f32, DType::f32}, .tile_k = 32};
  GemmParams params = {};
  params.out = {&out, 1, 1, 0};
  params.epilogue.alpha = 1;
  params.m = params.n = params.batch = params.slices = 1;
  REQUIRE(host::execute(kernel, params, scales, 1));
  CHECK(out == 0);
  kernel.types = {DType::s8, DType::s8, DType::s32, DType::s32};
  CHECK(host::execute(kernel, params, scales, 1).code() == StatusCode::unsupported);
}

/// A problem of f32 ones in memory of its own, 4x4x8: each sum is 8.
struct Ones {
  std::vector<float> memory = std::vector<float>(80, 1.0F);
  Memory host = {MemoryKind::host, 0};
  GemmArguments args{.a = TensorView::row_major(memory.data(), DType::f32, {4, 8}).on(host),
                     .b = TensorView::row_major(memory.data() + 32, DType::f32, {8, 4}).on(host),
                     .out = TensorView::row_major(memory.data() + 64, DType::f32, {4, 4}).on(host)};

  /// The best kernel that takes such scales, for the problem without or with some.
  Kernel kernel(const std::string& scales) const {
    const auto filter = Filter::parse("scales == " + scales);
    REQUIRE(filter);
    const CandidateList kernels = get_kernels(args, *filter);
    REQUIRE(kernels.size() > 0);
    return kernels.front();
  }
};

TEST_CASE("a kernel that takes no scales refuses them, and writes nothing", "[scales]") {
  Ones ones;
  const float scale = 2;
  const Kernel kernel = ones.kernel("none");
  ones.args.b_scale = TensorView::row_major(&scale, DType::f32, {1, 1}).on(ones.host);
  const Status status = kernel.run(ones.args);
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.operand() == Operand::b_scale);
  CHECK(ones.memory[64] == 1.0F);
  ones.args.b_scale.reset();
  REQUIRE(kernel.run(ones.args));
  CHECK(ones.memory[64] == 8.0F);
}

TEST_CASE("a kernel that takes scales reads them, and refuses a problem without", "[scales]") {
  Ones ones;
  const float of_columns[] = {2, 3, 4, 5};
  const float of_rows[] = {1, 10, 100, 1000};
  ones.args.a_scale = TensorView::column_major(of_rows, DType::f32, {4, 1}).on(ones.host);
  ones.args.a_scale_granularity = ScaleGranularity::block_1x128;
  ones.args.b_scale = TensorView::row_major(of_columns, DType::f32, {1, 4}).on(ones.host);
  ones.args.b_scale_granularity = ScaleGranularity::column;
  const Kernel kernel = ones.kernel("block_scales");
  REQUIRE(kernel.run(ones.args));
  for (std::size_t i = 0; i < 16; ++i) CHECK(ones.memory[64 + i] == 8 * of_rows[i / 4] * of_columns[i % 4]);
  ones.args.a_scale.reset();
  ones.args.b_scale.reset();
  const Status status = kernel.run(ones.args);
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.reason() == Reason::granularity);
  CHECK(status.message() == "Operand `a_scale` is missing: expected scales of A or B, got none");
  ones.args.epilogue.alpha = 0.0;  // nothing is multiplied
  REQUIRE(kernel.run(ones.args));
  CHECK(ones.memory[64] == 0.0F);
}

TEST_CASE("scales are read anew by each run", "[scales]") {
  Ones ones;
  float scale = 2;
  ones.args.a_scale = TensorView::row_major(&scale, DType::f32, {1, 1}).on(ones.host);
  const Kernel kernel = ones.kernel("block_scales");
  REQUIRE(kernel.run(ones.args));
  CHECK(ones.memory[64] == 16.0F);
  scale = 0.5;
  REQUIRE(kernel.run(ones.args));
  CHECK(ones.memory[64] == 4.0F);
  const Result<Plan> plan = kernel.prepare(ones.args);
  REQUIRE(plan);
  const float other = 3;
  const PlanOperands operands = {{Operand::a, ones.args.a.data},
                                 {Operand::b, ones.args.b.data},
                                 {Operand::out, ones.args.out.data},
                                 {Operand::a_scale, &other}};
  REQUIRE(plan->run(operands, nullptr));
  CHECK(ones.memory[64] == 24.0F);
}
