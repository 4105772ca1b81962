/// The host executor against the float64 reference, and bit by bit against the order of additions that it
/// promises.
#include "operations/gemm/executor.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"

using namespace quarry;
using namespace quarry::host;
using namespace quarry::lab;
using RandomProblem = OperandsOf<GemmArguments>;

namespace {

constexpr Types f16_types = {DType::f16, DType::f16, DType::f32, DType::f16};
constexpr Layouts rows = {Layout::row, Layout::row, Layout::row};

MatrixParams params_of(const TensorView& view) {
  const Matrix m(view);
  return {m.data, m.row_stride, m.column_stride, m.is_array ? pointer_array_stride : m.batch_stride};
}

/// What a kernel is launched with for a problem, as a family would say it; `slices` more than 1 splits K.
GemmParams params_for(const GemmArguments& args, const HostKernel& kernel, Mode mode, int slices) {
  const Matrix a(args.a);
  const Matrix out(args.out);
  const Epilogue& e = args.epilogue;
  GemmParams p = {};
  p.a = params_of(args.a);
  p.b = params_of(args.b);
  if (args.c) p.c = params_of(*args.c);
  p.out = params_of(args.out);
  const auto matrix = [](const std::optional<TensorView>& view) {
    return view ? params_of(*view) : MatrixParams{};
  };
  const bool computes_s32 = compute_type(kernel.types.accumulator, kernel.types.out) == DType::s32;
  const auto bound = [computes_s32](double x) {
    constexpr double least = std::numeric_limits<std::int32_t>::min();
    constexpr double greatest = std::numeric_limits<std::int32_t>::max();
    return computes_s32 ? std::clamp(x, least, greatest) : x;
  };
  const bool scale_varies = e.scale && e.scale->extents[0] > 1;
  const bool by_row = e.scale_axis == BiasAxis::row;
  p.epilogue = {.alpha = e.alpha.value,
                .beta = e.beta.value,
                .clamp_low = bound(e.clamp.low),
                .clamp_high = bound(e.clamp.high),
                .alpha_pointer = e.alpha.pointer,
                .beta_pointer = e.beta.pointer,
                .bias = e.bias ? e.bias->data : nullptr,
                .scale = {e.scale ? e.scale->data : nullptr, scale_varies && by_row ? 1 : 0,
                          scale_varies && !by_row ? 1 : 0, 0},
                .residual = matrix(e.residual),
                .aux = matrix(e.aux),
                .bias_axis = e.bias_axis,
                .activation = e.activation,
                .clamps = true,
                .only_alpha = false,
                .leaky_slope = e.leaky_slope};
  p.m = static_cast<int>(out.rows);
  p.n = static_cast<int>(out.columns);
  p.k = static_cast<int>(a.columns);
  p.batch = static_cast<int>(out.batch);
  p.mode = mode;
  p.slices = slices;
  const int k_tiles = (p.k + kernel.tile_k - 1) / kernel.tile_k;
  p.k_tiles_per_slice = (k_tiles + slices - 1) / slices;
  return p;
}

Layouts random_layouts(test::Random& random) {
  const auto layout = [&random] { return test::coin(random) ? Layout::row : Layout::column; };
  return {layout(), layout(), layout()};
}

HostKernel executed_kernel(test::Random& random, const Types& types) {
  HostKernel kernel;
  kernel.types = types;
  const bool tensor_core = types.a == DType::f16 || types.a == DType::bf16;
  kernel.instruction_k = tensor_core && test::coin(random) ? 16 : 1;
  constexpr int tiles[] = {16, 32, 64};
  kernel.tile_k = test::one_of(random, tiles);
  kernel.warps_k = kernel.tile_k == 64 ? test::between(random, 1, 2) : 1;
  return kernel;
}

constexpr Types executed_types[] = {
    {DType::f16, DType::f16, DType::f32, DType::f16},   {DType::f16, DType::f16, DType::f32, DType::f32},
    {DType::f16, DType::f16, DType::f16, DType::f16},   {DType::bf16, DType::bf16, DType::f32, DType::bf16},
    {DType::bf16, DType::bf16, DType::f32, DType::f32}, {DType::f32, DType::f32, DType::f32, DType::f32},
    {DType::f64, DType::f64, DType::f64, DType::f64},   {DType::s8, DType::s8, DType::s32, DType::s32},
    {DType::s8, DType::s8, DType::s32, DType::s8},      {DType::u8, DType::u8, DType::s32, DType::u8},
    {DType::u8, DType::s8, DType::s32, DType::s32},     {DType::s8, DType::u8, DType::s32, DType::f32},
    {DType::u8, DType::u8, DType::s32, DType::s32},
};

MathUnit unit_of(const HostKernel& kernel) {
  return kernel.instruction_k > 1 ? MathUnit::tensor_core : MathUnit::simt;
}

struct RandomCase {
  RandomProblem problem;
  HostKernel kernel;
  GemmParams params;
};

RandomCase random_case(test::Random& random, const test::ShapeLimits& limits, OperandOptions options) {
  const Types types = test::one_of(random, executed_types);
  const GemmArguments shape = test::random_shape(random, types, random_layouts(random), limits);
  options.in_place = test::random_in_place(random);
  Result<RandomProblem> problem = RandomProblem::make(shape, options);
  REQUIRE(problem);
  RandomCase made{*std::move(problem), executed_kernel(random, types), {}};
  constexpr Mode modes[] = {Mode::gemm, Mode::split_k_serial, Mode::split_k_parallel, Mode::split_k_cluster};
  const Mode mode = test::one_of(random, modes);
  const int slices = mode == Mode::gemm ? 1 : test::between(random, 1, 5);
  made.params = params_for(made.problem.arguments, made.kernel, mode, slices);
  return made;
}

/// A problem without an epilogue, for the tests of single properties.
RandomProblem plain_problem(int m, int n, int k, const Types& types = f16_types) {
  GemmArguments shape{.a = TensorView::row_major(nullptr, types.a, {m, k}),
                      .b = TensorView::row_major(nullptr, types.b, {k, n}),
                      .out = TensorView::row_major(nullptr, types.out, {m, n}),
                      .accumulator = types.accumulator};
  Result<RandomProblem> problem = RandomProblem::make(shape);
  REQUIRE(problem);
  return *std::move(problem);
}

void fill(const TensorView& view, double value) {
  const Matrix m(view);
  for (std::int64_t i = 0; i < m.rows; ++i) {
    for (std::int64_t j = 0; j < m.columns; ++j) {
      write_element(m.type, const_cast<void*>(m.data), m.index(0, i, j), value);
    }
  }
}

/// Runs the plain kernel on a problem. @return the value of all outputs, which must be the same
double only_value(const RandomProblem& problem) {
  const HostKernel kernel = {.types = f16_types, .tile_k = 32, .instruction_k = 16};
  REQUIRE(execute(kernel, params_for(problem.arguments, kernel, Mode::gemm, 1), 1));
  REQUIRE(problem.check_outputs());
  const Matrix out(problem.arguments.out);
  const double value = read_element(out.type, out.data, 0);
  for (std::int64_t i = 0; i < out.rows * out.columns; ++i) {
    const double other = read_element(out.type, out.data, i);
    CHECK((other == value || (std::isnan(other) && std::isnan(value))));
  }
  return value;
}

}  // namespace

