/// The float64 reference, the comparison with it, and the memory that operands are given.
#include "lab/reference/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "operations/common/host/activation.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"
#include "support/reference_problem.hpp"

using namespace quarry;
using namespace quarry::host;
using namespace quarry::lab;
using test::plain_problem;
using test::RandomProblem;
using test::write_reference;

namespace {

constexpr Layouts rows = {Layout::row, Layout::row, Layout::row};

double at(const TensorView& view, std::int64_t entry, std::int64_t row, std::int64_t column) {
  const Matrix m(view);
  return read_element(m.type, m.first(entry), m.index(row, column));
}

bool says(const Status& status, std::string_view text) {
  return status.message().find(text) != std::string::npos;
}

/// One output by the definition, and what it is before the activation.
struct Defined {
  double out;
  double z;
};
Defined by_definition(const GemmArguments& args, std::int64_t entry, std::int64_t row, std::int64_t column) {
  const Epilogue& e = args.epilogue;
  double sum = 0;
  for (std::int64_t k = 0; k < Matrix(args.a).columns; ++k)
    sum += at(args.a, entry, row, k) * at(args.b, entry, k, column);
  double x = e.alpha.value * sum;
  if (e.scale) {
    const std::int64_t along = e.scale_axis == BiasAxis::row ? row : column;
    x *= at(*e.scale, 0, 0, e.scale->extents[0] == 1 ? 0 : along);
  }
  if (e.beta.value != 0) x += e.beta.value * at(*args.c, entry, row, column);
  if (e.bias) x += at(*e.bias, 0, 0, e.bias_axis == BiasAxis::row ? row : column);
  const double activated = activate(e.activation, e.leaky_slope, x);
  const double added = activated + (e.residual ? at(*e.residual, entry, row, column) : 0);
  return {std::min(std::max(added, e.clamp.low), e.clamp.high), x};
}

}  // namespace

TEST_CASE("the reference is what the definition says, for any strides, batch and epilogue") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 60; ++i) {
    const Layouts layouts = {test::coin(random) ? Layout::row : Layout::column,
                             test::coin(random) ? Layout::row : Layout::column,
                             test::coin(random) ? Layout::row : Layout::column};
    constexpr DType types[] = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::s8, DType::u8};
    const DType type = test::one_of(random, types);
    const DType accumulator = type == DType::f64 ? DType::f64 : is_byte(type) ? DType::s32 : DType::f32;
    const GemmArguments shape = test::random_shape(random, {type, type, accumulator, type}, layouts,
                                                   {.m = 70, .n = 90, .k = 40, .arrays = true});
    Result<RandomProblem> problem = RandomProblem::make(shape, {.seed = random()});
    REQUIRE(problem);
    const GemmArguments& args = problem->arguments;
    const Result<Reference> reference = compute_reference(args, {.threads = 1 + i % 3});
    REQUIRE(reference);
    const Matrix out(args.out);
    REQUIRE(static_cast<std::int64_t>(reference->outputs[0].rows.size()) == out.rows);
    REQUIRE(reference->outputs.size() == (args.epilogue.aux ? 2 : 1));
    std::size_t next = 0;
    double worst = 0;
    for (std::int64_t entry = 0; entry < out.batch; ++entry) {
      for (std::int64_t row = 0; row < out.rows; ++row) {
        for (std::int64_t column = 0; column < out.columns; ++column) {
          const Defined defined = by_definition(args, entry, row, column);
          if (args.epilogue.aux)
            worst = std::max(worst, std::abs((*reference)[Operand::aux].values[next] - defined.z));
          worst = std::max(worst, std::abs(reference->outputs[0].values[next++] - defined.out));
        }
      }
    }
    CHECK(worst < 1e-11);
  }
}

