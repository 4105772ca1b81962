/// GEMMs whose operands have scales of blocks beside an expression: what the host computes, which kernels
/// take them, what launches hold, and what is refused.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gemm/expression_params.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/common/host/element.hpp"
#include "operations/gemm/expression.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"
#include "support/prepared_launch.hpp"
#include "support/random_gemm.hpp"

using namespace quarry;

namespace {

using test::between;
using test::one_of;
using test::parsed;
using test::Random;
using test::run_all;

constexpr int block_positions = 128;
int blocks_of_k(int extent) { return (extent + block_positions - 1) / block_positions; }

/// A dense matrix with memory of its own.
class DenseMatrix {
 public:
  DenseMatrix(DType type, Layout layout, int rows, int columns)
      : bytes_(static_cast<std::size_t>(bytes_of(type) * rows * columns) + 16) {
    view_ = layout == Layout::row ? TensorView::row_major(data(), type, {rows, columns})
                                  : TensorView::column_major(data(), type, {rows, columns});
  }

  const TensorView& view() const { return view_; }
  double at(int row, int column) const {
    return host::read_element(view_.dtype, view_.data, index(row, column));
  }
  template <class Draw>
  void fill(const Draw& draw) {
    for (int i = 0; i < view_.extents[0]; ++i) {
      for (int j = 0; j < view_.extents[1]; ++j)
        host::write_element(view_.dtype, data(), index(i, j), static_cast<double>(draw()));
    }
  }

 private:
  void* data() {
    return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(bytes_.data()) + 15) / 16 * 16);
  }
  std::int64_t index(int row, int column) const { return row * view_.strides[0] + column * view_.strides[1]; }

  std::vector<std::byte> bytes_;
  TensorView view_;
};

/// A product of small whole numbers and scales that are powers of two, so that its sums are exact.
struct ScaledProduct {
  ScaledProduct(Random& random, DType type, int rows, int columns, int depth, DType out_type = DType::f32)
      : m(rows),
        n(columns),
        k(depth),
        by_block(test::coin(random)),
        a(type, Layout::row, m, k),
        b(type, Layout::column, k, n),
        a_scale(DType::f32, one_of(random, layouts), m, blocks_of_k(k)),
        b_scale(DType::f32, one_of(random, layouts), blocks_of_k(k), by_block ? blocks_of_k(n) : n),
        out(out_type, Layout::row, m, n) {
    const auto number = [&] { return between(random, -4, 4); };
    const auto scale = [&] { return std::ldexp(1, between(random, -1, 1)); };
    a.fill(number);
    b.fill(number);
    a_scale.fill(scale);
    b_scale.fill(scale);
  }

  GemmArguments arguments() const {
    return {
        .a = a.view(),
        .b = b.view(),
        .out = out.view(),
        .a_scale = a_scale.view(),
        .a_scale_granularity = ScaleGranularity::block_1x128,
        .b_scale = b_scale.view(),
        .b_scale_granularity = by_block ? ScaleGranularity::block_128x128 : ScaleGranularity::block_1x128};
  }

  double sum(int row, int column) const {
    double total = 0;
    for (int i = 0; i < k; ++i)
      total += a_scale.at(row, i / block_positions) * a.at(row, i) *
               b_scale.at(i / block_positions, by_block ? column / block_positions : column) *
               b.at(i, column);
    return total;
  }

  static constexpr Layout layouts[] = {Layout::row, Layout::column};
  int m, n, k;
  bool by_block;
  DenseMatrix a, b, a_scale, b_scale, out;
};

/// 4 x 8 x 256 without memory.
GemmArguments scaled(DType type = DType::bf16, DType out = DType::bf16) {
  return {.a = test::matrix(type, 4, 256),
          .b = TensorView::column_major(nullptr, type, {256, 8}),
          .out = test::matrix(out),
          .a_scale = test::matrix(DType::f32, 4, 2),
          .a_scale_granularity = ScaleGranularity::block_1x128,
          .b_scale = test::matrix(DType::f32, 2, 1),
          .b_scale_granularity = ScaleGranularity::block_128x128};
}

std::set<std::string> families_of(const CandidateList& found) {
  std::set<std::string> families;
  for (const Candidate& kernel : found) families.emplace(kernel.metadata().family);
  return families;
}

}  // namespace

