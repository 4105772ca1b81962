/// Scales of operands as arguments: their checks, the checked problem, and that kernels refuse them.
#include "operations/gemm/scales.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_checks.hpp"
#include "support/random_gemm.hpp"
#include "support/registry_problems.hpp"
#include "support/scaled_problems.hpp"

namespace {

using namespace quarry;
using test::accepted;
using test::between;
using test::check_refused;
using test::coin;
using test::Random;
using test::refused;
using test::scalable;
using test::scale_view;
using test::with_a;
using test::with_b;

}  // namespace

TEST_CASE("granularities have words, and words granularities", "[scales]") {
  for (const auto granularity : {ScaleGranularity::tensor, ScaleGranularity::row, ScaleGranularity::column,
                                 ScaleGranularity::block_1x128, ScaleGranularity::block_128x128,
                                 ScaleGranularity::block_1x32, ScaleGranularity::block_1x64}) {
    const Result<ScaleGranularity> parsed = parse_scale_granularity(to_string(granularity));
    REQUIRE(parsed);
    CHECK(*parsed == granularity);
  }
  CHECK(to_string(ScaleGranularity::block_1x128) == "1x128");
  CHECK(to_string(static_cast<ScaleGranularity>(9)) == "unknown");
  CHECK(to_string(ScaleGranularity::block_1x32) == "1x32");
  CHECK(to_string(ScaleGranularity::block_1x64) == "1x64");
  const Status unknown = parse_scale_granularity("1x16").status();
  CHECK(unknown.code() == StatusCode::parse_error);
  CHECK_THAT(unknown.message(), Catch::Contains("1x16") && Catch::Contains("1x128"));
}

TEST_CASE("scales of every granularity have the extents that belong to it", "[scales]") {
  const GemmProblem tensor = accepted(with_a(ScaleGranularity::tensor, scale_view({1, 1})));
  CHECK(tensor.scales.a.is_given);
  CHECK_FALSE(tensor.scales.b.is_given);
  CHECK(tensor.scales.a.line_stride == 0);
  CHECK(tensor.scales.a.k_stride == 0);
  const GemmProblem rows = accepted(with_a(ScaleGranularity::row, scale_view({256, 1})));
  CHECK(rows.scales.a.line_stride == 1);
  CHECK(rows.scales.a.k_stride == 0);
  const GemmProblem blocks = accepted(with_a(ScaleGranularity::block_1x128, scale_view({256, 8})));
  CHECK(blocks.scales.a.line_stride == 8);
  CHECK(blocks.scales.a.k_stride == 1);
  CHECK(is_blocked(blocks.scales));

  CHECK(accepted(with_b(ScaleGranularity::tensor, scale_view({1, 1}))).scales.b.is_given);
  const GemmProblem columns = accepted(with_b(ScaleGranularity::column, scale_view({1, 384})));
  CHECK(columns.scales.b.line_stride == 1);
  CHECK(columns.scales.b.k_stride == 0);
  CHECK_FALSE(is_blocked(columns.scales));
  const GemmProblem lines = accepted(with_b(ScaleGranularity::block_1x128, scale_view({8, 384})));
  CHECK(lines.scales.b.line_stride == 1);
  CHECK(lines.scales.b.k_stride == 384);
  const GemmProblem squares = accepted(with_b(ScaleGranularity::block_128x128, scale_view({8, 3})));
  CHECK(squares.scales.b.line_stride == 1);
  CHECK(squares.scales.b.k_stride == 3);
  CHECK(index_of(squares.scales.b, 127, 127) == 0);
  CHECK(index_of(squares.scales.b, 128, 999) == 22);

  // 1000 are 32 groups of 32, and 16 of 64.
  const GemmProblem groups = accepted(with_b(ScaleGranularity::block_1x32, scale_view({32, 384})));
  CHECK(is_blocked(groups.scales));
  CHECK(k_positions(groups.scales) == 32);
  CHECK(index_of(groups.scales.b, 5, 31) == 5);
  CHECK(index_of(groups.scales.b, 5, 32) == 384 + 5);
  const GemmProblem both = accepted(with_a(ScaleGranularity::block_1x64, scale_view({256, 16})));
  CHECK(k_positions(both.scales) == 64);
  CHECK(index_of(both.scales.a, 2, 999) == 2 * 16 + 15);
}