TEST_CASE("a reference that is limited has some rows, the first and the last among them") {
  const RandomProblem problem = plain_problem(1000, 30, 20, 1);
  const Result<Reference> all = compute_reference(problem.arguments);
  const Result<Reference> some = compute_reference(problem.arguments, {.max_multiplications = 30 * 20 * 50});
  REQUIRE(all);
  REQUIRE(some);
  REQUIRE(some->outputs[0].rows.size() == 50);
  CHECK(some->outputs[0].rows.front() == 0);
  CHECK(some->outputs[0].rows.back() == 999);
  for (std::size_t i = 0; i < some->outputs[0].rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(some->outputs[0].rows[i]);
    CHECK(std::memcmp(&some->outputs[0].values[i * 30], &all->outputs[0].values[row * 30],
                      30 * sizeof(double)) == 0);
  }
}

TEST_CASE("a rounded reference is within the bound, a result with one product left out is not") {
  for (const int k : {1, 7, 64, 1000}) {
    RandomProblem problem = plain_problem(20, 30, k, 5);
    const Result<Reference> reference = compute_reference(problem.arguments);
    REQUIRE(reference);
    const Tolerance bounds = tolerance(DType::f32, DType::f32, MathUnit::tensor_core, k);
    write_reference(*reference, problem.arguments.out);
    CHECK(compare(*reference, problem.arguments, bounds).within());

    GemmArguments fewer = problem.arguments;
    fewer.a.extents[1] = fewer.b.extents[0] = k - 1;
    write_reference(*compute_reference(fewer), problem.arguments.out);
    CHECK_FALSE(compare(*reference, problem.arguments, bounds).within());
  }
}

TEST_CASE("beside values that were rounded themselves, a result may be rounded to the next number") {
  RandomProblem problem = plain_problem(1, 1, 8, 9, {DType::f16, DType::f16, DType::f32, DType::f16});
  Result<Reference> reference = compute_reference(problem.arguments);
  REQUIRE(reference);
  Expected& expected = reference->outputs[0];
  expected.values = {2.62109375};
  expected.radii.clear();
  expected.scale = 0;
  const Tolerance bounds = tolerance(DType::f32, DType::f16, MathUnit::tensor_core, 8);
  const auto is_within = [&](int steps) {  // from the value to the result
    const auto bits = static_cast<std::uint16_t>(0x413e + steps);
    std::memcpy(problem[Operand::out].data(), &bits, sizeof bits);
    return compare(*reference, problem.arguments, bounds).within();
  };
  expected.roundings = 1;
  CHECK(is_within(0));
  CHECK_FALSE(is_within(1));
  expected.roundings = 2;
  CHECK(is_within(1));
  CHECK(is_within(-1));
  CHECK_FALSE(is_within(2));
}

TEST_CASE("a comparison finds the element that is furthest off") {
  RandomProblem problem = plain_problem(20, 30, 8, 9);
  const Result<Reference> reference = compute_reference(problem.arguments);
  REQUIRE(reference);
  write_reference(*reference, problem.arguments.out);
  const Tolerance bounds = tolerance(DType::f32, DType::f32, MathUnit::simt, 8);
  auto* const out = static_cast<float*>(problem[Operand::out].data());
  const float right = out[7 * 30 + 11];

  out[7 * 30 + 11] = right + 1;
  Comparison comparison = compare(*reference, problem.arguments, bounds);
  CHECK_FALSE(comparison.within());
  CHECK(comparison.row == 7);
  CHECK(comparison.column == 11);
  CHECK(comparison.got - comparison.expected == Approx(1).epsilon(1e-5));

  out[7 * 30 + 11] = NAN;
  comparison = compare(*reference, problem.arguments, bounds);
  CHECK_FALSE(comparison.within());
  CHECK(std::isinf(comparison.error));
  CHECK(comparison.row == 7);
}

TEST_CASE("values too large for the output's type must come out infinite") {
  RandomProblem problem = plain_problem(1, 2, 1, 3, {DType::f32, DType::f32, DType::f32, DType::f16});
  static_cast<float*>(problem[Operand::a].data())[0] = 1e6F;
  static_cast<float*>(problem[Operand::b].data())[0] = 1;
  static_cast<float*>(problem[Operand::b].data())[1] = 1e-6F;
  const Result<Reference> reference = compute_reference(problem.arguments);
  REQUIRE(reference);
  const Tolerance bounds = tolerance(DType::f32, DType::f16, MathUnit::simt, 1);
  auto* const out = static_cast<std::uint16_t*>(problem[Operand::out].data());
  out[0] = 0x7c00;
  out[1] = f32_to_f16(1);
  CHECK(compare(*reference, problem.arguments, bounds).within());
  out[0] = 0x7bff;
  CHECK_FALSE(compare(*reference, problem.arguments, bounds).within());
}