TEST_CASE("gemm: scales of blocks are in the sums of an expression", "[gemm][expression][scales]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  constexpr DType types[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::e4m3, DType::s8};
  for (const DType type : types) {
    const DType out_type = type == DType::f64 ? type : DType::f32;
    ScaledProduct p(random, type, between(random, 1, 20), between(random, 1, 300), between(random, 1, 400),
                    out_type);
    DenseMatrix column(DType::f32, Layout::row, 1, p.n);
    DenseMatrix twice(out_type, Layout::column, p.m, p.n);
    column.fill([&] { return between(random, -9, 9); });
    GemmArguments args = p.arguments();
    const std::string sum_type = type == DType::f64 ? "f64(c)" : "c";
    args.expression = parsed("out = relu(sum + " + sum_type + "); twice = sum * 2",
                             "c=f32:per_column,twice=" + std::string(to_string(out_type)) + ":col", out_type);
    args.tensors = {{"c", TensorView::vector(column.view().data, DType::f32, p.n)}, {"twice", twice.view()}};
    CAPTURE(to_string(type), p.m, p.n, p.k, p.by_block);
    CHECK(run_all(args, [&] {
            int wrong = 0;
            for (int i = 0; i < p.m; ++i) {
              for (int j = 0; j < p.n; ++j) {
                const double sum = p.sum(i, j);
                wrong += p.out.at(i, j) != std::max(sum + column.at(0, j), 0.0) || twice.at(i, j) != 2 * sum;
              }
            }
            CHECK(wrong == 0);
            p.out.fill([] { return -7; });
            twice.fill([] { return -7; });
          }) > 0);
  }
}

TEST_CASE("gemm: one operand may have scales beside an expression, also where K is cut",
          "[gemm][expression][scales]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (const bool of_a : {true, false}) {
    ScaledProduct p(random, DType::f32, 9, 35, 300);
    (of_a ? p.b_scale : p.a_scale).fill([] { return 1; });
    GemmArguments args = p.arguments();
    (of_a ? args.b_scale : args.a_scale) = std::nullopt;
    args.expression = parsed("out = sum * 2 + 1", "");
    for (const Mode mode : {Mode::gemm, Mode::split_k_serial, Mode::split_k_parallel}) {
      args.controls = {.mode = mode, .split_k_slices = mode == Mode::gemm ? 1 : 3};
      CHECK(run_all(args, [&] {
              for (int i = 0; i < p.m; ++i) {
                for (int j = 0; j < p.n; ++j) CHECK(p.out.at(i, j) == 2 * p.sum(i, j) + 1);
              }
              p.out.fill([] { return -7; });
            }) > 0);
    }
  }
}

TEST_CASE("gemm: sums of bytes with scales of blocks are f32 in an expression",
          "[gemm][expression][scales]") {
  GemmArguments args = scaled(DType::s8, DType::s8);
  args.expression = parsed("out = sum * 0.5", "");
  REQUIRE_FALSE(get_kernels(args).empty());
  args.expression = parsed("out = f32(sum) * 0.5", "", DType::s32);
  test::check_nothing_found(args,
                            "`sum` is s32, but sums of s32 with scales of blocks are f32: declare them so");
  args = scaled(DType::s8, DType::s32);
  args.expression = parsed("out = sum", "");
  test::check_nothing_found(args, "`a_scale` is unsupported: an s32 output is computed in s32");
}

TEST_CASE("gemm: nothing is read of scales beside an expression where K is 0", "[gemm][expression][scales]") {
  for (const DType type : {DType::f32, DType::s8}) {
    std::array<float, 2> out = {};
    GemmArguments args = {.a = TensorView::row_major(nullptr, type, {1, 0}),
                          .b = TensorView::row_major(nullptr, type, {0, 2}),
                          .out = TensorView::row_major(out.data(), DType::f32, {1, 2}),
                          .a_scale = TensorView::row_major(nullptr, DType::f32, {1, 0}),
                          .a_scale_granularity = ScaleGranularity::block_1x128,
                          .b_scale = TensorView::row_major(nullptr, DType::f32, {0, 1}),
                          .b_scale_granularity = ScaleGranularity::block_128x128};
    args.expression = parsed("out = exp(sum) + 1", "");
    CHECK(run_all(args, [&] {
            CHECK(out == std::array<float, 2>{2, 2});
            out = {};
          }) > 0);
    for (const Candidate& kernel : get_kernels(args))
      CHECK(kernel.metadata().operands.scales == ScaleSupport::block_scales);
  }
  GemmArguments empty = scaled(DType::f32, DType::f32);
  empty.a = test::matrix(DType::f32, 0, 256);
  empty.out = test::matrix(DType::f32, 0, 8);
  empty.a_scale = test::matrix(DType::f32, 0, 2);
  empty.expression = parsed("out = sum", "");
  run_all(empty, [] {});
}