TEST_CASE("the host executor is within the bounds of the reference") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 150; ++i) {
    RandomCase c = random_case(random, {.arrays = true}, {.seed = random()});
    const Result<Reference> reference = compute_reference(c.problem.arguments);
    REQUIRE(reference);
    REQUIRE(execute(c.kernel, c.params, 1));
    CHECK(c.problem.check_outputs());
    const GemmParams& p = c.params;
    const Types& t = c.kernel.types;
    const Comparison result = compare(*reference, c.problem.arguments,
                                      tolerance(t.accumulator, t.out, unit_of(c.kernel), std::max(p.k, 1)));
    INFO("case " << i << ": " << p.m << "x" << p.n << "x" << p.k << " batch " << p.batch << " slices "
                 << p.slices << " " << to_string(t.a) << " " << to_string(t.accumulator) << " "
                 << to_string(t.out) << " error " << result.error << " bound " << result.bound << " at "
                 << result.row << ", " << result.column << " of " << to_string(result.operand));
    CHECK(result.within());
  }
}

TEST_CASE("sums of small integers are exact") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 100; ++i) {
    RandomCase c =
        random_case(random, {.arrays = true}, {.seed = random(), .values = Values::small_integers});
    Epilogue& e = c.problem.arguments.epilogue;
    e.activation = c.params.epilogue.activation = Activation::relu;
    const Result<Reference> reference = compute_reference(c.problem.arguments);
    REQUIRE(reference);
    REQUIRE(execute(c.kernel, c.params, 1));
    const Matrix out(c.problem.arguments.out);
    int wrong = 0;
    std::size_t next = 0;
    for (std::int64_t entry = 0; entry < out.batch; ++entry) {
      for (std::int64_t row = 0; row < out.rows; ++row) {
        for (std::int64_t column = 0; column < out.columns; ++column) {
          double stored = 0;
          write_element(out.type, &stored, 0, reference->outputs[0].values[next++]);
          const double expected = read_element(out.type, &stored, 0);
          wrong += read_element(out.type, out.first(entry), out.index(row, column)) != expected;
        }
      }
    }
    INFO("case " << i);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the number of threads does not change a bit") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 12; ++i) {
    RandomCase c = random_case(random, {400, 400, 200}, {.seed = random()});
    REQUIRE(execute(c.kernel, c.params, 1, 1));
    const std::vector<std::byte> first(
        c.problem[Operand::out].storage(),
        c.problem[Operand::out].storage() + c.problem[Operand::out].storage_bytes());
    for (const int threads : {2, 3, 8}) {
      c.problem.reset_outputs();
      REQUIRE(execute(c.kernel, c.params, 1, threads));
      CHECK(std::memcmp(first.data(), c.problem[Operand::out].storage(), first.size()) == 0);
    }
  }
}