TEST_CASE("extents that do not fit are refused with those that do", "[scales]") {
  CHECK(refused(with_a(ScaleGranularity::block_1x128, scale_view({256, 7}))).message() ==
        "Operand `a_scale` does not fit: expected tensor {1, 1}, row {256, 1} or 1x128 {256, 8}, got 1x128 "
        "{256, 7}");
  CHECK(refused(with_b(ScaleGranularity::row, scale_view({1, 1}))).message() ==
        "Operand `b_scale` does not fit: expected tensor {1, 1}, column {1, 384}, 1x128 {8, 384} or 128x128 "
        "{8, 3}, got row {1, 1}");
  GemmArguments weights = with_b(ScaleGranularity::row, scale_view({1, 1}));
  weights.b = TensorView::column_major(nullptr, DType::s4, {1000, 384});
  CHECK(refused(weights).message() ==
        "Operand `b_scale` does not fit: expected tensor {1, 1}, column {1, 384}, 1x128 {8, 384}, 128x128 "
        "{8, 3}, 1x32 {32, 384} or 1x64 {16, 384}, got row {1, 1}");
  const auto wrong_a = [](ScaleGranularity granularity, std::initializer_list<std::int64_t> extents) {
    CHECK_THAT(refused(with_a(granularity, scale_view(extents))).message(),
               Catch::Contains("`a_scale` does not fit"));
  };
  wrong_a(ScaleGranularity::tensor, {256, 1});
  wrong_a(ScaleGranularity::row, {1, 1});
  wrong_a(ScaleGranularity::row, {1, 256});
  wrong_a(ScaleGranularity::column, {1, 1});
  wrong_a(ScaleGranularity::block_1x128, {256, 9});
  wrong_a(ScaleGranularity::block_1x128, {8, 256});
  wrong_a(ScaleGranularity::block_128x128, {2, 8});
  wrong_a(static_cast<ScaleGranularity>(9), {1, 1});
  const auto wrong_b = [](ScaleGranularity granularity, std::initializer_list<std::int64_t> extents) {
    CHECK_THAT(refused(with_b(granularity, scale_view(extents))).message(),
               Catch::Contains("`b_scale` does not fit"));
  };
  wrong_b(ScaleGranularity::column, {384, 1});
  wrong_b(ScaleGranularity::block_1x128, {8, 3});
  wrong_b(ScaleGranularity::block_128x128, {8, 384});
  wrong_b(ScaleGranularity::block_128x128, {3, 8});
  wrong_b(ScaleGranularity::block_1x32, {31, 384});
  wrong_b(ScaleGranularity::block_1x32, {384, 32});
  wrong_b(ScaleGranularity::block_1x64, {32, 384});
  wrong_a(ScaleGranularity::block_1x64, {256, 15});
  wrong_a(ScaleGranularity::block_1x32, {32, 256});
}

TEST_CASE("only extents that the granularity gives are taken, whatever the problem", "[scales]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  int taken = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto extent = [&] { return between(random, 0, 3) * 128 + between(random, 0, 2); };
    const std::int64_t m = extent();
    const std::int64_t n = extent();
    const std::int64_t k = extent() + 1;
    const auto blocks = [](std::int64_t x, std::int64_t size = 128) { return (x + size - 1) / size; };
    const std::int64_t guesses[] = {1, m, n, blocks(m), blocks(n), blocks(k), blocks(k, 32), blocks(k, 64)};
    const std::int64_t rows = test::one_of(random, guesses);
    const std::int64_t columns = test::one_of(random, guesses);
    const auto granularity = static_cast<ScaleGranularity>(between(random, 0, 6));
    const bool of_a = coin(random);
    GemmArguments args{.a = TensorView::row_major(nullptr, DType::f16, {m, k}),
                       .b = TensorView::row_major(nullptr, DType::f16, {k, n}),
                       .out = TensorView::row_major(nullptr, DType::f16, {m, n})};
    (of_a ? args.a_scale : args.b_scale) = scale_view({rows, columns});
    (of_a ? args.a_scale_granularity : args.b_scale_granularity) = granularity;
    const auto is = [&](std::int64_t r, std::int64_t c) { return rows == r && columns == c; };
    bool fits = false;
    if (granularity == ScaleGranularity::tensor) fits = is(1, 1);
    if (granularity == ScaleGranularity::row) fits = of_a && is(m, 1);
    if (granularity == ScaleGranularity::column) fits = !of_a && is(1, n);
    if (granularity == ScaleGranularity::block_1x128) fits = of_a ? is(m, blocks(k)) : is(blocks(k), n);
    if (granularity == ScaleGranularity::block_1x32)
      fits = of_a ? is(m, blocks(k, 32)) : is(blocks(k, 32), n);
    if (granularity == ScaleGranularity::block_1x64)
      fits = of_a ? is(m, blocks(k, 64)) : is(blocks(k, 64), n);
    if (granularity == ScaleGranularity::block_128x128) fits = !of_a && is(blocks(k), blocks(n));
    GemmProblem problem;
    const Status status = test::normalise(args, problem);
    INFO(m << "x" << n << "x" << k << " " << to_string(granularity) << " " << rows << "x" << columns << ": "
           << status.message());
    REQUIRE(static_cast<bool>(status) == fits);
    taken += fits;
  }
  CHECK(taken > 100);
}