TEST_CASE("gemm: a plan with scales and an expression runs on other scales", "[gemm][expression][scales]") {
  Random random(lab::fresh_seed());
  ScaledProduct p(random, DType::f32, 3, 5, 200);
  GemmArguments args = p.arguments();
  args.controls = {.mode = Mode::gemm, .split_k_slices = 1};
  args.expression = parsed("out = sum * c", "c=f32:per_column");
  const std::vector<float> one(5, 1);
  const std::vector<float> two(5, 2);
  args.tensors = {{"c", TensorView::vector(one.data(), DType::f32, 5)}};
  const Result<Plan> plan = find_best(args)->prepare(args);
  REQUIRE(plan);
  p.a_scale.fill([&] { return between(random, 1, 2); });
  const TensorView& scale = p.a_scale.view();
  REQUIRE(plan->run({{Operand::a, args.a.data},
                     {Operand::b, args.b.data},
                     {Operand::a_scale, scale.data},
                     {Operand::b_scale, args.b_scale->data},
                     {tensor_operand(0), two.data()},
                     {Operand::out, args.out.data}},
                    nullptr));
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < p.n; ++j) CHECK(p.out.at(i, j) == 2 * p.sum(i, j));
  }
}

TEST_CASE("gemm: the families with scales of blocks take expressions", "[gemm][expression][scales]") {
  GemmArguments args = scaled(DType::e4m3);
  args.expression = parsed("out = silu(sum)", "");
  CHECK(families_of(get_kernels(args)) == std::set<std::string>{"gemm_simt", "gemm_sm90"});
  args = scaled();
  args.expression = parsed("out = silu(sum)", "");
  CHECK(families_of(get_kernels(args)) == std::set<std::string>{"gemm_simt", "gemm_sm80", "gemm_sm90"});
  args.expression = std::nullopt;
  const auto plain = get_kernels(args);
  args.expression = parsed("out = silu(sum)", "");
  CHECK(get_kernels(args).size() > 3);
  CHECK(get_kernels(args).size() <= plain.size());
}

TEST_CASE("gemm: precise sums with an expression are promoted by kernels with scales of blocks, too",
          "[gemm][expression][scales]") {
  const Result<Filter> scaled_kernels =
      Filter::parse("operation == gemm and scales != none and a.dtype == e4m3");
  REQUIRE(scaled_kernels);
  for (const std::int64_t k : {0, 96}) {
    GemmArguments args = {.a = test::matrix(DType::e4m3, 64, k),
                          .b = TensorView::column_major(nullptr, DType::e4m3, {k, 64}),
                          .out = test::matrix(DType::bf16, 64, 64),
                          .accumulation = Accumulation::precise};
    args.expression = parsed("out = gelu(sum)", "");
    const auto found = get_kernels(args);
    CHECK(families_of(found).contains("gemm_sm90"));
    for (const Candidate& candidate : found)
      CHECK(candidate.metadata().operands.scales != ScaleSupport::vector_scales);
    int refused = 0;
    for (const Kernel kernel : get_kernels(*scaled_kernels)) {
      const Status status = kernel.supports(args);
      const bool is_of_blocks = kernel.metadata().operands.scales == ScaleSupport::block_scales &&
                                kernel.metadata().operands.b.dtype != DType::f16 &&
                                kernel.metadata().operands.b.dtype != DType::bf16;
      if (is_of_blocks) continue;
      REQUIRE_FALSE(status);
      refused += status.message() ==
                 "The expression is unsupported: kernels that take scales compute one if these are scales of "
                 "blocks, "
                 "and if both operands have as many bits";
    }
    CHECK(refused > 3);
  }
}