TEST_CASE("an output of bytes may be off by its rounding, and by no more") {
  RandomProblem problem = plain_problem(1, 4, 1, 3, {DType::s8, DType::s8, DType::s32, DType::u8});
  static_cast<std::int8_t*>(problem[Operand::a].data())[0] = 1;
  constexpr std::int8_t sums[] = {5, 7, -3, 120};
  std::copy(std::begin(sums), std::end(sums), static_cast<std::int8_t*>(problem[Operand::b].data()));
  problem.arguments.epilogue.alpha = 2.5;
  const Result<Reference> reference = compute_reference(problem.arguments);
  REQUIRE(reference);
  const Tolerance bounds = tolerance(DType::s32, DType::u8, MathUnit::simt, 1);
  auto* const out = static_cast<std::uint8_t*>(problem[Operand::out].data());
  const auto within = [&](std::array<std::uint8_t, 4> values) {
    std::copy(values.begin(), values.end(), out);
    return compare(*reference, problem.arguments, bounds).within();
  };
  CHECK(within({12, 18, 0, 255}));  // 12.5, 17.5, -7.5, 300
  CHECK(within({13, 17, 0, 255}));
  CHECK_FALSE(within({11, 18, 0, 255}));
  CHECK_FALSE(within({12, 19, 0, 255}));
  CHECK_FALSE(within({12, 18, 1, 255}));
  CHECK_FALSE(within({12, 18, 0, 254}));
  CHECK(tolerance(DType::s32, DType::s32, MathUnit::simt, 1).accumulation == 0);
}

TEST_CASE("beside bytes that were rounded themselves, a result may be one unit off") {
  RandomProblem problem = plain_problem(1, 2, 1, 3, {DType::s8, DType::s8, DType::s32, DType::s8});
  Result<Reference> reference = compute_reference(problem.arguments);
  REQUIRE(reference);
  Expected& expected = reference->outputs[0];
  expected.values = {78, -5};  // 77.5 and -5, say
  expected.radii.clear();
  const Tolerance bounds = tolerance(DType::s32, DType::s8, MathUnit::simt, 1);
  auto* const out = static_cast<std::int8_t*>(problem[Operand::out].data());
  const auto within = [&](std::int8_t first, std::int8_t second) {
    out[0] = first, out[1] = second;
    return compare(*reference, problem.arguments, bounds).within();
  };
  expected.roundings = 1;
  CHECK(within(78, -5));
  CHECK_FALSE(within(77, -5));
  expected.roundings = 2;
  CHECK(within(77, -5));
  CHECK(within(79, -6));
  CHECK_FALSE(within(76, -5));
  CHECK_FALSE(within(78, -7));
}

TEST_CASE("the reference takes 8-bit floating-point operands, and outputs that saturate") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  for (const DType type : {DType::e4m3, DType::e5m2}) {
    INFO(to_string(type));
    RandomProblem problem = plain_problem(9, 14, 33, seed, {type, type, DType::f32, type});
    problem.arguments.epilogue.alpha = 300;  // far beyond e4m3
    const Result<Reference> reference = compute_reference(problem.arguments);
    REQUIRE(reference);
    const Tolerance bounds = tolerance(DType::f32, type, MathUnit::simt, 33);
    CHECK(bounds.output == (type == DType::e4m3 ? 0x1p-4 : 0x1p-3));
    CHECK(bounds.smallest == (type == DType::e4m3 ? 0x1p-10 : 0x1p-17));
    write_reference(*reference, problem.arguments.out);
    CHECK(compare(*reference, problem.arguments, bounds).within());
    CHECK(problem.check_outputs());
    if (type == DType::e4m3)
      CHECK(std::ranges::any_of(reference->outputs[0].values,
                                [](double value) { return std::abs(value) > 448; }));
    // A NaN where a number saturates is wrong, and so is an element that was not written.
    *static_cast<std::uint8_t*>(problem[Operand::out].data()) = 0x7f;
    CHECK_FALSE(compare(*reference, problem.arguments, bounds).within());
    problem.reset_outputs();
    CHECK(says(problem.check_outputs(), "was not written"));
  }
}