TEST_CASE("products are added in the kernel's order") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 40; ++i) {
    const bool half = test::coin(random);
    const Types types = {DType::f16, DType::f16, half ? DType::f16 : DType::f32, DType::f32};
    const HostKernel kernel = executed_kernel(random, types);
    const int slices = test::between(random, 1, 4);
    RandomProblem problem = plain_problem(5, 6, test::between(random, 1, 700), types);
    const GemmParams params = params_for(problem.arguments, kernel, Mode::split_k_serial, slices);
    const GemmParams& p = params;
    REQUIRE(execute(kernel, params, 1));

    const auto rounded = [half](float x) { return half ? rounded_to_f16(x) : x; };
    const int part = kernel.tile_k / kernel.warps_k;
    const int tiles = (p.k + kernel.tile_k - 1) / kernel.tile_k;
    const auto product = [&](int row, int column, int k) {  // of f16 values: exact
      if (k >= p.k) return 0.0F;
      const Matrix a(problem.arguments.a);
      const Matrix b(problem.arguments.b);
      return static_cast<float>(read_element(a.type, a.data, a.index(0, row, k)) *
                                read_element(b.type, b.data, b.index(0, k, column)));
    };
    for (int row = 0; row < p.m; ++row) {
      for (int column = 0; column < p.n; ++column) {
        float total = 0;
        for (int slice = 0; slice < slices; ++slice) {
          const int first = std::min(tiles, slice * p.k_tiles_per_slice);
          const int last = slices == 1 ? tiles : std::min(tiles, first + p.k_tiles_per_slice);
          float groups = 0;
          for (int group = 0; group < kernel.warps_k; ++group) {
            float sum = 0;
            for (int tile = first; tile < last; ++tile) {
              for (int step = 0; step < part; step += kernel.instruction_k) {
                float instruction = 0;
                for (int k = 0; k < kernel.instruction_k; ++k) {
                  instruction += product(row, column, tile * kernel.tile_k + group * part + step + k);
                }
                sum = rounded(sum + instruction);
              }
            }
            groups += sum;
          }
          total += groups;
        }
        CHECK(static_cast<float*>(problem[Operand::out].data())[row * p.n + column] == total);
      }
    }
  }
}