TEST_CASE("scales are f32 matrices by strides", "[scales]") {
  TensorView scale = scale_view({256, 1});
  scale.dtype = DType::f16;
  check_refused(with_a(ScaleGranularity::row, scale), Reason::dtype, Operand::a_scale);
  CHECK(refused(with_a(ScaleGranularity::row, scale)).message() ==
        "Operand `a_scale` is unsupported: expected f32, got f16");
  scale.dtype = DType::none;
  CHECK_THAT(refused(with_a(ScaleGranularity::row, scale)).message(), Catch::Contains("no data type"));
  check_refused(with_a(ScaleGranularity::row, TensorView::vector(nullptr, DType::f32, 256)), Reason::rank,
                Operand::a_scale);
  check_refused(with_b(ScaleGranularity::tensor, scale_view({1, 1, 1})), Reason::rank, Operand::b_scale);
  check_refused(with_b(ScaleGranularity::tensor, TensorView()), Reason::missing, Operand::b_scale);
  scale = scale_view({256, 1});
  scale.strides[0] = -1;
  check_refused(with_a(ScaleGranularity::row, scale), Reason::negative_stride, Operand::a_scale);
  alignas(4) static unsigned char memory[2048];
  CHECK_THAT(refused(with_a(ScaleGranularity::row, scale_view({256, 1}, memory + 2))).message(),
             Catch::Contains("`a_scale` is misaligned"));

  GemmArguments args = scalable();
  args.a = TensorView::row_major(nullptr, DType::f16, {256, 4096});
  args.b = TensorView::column_major(nullptr, DType::f16, {4096, 384});
  args.a_scale = TensorView::row_interleaved32(nullptr, DType::f32, {256, 32});
  args.a_scale_granularity = ScaleGranularity::block_1x128;
  CHECK(refused(args).message() == "Operand `a_scale` is interleaved: scales are strided");
  args.a_scale = TensorView::column_major(nullptr, DType::f32, {256, 32});
  CHECK(accepted(args).scales.a.line_stride == 1);
  CHECK(accepted(args).scales.a.k_stride == 256);
  args.a_scale->strides = {0, 0};  // the same everywhere
  CHECK(accepted(args).scales.a.line_stride == 0);
}

TEST_CASE("a batch has one matrix of scales, or one for each entry", "[scales]") {
  GemmArguments args{.a = TensorView::row_major(nullptr, DType::f16, {5, 64, 300}),
                     .b = TensorView::row_major(nullptr, DType::f16, {300, 96}),
                     .out = TensorView::row_major(nullptr, DType::f16, {5, 64, 96}),
                     .a_scale = scale_view({64, 1}),
                     .a_scale_granularity = ScaleGranularity::row,
                     .b_scale = scale_view({5, 3, 96}),
                     .b_scale_granularity = ScaleGranularity::block_1x128};
  const GemmProblem p = accepted(args);
  CHECK(p.scales.a.batch_stride == 0);
  CHECK(p.scales.b.batch_stride == 3 * 96);
  CHECK_FALSE(p.has_arrays);
  args.b_scale = scale_view({4, 3, 96});
  check_refused(args, Reason::batch, Operand::b_scale);
  args.b_scale = PointerArrayView::row_major(nullptr, DType::f32, 5, {3, 96});
  const GemmProblem arrays = accepted(args);
  CHECK(is_pointer_array(arrays.scales.b));
  CHECK(arrays.has_arrays);
  CHECK(array_operand(arrays) == Operand::b_scale);
  CHECK(array_operand(exchanged(arrays)) == Operand::b_scale);
  args.b_scale = PointerArrayView::row_major(nullptr, DType::f32, 4, {3, 96});
  check_refused(args, Reason::batch, Operand::b_scale);
  args.b_scale = PointerArrayView::row_major(nullptr, DType::f32, 5, {3, 96}).aligned(2);
  CHECK_THAT(refused(args).message(), Catch::Contains("promises an alignment of 2 bytes"));
}