TEST_CASE("gemm: the parameters of an expression stand behind those of scales, in both steps",
          "[gemm][expression][scales]") {
  const std::vector<float> values(64);
  GemmArguments args = scaled(DType::e4m3);
  const void* const scales = values.data();
  args.a_scale = TensorView::row_major(scales, DType::f32, {4, 2});
  args.expression = parsed("out = sum + c; m = max(abs(sum))", "c=f32:per_column,m=f32:scalar");
  const void* const column = values.data() + 32;
  args.tensors = {{"c", TensorView::vector(column, DType::f32, 8)},
                  {"m", TensorView::vector(nullptr, DType::f32, 1)}};
  const auto found = get_kernels(args);
  REQUIRE_FALSE(found.empty());
  for (const Candidate& kernel : found) {
    INFO(kernel.name());
    const auto prepared = test::launch_of(kernel, args);
    const Launch& launch = prepared->launch;
    std::vector<const Step*> steps;
    for (const Step& step : launch.steps) {
      if (step.kind == Step::Kind::kernel && step.entry == launch.expression_entry) steps.push_back(&step);
    }
    REQUIRE(steps.size() == 2);
    for (const Step* const step : steps)
      CHECK(detail::expression_params(launch.image, *step).tensors[0].matrix.data == column);
    const auto relocation = std::ranges::find(launch.relocations, Operand::a_scale, &Relocation::source);
    REQUIRE(relocation != launch.relocations.end());
    CHECK(*reinterpret_cast<void* const*>(launch.image + relocation->at) == scales);
    const std::size_t behind = sizeof(ExpressionParams) + sizeof(ReductionParams) + sizeof(GemmScaleParams);
    CHECK(relocation->at >= steps[0]->at);
    CHECK(relocation->at + behind <= std::size_t{steps[0]->at} + steps[0]->bytes + sizeof(GemmScaleParams));
  }
}

TEST_CASE("gemm: other scales than of blocks are refused beside an expression",
          "[gemm][expression][scales]") {
  const std::string factor = " stands beside an expression: write it in the expression";
  const std::string apart = " is not taken together with an expression: no kernel has both";
  GemmArguments args = scaled();
  args.expression = parsed("out = sum", "");
  REQUIRE_FALSE(get_kernels(args).empty());
  const auto refused = [&](const std::string& words, const auto& change) {
    GemmArguments changed = args;
    change(changed);
    test::check_nothing_found(changed, words);
  };
  const TensorView one = test::matrix(DType::f32, 1, 1);
  refused("`a_scale`" + factor,
          [&](GemmArguments& x) { x.a_scale = one, x.a_scale_granularity = ScaleGranularity::tensor; });
  refused("`b_scale`" + factor,
          [&](GemmArguments& x) { x.b_scale = one, x.b_scale_granularity = ScaleGranularity::tensor; });
  refused("`a_scale`" + factor, [&](GemmArguments& x) {
    x.a_scale = test::matrix(DType::f32, 4, 1), x.a_scale_granularity = ScaleGranularity::row;
  });
  refused("`b_scale`" + factor, [&](GemmArguments& x) {
    x.b_scale = test::matrix(DType::f32, 1, 8), x.b_scale_granularity = ScaleGranularity::column;
  });
  refused("`b_scale` of 1x64" + apart, [&](GemmArguments& x) {
    x.b_scale = test::matrix(DType::f32, 4, 8), x.b_scale_granularity = ScaleGranularity::block_1x64;
  });
  refused("`a_scale` of 1x32" + apart, [&](GemmArguments& x) {
    x.a_scale = test::matrix(DType::f32, 4, 8), x.a_scale_granularity = ScaleGranularity::block_1x32;
  });
  for (const DType weight : {DType::s8, DType::s4, DType::e4m3}) {
    refused("`a_scale` of 1x128" + apart, [&](GemmArguments& x) { x.b.dtype = weight; });
    refused("`b_scale` of 128x128" + apart, [&](GemmArguments& x) {
      x.b.dtype = weight;
      x.a_scale = std::nullopt;
    });
  }
  refused("`a_scale` does not fit", [&](GemmArguments& x) { x.a_scale = test::matrix(DType::f32, 4, 3); });
  refused("`b_scale`", [&](GemmArguments& x) { x.b_scale = test::matrix(DType::bf16, 2, 1); });
  refused("`bias` stands beside an expression",
          [&](GemmArguments& x) { x.epilogue.bias = TensorView::vector(nullptr, DType::bf16, 8); });
  refused("Operand `x` is not in the expression", [&](GemmArguments& x) {
    x.tensors = {{"x", test::matrix(DType::bf16)}};
  });
}