TEST_CASE("without K the epilogue is what is left") {
  RandomProblem problem = plain_problem(9, 5, 0);
  CHECK(only_value(problem) == 0);
  const TensorView bias = TensorView::vector(nullptr, DType::f16, 5);
  Result<GuardedTensor> values = GuardedTensor::make(bias);
  REQUIRE(values);
  fill(values->view(), -0.25);
  problem.arguments.epilogue.bias = values->view();
  CHECK(only_value(problem) == -0.25);
  problem.arguments.epilogue.activation = Activation::relu;
  CHECK(only_value(problem) == 0);
}

TEST_CASE("alpha 0 forgets the product, even where it is NaN") {
  RandomProblem problem = plain_problem(9, 5, 20);
  fill(problem.arguments.a, NAN);
  CHECK(std::isnan(only_value(problem)));
  problem.arguments.epilogue.alpha = 0.0;
  CHECK(only_value(problem) == 0);
  const float zero = 0;
  problem.arguments.epilogue.alpha = Scalar::at(&zero);
  CHECK(only_value(problem) == 0);
}

TEST_CASE("beta 0 does not read C") {
  RandomProblem problem = plain_problem(9, 5, 20);
  fill(problem.arguments.a, 1);
  fill(problem.arguments.b, 0.5);
  Result<GuardedTensor> c = GuardedTensor::make(problem.arguments.out);
  REQUIRE(c);
  fill(c->view(), NAN);
  problem.arguments.c = c->view();
  CHECK(only_value(problem) == 10);
  const float beta = 0;
  problem.arguments.epilogue.beta = Scalar::at(&beta);
  CHECK(only_value(problem) == 10);
  problem.arguments.c->data = nullptr;
  CHECK(only_value(problem) == 10);
}

TEST_CASE("alpha and beta are read through pointers") {
  RandomProblem problem = plain_problem(9, 5, 20);
  fill(problem.arguments.a, 1);
  fill(problem.arguments.b, 0.5);
  Result<GuardedTensor> c = GuardedTensor::make(problem.arguments.out);
  REQUIRE(c);
  fill(c->view(), 3);
  problem.arguments.c = c->view();
  const float alpha = 0.5;
  const float beta = -2;
  problem.arguments.epilogue.alpha = Scalar::at(&alpha);
  problem.arguments.epilogue.beta = Scalar::at(&beta);
  CHECK(only_value(problem) == -1);
}

TEST_CASE("results that are infinite, NaN or subnormal in f16 are kept") {
  RandomProblem problem = plain_problem(4, 4, 1);
  const auto product = [&problem](double a, double b, double alpha) {
    fill(problem.arguments.a, a);
    fill(problem.arguments.b, b);
    problem.arguments.epilogue.alpha = alpha;
    return only_value(problem);
  };
  CHECK(product(256, 256, 1) == HUGE_VAL);
  CHECK(product(-256, 256, 1) == -HUGE_VAL);
  CHECK(product(255.9375, 256, 1) == HUGE_VAL);  // 65520: the tie goes to the even neighbour
  CHECK(product(255.875, 256, 1) == 65504);
  CHECK(product(HUGE_VAL, 0, 1) != product(HUGE_VAL, 0, 1));
  CHECK(product(0x1p-14, 0x1p-10, 1) == 0x1p-24);
  CHECK(product(0x1p-14, 0x1p-10, 0.5) == 0);  // a tie again
  CHECK(product(0x1p-14, 0x1p-10, 0.75) == 0x1p-24);
}

TEST_CASE("a zero-sized output is left alone") {
  for (const auto& [m, n] : {std::pair(0, 5), std::pair(5, 0), std::pair(0, 0)}) {
    RandomProblem problem = plain_problem(m, n, 20);
    problem.arguments.a.data = problem.arguments.b.data = problem.arguments.out.data = nullptr;
    const HostKernel kernel = {.types = f16_types, .tile_k = 32, .instruction_k = 16};
    CHECK(execute(kernel, params_for(problem.arguments, kernel, Mode::gemm, 1), 1));
    CHECK(problem[Operand::out].check());
  }
}