TEST_CASE("scales lie with the other operands, and over no output", "[scales]") {
  std::vector<float> memory(4096);
  const auto at = [&](std::size_t i) { return memory.data() + i; };
  GemmArguments args{.a = TensorView::row_major(at(0), DType::f32, {8, 8}),
                     .b = TensorView::row_major(at(64), DType::f32, {8, 8}),
                     .out = TensorView::row_major(at(128), DType::f32, {8, 8}),
                     .a_scale = scale_view({8, 1}, at(192)),
                     .a_scale_granularity = ScaleGranularity::row,
                     .b_scale = scale_view({1, 1}, at(192))};  // inputs may overlap
  accepted(args);
  args.a_scale->data = at(184);
  check_refused(args, Reason::output_overlap, Operand::a_scale);
  args.a_scale->data = args.out.data;  // not even as a whole
  check_refused(args, Reason::output_overlap, Operand::a_scale);
  args.a_scale->data = at(192);
  args.epilogue.aux = TensorView::row_major(at(199), DType::f32, {8, 8});
  check_refused(args, Reason::output_overlap, Operand::a_scale);
  args.epilogue.alpha = 0.0;  // is not read then
  args.b_scale->data = at(128);
  CHECK_FALSE(accepted(args).scales.a.is_given);
  args.epilogue.alpha = 1.0;
  args.epilogue.aux.reset();
  check_refused(args, Reason::output_overlap, Operand::b_scale);
  args.b_scale->data = at(192);
  args.b_scale->memory = {MemoryKind::device, 0};
  args.out.memory = {MemoryKind::host, 0};
  check_refused(args, Reason::mixed_devices, Operand::b_scale);
}

TEST_CASE("where nothing is multiplied, there are no scales", "[scales]") {
  GemmArguments args = with_a(ScaleGranularity::row, scale_view({256, 1}));
  args.epilogue.alpha = 0.0;
  CHECK_FALSE(accepted(args).scales.a.is_given);
  CHECK_FALSE(get_kernels(args).empty());
  args.a_scale = scale_view({255, 1});
  CHECK_THAT(refused(args).message(), Catch::Contains("does not fit"));  // it is checked all the same
  args = {.a = TensorView::row_major(nullptr, DType::f16, {256, 0}),
          .b = TensorView::column_major(nullptr, DType::f16, {0, 384}),
          .out = TensorView::row_major(nullptr, DType::f16, {256, 384}),
          .b_scale = scale_view({0, 3}),
          .b_scale_granularity = ScaleGranularity::block_128x128};
  CHECK_FALSE(accepted(args).scales.b.is_given);
}

TEST_CASE("what is computed in s32 has no scales", "[scales]") {
  GemmArguments args{.a = TensorView::row_major(nullptr, DType::s8, {64, 128}),
                     .b = TensorView::column_major(nullptr, DType::s8, {128, 96}),
                     .out = TensorView::row_major(nullptr, DType::s32, {64, 96}),
                     .b_scale = scale_view({1, 96}),
                     .b_scale_granularity = ScaleGranularity::column};
  CHECK(refused(args).message() ==
        "Operand `b_scale` is unsupported: an s32 output is computed in s32, which is not scaled");
  args.out = TensorView::row_major(nullptr, DType::s8, {64, 96});
  CHECK(accepted(args).scales.b.is_given);
}

TEST_CASE("a problem exchanged has its scales exchanged", "[scales]") {
  GemmArguments args = with_a(ScaleGranularity::row, scale_view({256, 1}));
  args.b_scale = TensorView::column_major(nullptr, DType::f32, {8, 3});
  args.b_scale_granularity = ScaleGranularity::block_128x128;
  const GemmProblem p = accepted(args);
  const GemmProblem t = exchanged(p);
  CHECK(t.scales.a.granularity == ScaleGranularity::block_128x128);
  CHECK(t.scales.b.granularity == ScaleGranularity::column);
  CHECK(t.scales.a.line_stride == 8);
  CHECK(t.scales.a.k_stride == 1);
  CHECK(t.scales.b.line_stride == 1);
  CHECK(exchanged(t).scales.a.granularity == ScaleGranularity::row);
  CHECK(exchanged(t).scales.b.line_stride == p.scales.b.line_stride);
}