TEST_CASE("operands that share bytes have memory, random values of their whole range, and guards") {
  for (const DType type : {DType::s4, DType::u4}) {
    INFO(to_string(type));
    const GemmArguments shape{.a = TensorView::row_major(nullptr, DType::f16, {8, 50}),
                              .b = TensorView::column_major(nullptr, type, {50, 40}, 62),
                              .out = TensorView::row_major(nullptr, DType::f16, {8, 40}),
                              .accumulator = DType::f32};
    const Result<RandomProblem> problem = RandomProblem::make(shape, {});
    REQUIRE(problem);
    std::set<double> values;
    for (int k = 0; k < 50; ++k) {
      for (int column = 0; column < 40; ++column) values.insert(at(problem->arguments.b, 0, k, column));
    }
    CHECK(*values.begin() == (type == DType::s4 ? -8 : 0));
    CHECK(*values.rbegin() == (type == DType::s4 ? 7 : 15));
    CHECK(values.size() == 16);

    // 40 columns of 25 bytes that lie 31 bytes apart: what lies between them, and behind the last one.
    Result<GuardedTensor> tensor = GuardedTensor::make(shape.b);
    REQUIRE(tensor);
    auto* const bytes = static_cast<std::uint8_t*>(const_cast<void*>(tensor->view().data));
    CHECK(tensor->check(false));
    bytes[24] ^= 0xf0;  // of the last two elements of a column
    CHECK(tensor->check(false));
    for (const int outside : {25, 30, 39 * 31 + 25, -1}) {
      bytes[outside] ^= 0x10;
      CHECK_FALSE(tensor->check(false));
      bytes[outside] ^= 0x10;
    }
    CHECK(tensor->check(false));
  }
}

TEST_CASE("the reference reads operands of half bytes") {
  std::array<std::uint8_t, 4> a = {0x21, 0xf8, 0x43, 0x07};  // 1 2 -8 -1 / 3 4 7 0 in s4
  std::array<std::uint8_t, 4> b = {0xf1, 0x01, 0x02, 0x33};  // columns of u4: 1 15 1 0 / 2 0 3 3
  std::array<std::int32_t, 4> out = {};
  const GemmArguments args{.a = TensorView::row_major(a.data(), DType::s4, {2, 4}),
                           .b = TensorView::column_major(b.data(), DType::u4, {4, 2}),
                           .out = TensorView::row_major(out.data(), DType::s32, {2, 2})};
  const Result<Reference> reference = compute_reference(args);
  REQUIRE(reference);
  CHECK(reference->outputs[0].values == std::vector<double>{1 + 30 - 8, 2 - 24 - 3, 3 + 60 + 7, 6 + 21});
}

TEST_CASE("random integers are of all of their type") {
  for (const auto& [type, least, most] :
       {std::tuple(DType::s8, -128.0, 127.0), {DType::u8, 0.0, 255.0}, {DType::s32, -0x1p31, 0x1p31 - 1}}) {
    Result<GuardedTensor> tensor = GuardedTensor::make(TensorView::row_major(nullptr, type, {64, 64}));
    REQUIRE(tensor);
    fill_random(tensor->view(), 1, {.seed = 7});
    std::map<double, int> counts;
    for (int i = 0; i < 64 * 64; ++i) ++counts[at(tensor->view(), 0, i / 64, i % 64)];
    CHECK(counts[least] > 64);
    CHECK(counts[most] > 64);
    CHECK(counts.begin()->first == least);
    CHECK(counts.rbegin()->first == most);
    CHECK(counts.size() >= 256);
    fill_random(tensor->view(), 1, {.seed = 7, .values = Values::small_integers});
    counts.clear();
    for (int i = 0; i < 64 * 64; ++i) ++counts[at(tensor->view(), 0, i / 64, i % 64)];
    CHECK(counts.size() == (type == DType::u8 ? 3 : 5));
    CHECK(counts.begin()->first == (type == DType::u8 ? 0 : -2));
  }
}