TEST_CASE("types that the host executor does not know are refused") {
  RandomProblem problem = plain_problem(4, 4, 4);
  HostKernel kernel = {.types = {DType::none, DType::f16, DType::f32, DType::f16}, .tile_k = 32};
  const GemmParams params = params_for(problem.arguments, kernel, Mode::gemm, 1);
  CHECK(execute(kernel, params, 1).code() == StatusCode::unsupported);
  kernel.types = {DType::f16, DType::f16, DType::s32, DType::f16};
  CHECK(execute(kernel, params, 1).code() == StatusCode::unsupported);
  kernel.types = {DType::f16, DType::f16, DType::bf16, DType::f16};
  CHECK(execute(kernel, params, 1).code() == StatusCode::unsupported);
  CHECK_FALSE(problem[Operand::out].check());  // nothing was written
}

TEST_CASE("outputs of bytes are rounded to the nearest even and saturated") {
  const auto output = [](DType out, double sum, double alpha) {
    const Types types = {DType::s8, DType::s8, DType::s32, out};
    RandomProblem problem = plain_problem(1, 1, 1, types);
    fill(problem.arguments.a, sum);
    fill(problem.arguments.b, 1);
    problem.arguments.epilogue.alpha = alpha;
    const HostKernel kernel = {.types = types, .tile_k = 64};
    REQUIRE(execute(kernel, params_for(problem.arguments, kernel, Mode::gemm, 1), 1));
    return read_element(out, problem[Operand::out].data(), 0);
  };
  CHECK(output(DType::s8, 5, 0.5) == 2);
  CHECK(output(DType::s8, 7, 0.5) == 4);
  CHECK(output(DType::s8, -5, 0.5) == -2);
  CHECK(output(DType::s8, 1, 127.4999) == 127);
  CHECK(output(DType::s8, 100, 1.5) == 127);
  CHECK(output(DType::s8, -100, 1.5) == -128);
  CHECK(output(DType::s8, 1, NAN) == 0);
  CHECK(output(DType::s8, 1, HUGE_VAL) == 127);
  CHECK(output(DType::u8, -1, 1) == 0);
  CHECK(output(DType::u8, 1, 254.5) == 254);
  CHECK(output(DType::u8, 100, 3) == 255);
  CHECK(output(DType::f32, 5, 0.5) == 2.5);
}

TEST_CASE("s32 outputs are computed in s32, and wrap") {
  const Types types = {DType::u8, DType::u8, DType::s32, DType::s32};
  const HostKernel kernel = {.types = types, .tile_k = 64};
  const auto output = [&](int k, const Scalar& alpha) {
    RandomProblem problem = plain_problem(1, 1, k, types);
    fill(problem.arguments.a, 255);
    fill(problem.arguments.b, 255);
    problem.arguments.epilogue.alpha = alpha;
    const Result<Reference> reference = compute_reference(problem.arguments);
    REQUIRE(reference);
    for (const int slices : {1, 3}) {
      REQUIRE(execute(kernel, params_for(problem.arguments, kernel, Mode::split_k_serial, slices), 1));
      CHECK(read_element(types.out, problem[Operand::out].data(), 0) == reference->outputs[0].values[0]);
    }
    return reference->outputs[0].values[0];
  };
  CHECK(output(33025, 1) == 33025 * 65025.0);
  CHECK(output(33026, 1) == 33026 * 65025.0 - 0x1p32);
  CHECK(output(33025, -2) == 0x1p32 - 2 * 33025 * 65025.0);
  const std::int32_t alpha = 3;
  CHECK(output(2, Scalar::at(&alpha)) == 6 * 65025);
}

TEST_CASE("s32 sums of matrix instructions saturate") {
  const Types types = {DType::s8, DType::u8, DType::s32, DType::s32};
  const auto output = [&](int instruction_k, int k, double a) {
    const HostKernel kernel = {.types = types, .tile_k = 64, .instruction_k = instruction_k};
    RandomProblem problem = plain_problem(1, 1, k, types);
    fill(problem.arguments.a, a);
    fill(problem.arguments.b, 255);
    REQUIRE(execute(kernel, params_for(problem.arguments, kernel, Mode::gemm, 1), 1));
    return read_element(types.out, problem[Operand::out].data(), 0);
  };
  CHECK(output(32, 66000, 127) == 66000 * 32385.0);
  CHECK(output(32, 67000, 127) == 0x1p31 - 1);
  CHECK(output(32, 67000, -128) == -0x1p31);
  CHECK(output(1, 67000, 127) == 67000 * 32385.0 - 0x1p32);
}