TEST_CASE("the table of tolerances is neither empty nor vacuous") {
  for (const int k : {1, 16, 512, 4096}) {
    for (const DType accumulator : {DType::f16, DType::f32, DType::f64}) {
      for (const MathUnit unit : {MathUnit::simt, MathUnit::tensor_core}) {
        const Tolerance t = tolerance(accumulator, accumulator, unit, k);
        CHECK(t.accumulation > t.output);
        CHECK(t.accumulation < 0.1);
      }
    }
  }
  CHECK(tolerance(DType::f32, DType::f32, MathUnit::simt, 4096).accumulation > 1.2e-6);         // measured
  CHECK(tolerance(DType::f32, DType::f32, MathUnit::tensor_core, 4096).accumulation > 9.7e-6);  // measured
  CHECK(tolerance(DType::f32, DType::f32, MathUnit::tensor_core, 16384).accumulation > 3.9e-5);
}

TEST_CASE("short outputs of activations made of tanh have the bound of its instruction") {
  const auto bound = [](const char* name, Activation activation) {
    const Result<Kernel> kernel = make_kernel(name);
    REQUIRE(kernel);
    return lab::tolerance(kernel->metadata(), 64, activation).accumulation;
  };
  const char* const halves = "gemm_list_sm90_f16_f16_f32_f16_rrr_64x64x128_c1x1_s6_ping_pong_a8x8";
  const char* const floats = "gemm_list_sm90_f16_f16_f32_f32_rrr_64x64x128_c1x1_s6_ping_pong_a8x8";
  for (const Activation each :
       {Activation::tanh, Activation::sigmoid, Activation::silu, Activation::gelu, Activation::gelu_tanh}) {
    CHECK(bound(halves, each) == bound(halves, Activation::identity) + 0x1p-11);
    CHECK(bound(floats, each) == bound(floats, Activation::identity));
    // The standard epilogue of every family computes them so: a campaign of groups on a device met it.
    CHECK(bound("gemm_list_simt_f16_f16_f32_f16_rrr_64x64x16_t4x4", each) > 0x1p-11);
    CHECK(bound("gemm_list_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4", each) < 0x1p-18);
  }
  CHECK(bound(halves, Activation::relu) == bound(halves, Activation::identity));
}

TEST_CASE("random operands depend on the seed and the place in the matrix, not on its layout") {
  const TensorView row_shape = TensorView::row_major(nullptr, DType::f16, {5, 7}, 11);
  const TensorView column_shape = TensorView::column_major(nullptr, DType::f16, {5, 7}, 6);
  Result<GuardedTensor> row = GuardedTensor::make(row_shape);
  Result<GuardedTensor> column = GuardedTensor::make(column_shape);
  REQUIRE(row);
  REQUIRE(column);
  fill_random(row->view(), 1, {.seed = 42});
  fill_random(column->view(), 1, {.seed = 42});
  const double first = at(row->view(), 0, 0, 0);
  int different = 0;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 7; ++j) {
      const double value = at(row->view(), 0, i, j);
      CHECK(value == at(column->view(), 0, i, j));
      CHECK(std::abs(value) <= 1);
      different += value != first;
    }
  }
  CHECK(different >= 30);
  fill_random(column->view(), 1, {.seed = 43});
  CHECK(at(column->view(), 0, 0, 0) != first);
  fill_random(column->view(), 2, {.seed = 42});
  CHECK(at(column->view(), 0, 0, 0) != first);
  CHECK(row->check());
}

TEST_CASE("guards find what was not written and what was written beside") {
  for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const TensorView shape = TensorView::row_major(nullptr, type, {2, 3, 4}, 6);
    Result<GuardedTensor> made = GuardedTensor::make(shape);
    REQUIRE(made);
    GuardedTensor& tensor = *made;
    const int size = bytes_of(type);
    CHECK(std::isnan(at(tensor.view(), 0, 0, 0)));
    CHECK(says(tensor.check(), "(0, 0, 0) was not written"));
    CHECK(tensor.check(false));

    fill_random(tensor.view(), 1, {});
    CHECK(tensor.check());
    const std::int64_t outside[] = {-1, 4, 6 + 5, 6 * 5 + 4, tensor.view().strides[0] + 2 * 6 + 4};
    for (const std::int64_t index : outside) {
      auto* const byte = static_cast<std::byte*>(tensor.data()) + index * size;
      const std::byte before = *byte;
      *byte ^= std::byte{1};
      INFO(to_string(type) << " element " << index);
      CHECK(says(tensor.check(), "outside"));
      *byte = before;
    }
    CHECK(tensor.check());
    write_element(type, tensor.data(), 6, NAN);  // a NaN that a kernel computed is no poison
    CHECK(tensor.check());
  }
}

TEST_CASE("guards find what was written beside integers, whose every pattern is a number") {
  for (const DType type : {DType::s8, DType::u8, DType::s32}) {
    Result<GuardedTensor> made = GuardedTensor::make(TensorView::row_major(nullptr, type, {2, 3, 4}, 6));
    REQUIRE(made);
    GuardedTensor& tensor = *made;
    INFO(to_string(type));
    CHECK(tensor.check());
    for (const double value : {0.0, 255.0, -1.0, 127.0}) {
      const Matrix m(tensor.view());
      for (int i = 0; i < 2 * 3 * 4; ++i) {
        write_element(type, tensor.data(), m.index(i / 12, i / 4 % 3, i % 4), value);
      }
      CHECK(tensor.check());
    }
    auto* const beside = static_cast<std::byte*>(tensor.data()) + 4 * bytes_of(type);
    *beside ^= std::byte{1};
    CHECK(says(tensor.check(), "outside"));
  }
}

TEST_CASE("a guarded tensor is no better aligned than asked, and refuses what no memory holds") {
  for (const unsigned alignment : {1U, 2U, 4U, 8U, 16U, 32U}) {
    TensorView shape = TensorView::row_major(nullptr, DType::f16, {3, 3});
    shape.assumed_alignment = static_cast<std::uint16_t>(alignment);
    const Result<GuardedTensor> tensor = GuardedTensor::make(shape);
    REQUIRE(tensor);
    CHECK(reinterpret_cast<std::uintptr_t>(tensor->data()) % (2 * alignment) == alignment);
  }
  CHECK(GuardedTensor::make(TensorView::row_major(nullptr, DType::none, {3, 3})).status().code() ==
        StatusCode::invalid_arguments);
  CHECK(GuardedTensor::make(TensorView::row_major(nullptr, DType::f16, {3, -3})).status().code() ==
        StatusCode::invalid_arguments);
  CHECK(GuardedTensor::make(TensorView::row_major(nullptr, DType::f16, {1LL << 40, 1LL << 40}))
            .status()
            .code() == StatusCode::invalid_arguments);
}

TEST_CASE("a value that no right result has is not within, however near it is", "[reference]") {
  // 0.5 becomes 0, and 1.5 becomes 2: ties go to the even number.
  std::array<std::int8_t, 2> out = {0, 2};
  const TensorView view = TensorView::row_major(out.data(), DType::s8, {1, 2});
  Expected expected = expected_output(Operand::out, view, {0});
  expected.values = {0.5, 1.5};
  expected.radii = {0, 0};
  CHECK(compare(expected, view, {}).within());
  for (const auto& [first, second] : {std::pair(1, 2), std::pair(0, 1)}) {
    out = {static_cast<std::int8_t>(first), static_cast<std::int8_t>(second)};
    const Comparison wrong = compare(expected, view, {});
    CHECK_FALSE(wrong.within());
    CHECK(wrong.outside == 1);
    CHECK(wrong.column == (first == 1 ? 0 : 1));
    CHECK(wrong.text().find("1 beyond what rounding permits") != std::string::npos);
  }
}
