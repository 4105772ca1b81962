// Interleaved layouts: where elements lie, what is refused, which kernels take them, and what these compute.
#include <array>
#include <set>
#include <string>
#include <vector>

#include "common/interleaved.hpp"
#include "gemm/problem.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/gemm/normalise.hpp"
#include "quarry/quarry.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_rules.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using test::Random;

namespace {

constexpr auto R = Layout::row_interleaved32;
constexpr auto C = Layout::column_interleaved32;

alignas(256) std::byte tensor_memory[1 << 20];

/// A column_interleaved32 times a row_interleaved32 into a column_interleaved32, as tensor cores like it.
GemmArguments interleaved_problem(std::int64_t m = 64, std::int64_t n = 96, std::int64_t k = 128,
                                  DType out = DType::s8) {
  return {.a = TensorView::column_interleaved32(nullptr, DType::s8, {m, k}),
          .b = TensorView::row_interleaved32(nullptr, DType::s8, {k, n}),
          .out = TensorView::column_interleaved32(nullptr, out, {m, n})};
}

Status checked(const GemmArguments& args) {
  GemmProblem problem;
  return test::normalise(args, problem);
}

void refused(const GemmArguments& args, const std::string& words) {
  const Status status = checked(args);
  CHECK(status.code() == StatusCode::invalid_arguments);
  CHECK_THAT(status.message(), Catch::Contains(words));
  // Every call says the same.
  CHECK(get_kernels(args).status().message() == status.message());
  const Kernel any(detail::rows().front());
  CHECK(any.supports(args).message() == status.message());
  CHECK(any.workspace_size(args).status().message() == status.message());
  CHECK(any.run(args).message() == status.message());
  CHECK(any.prepare(args).status().message() == status.message());
}

}  // namespace

TEST_CASE("elements lie where the layouts say", "[interleaved]") {
  for (const std::int64_t padding : {0, 16}) {
    const std::int64_t ld_rows = 96 * 32 + padding;
    const std::int64_t ld_columns = 64 * 32 + padding;
    const TensorView rows =
        TensorView::row_interleaved32(tensor_memory, DType::s8, {3, 64, 96}, padding ? ld_rows : 0);
    const TensorView columns =
        TensorView::column_interleaved32(tensor_memory, DType::s8, {3, 64, 96}, padding ? ld_columns : 0);
    const host::Matrix by_rows(rows);
    const host::Matrix by_columns(columns);
    for (std::int64_t e = 0; e < 3; ++e) {
      for (std::int64_t r = 0; r < 64; ++r) {
        for (std::int64_t c = 0; c < 96; ++c) {
          REQUIRE(by_rows.index(e, r, c) == e * 2 * ld_rows + r / 32 * ld_rows + c * 32 + r % 32);
          REQUIRE(by_columns.index(e, r, c) == e * 3 * ld_columns + c / 32 * ld_columns + r * 32 + c % 32);
        }
      }
    }
    CHECK(by_rows.span() == 3 * 2 * ld_rows - padding);
    CHECK(by_columns.span() == 3 * 3 * ld_columns - padding);
  }
}

TEST_CASE("transposing an interleaved matrix makes the other layout", "[interleaved]") {
  CHECK(transposed(R) == C);
  CHECK(transposed(C) == R);
  const host::Matrix m(TensorView::row_interleaved32(tensor_memory, DType::s8, {64, 96}, 4000));
  const host::Matrix t(TensorView::column_interleaved32(tensor_memory, DType::s8, {96, 64}, 4000));
  for (std::int64_t r = 0; r < 64; ++r) {
    for (std::int64_t c = 0; c < 96; ++c) REQUIRE(m.index(0, r, c) == t.index(0, c, r));
  }
}

TEST_CASE("an interleaved operand fits its own layout alone, a strided one never an interleaved layout",
          "[interleaved]") {
  GemmArguments args = interleaved_problem();
  GemmProblem p;
  REQUIRE(test::normalise(args, p));
  const auto fits = [](const ProblemOperand& operand) {
    std::set<Layout> all;
    for (int i = 0; i < layout_count; ++i) {
      if (operand.fits[i]) all.insert(static_cast<Layout>(i));
      CHECK((operand.alignment[i] > 0) == operand.fits[i]);
    }
    return all;
  };
  CHECK(fits(p.a) == std::set{C});
  CHECK(fits(p.b) == std::set{R});
  CHECK(fits(p.out) == std::set{C});
  CHECK(p.a.alignment[static_cast<int>(C)] == 16);
  CHECK(p.a.matrix.row_stride == 32);
  CHECK(p.a.matrix.column_stride == 64 * 32);

  const GemmProblem t = exchanged(p);
  CHECK(fits(t.a) == std::set{C});  // B transposed
  CHECK(fits(t.out) == std::set{R});
  CHECK(t.out.matrix.row_stride == p.out.matrix.column_stride);
  CHECK(t.out.alignment[static_cast<int>(R)] == p.out.alignment[static_cast<int>(C)]);

  args.a = TensorView::row_major(nullptr, DType::s8, {64, 128});
  REQUIRE(test::normalise(args, p));
  CHECK(fits(p.a) == std::set{Layout::row});
}

TEST_CASE("the alignment of an interleaved operand is that of pointer, groups and batch", "[interleaved]") {
  const auto alignment = [](const TensorView& a, std::int64_t batch) {
    GemmArguments args = {.a = a,
                          .b = TensorView::row_interleaved32(nullptr, DType::s8, {64, 64}),
                          .out = TensorView::row_major(nullptr, DType::s8, {64, 64})};
    if (batch > 0) args.out = TensorView::row_major(nullptr, DType::s8, {batch, 64, 64});
    GemmProblem p;
    REQUIRE(test::normalise(args, p));
    return static_cast<int>(p.a.alignment[static_cast<int>(C)]);
  };
  TensorView a = TensorView::column_interleaved32(nullptr, DType::s8, {64, 64}, 64 * 32 + 4);
  CHECK(alignment(a, 0) == 4);
  a = TensorView::column_interleaved32(nullptr, DType::s8, {64, 64});
  a.assumed_alignment = 2;
  CHECK(alignment(a, 0) == 2);
  a = TensorView::column_interleaved32(nullptr, DType::s8, {2, 64, 64});
  CHECK(alignment(a, 2) == 16);
  a.strides[0] += 8;
  CHECK(alignment(a, 2) == 8);
}

TEST_CASE("extents that are no multiples of 32 are refused by every call", "[interleaved]") {
  for (const std::int64_t odd : {1, 31, 33, 95}) {
    GemmArguments args = interleaved_problem(odd);
    refused(args, "Operand `out` is interleaved: expected extents that are multiples of 32, got " +
                      std::to_string(odd));
    args.out = TensorView::row_major(nullptr, DType::s8, {odd, 96});
    refused(args, "Operand `a` is interleaved: expected extents that are multiples of 32, got " +
                      std::to_string(odd));
    args = interleaved_problem(64, 96, odd);
    refused(args, "Operand `a` is interleaved: expected extents that are multiples of 32, got " +
                      std::to_string(odd));
    args.a = TensorView::row_major(nullptr, DType::s8, {64, odd});
    refused(args, "Operand `b` is interleaved: expected extents that are multiples of 32, got " +
                      std::to_string(odd));
  }
}

TEST_CASE("types that are not interleaved are refused", "[interleaved]") {
  for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::s32}) {
    GemmArguments args = interleaved_problem();
    args.a.dtype = args.b.dtype = type;
    refused(args, "Operand `a` is column_interleaved32, which is for operands of s8 and u8");
  }
  for (const DType type : {DType::f16, DType::bf16, DType::f64}) {
    refused(interleaved_problem(64, 64, 64, type), "Operand `out` is column_interleaved32, which is for");
  }
  for (const DType type : {DType::s8, DType::u8, DType::s32, DType::f32})
    CHECK(checked(interleaved_problem(64, 64, 64, type)));
  // Outputs of such types alone: of other operands, no kernel has them.
  const GemmArguments args = {.a = TensorView::row_major(nullptr, DType::f32, {64, 64}),
                              .b = TensorView::row_major(nullptr, DType::f32, {64, 64}),
                              .out = TensorView::column_interleaved32(nullptr, DType::f32, {64, 64})};
  const Status status = get_kernels(args).status();
  CHECK(status.code() == StatusCode::no_kernel);
  CHECK_THAT(status.message(),
             Catch::Contains("out f32 column_interleaved32") &&
                 Catch::Contains("only s8 and u8 operands and their outputs have interleaved layouts"));
}

TEST_CASE("strides, ranks and tags that are wrong are refused", "[interleaved]") {
  GemmArguments args = interleaved_problem();
  args.a = TensorView::column_interleaved32(nullptr, DType::s8, {64, 128}, 64 * 32 - 1);
  refused(args, "Operand `a` overlaps itself: expected a stride of at least 2048 elements, got 2047");
  args = interleaved_problem();
  args.out = TensorView::column_interleaved32(nullptr, DType::s8, {64, 96}, 32);
  refused(args, "Operand `out` overlaps itself: expected a stride of at least 2048 elements, got 32");
  args = interleaved_problem();
  args.b.strides[1] = 33;
  refused(args, "Operand `b` is row_interleaved32, whose columns are 32 elements apart, and not 33");
  args = interleaved_problem();
  args.a.strides[0] = 1;
  refused(args, "Operand `a` is column_interleaved32, whose rows are 32 elements apart, and not 1");
  args = interleaved_problem();
  args.a.tag = static_cast<LayoutTag>(3);
  refused(args, "Operand `a` has a layout tag of number 3");
  args = interleaved_problem();
  args.a = TensorView::column_interleaved32(nullptr, DType::s8, {64 * 128});
  refused(args, "Operand `a` does not fit: expected rank 2, got rank 1");
  args = interleaved_problem();
  args.out = TensorView::column_interleaved32(nullptr, DType::s8, {2, 64, 96});
  args.out.strides[0] = 3 * 64 * 32 - 1;
  refused(args, "Operand `out` overlaps itself");
  args.out.strides[0] = 3 * 64 * 32;
  CHECK(checked(args));
  // One group overlaps nothing, whatever its stride.
  args = interleaved_problem(64, 96, 32);
  args.a = TensorView::column_interleaved32(nullptr, DType::s8, {64, 32}, 1);
  CHECK(checked(args));
}

TEST_CASE("a vector has no layout tag", "[interleaved]") {
  GemmArguments args = interleaved_problem();
  args.epilogue.bias = TensorView::vector(nullptr, DType::s8, 96);
  args.epilogue.bias->tag = LayoutTag::row_interleaved32;
  refused(args, "Operand `bias` is row_interleaved32, which only a matrix or a batch of them can be");
  args = interleaved_problem();
  args.epilogue.scale = TensorView::vector(nullptr, DType::f32, 96);
  args.epilogue.scale->tag = LayoutTag::column_interleaved32;
  refused(args, "Operand `scale` is column_interleaved32, which only a matrix");
}

TEST_CASE("C, residual and aux are interleaved as the output is", "[interleaved]") {
  const TensorView strided = TensorView::row_major(nullptr, DType::s8, {64, 96});
  const TensorView other = TensorView::row_interleaved32(nullptr, DType::s8, {64, 96});
  const TensorView like_out = TensorView::column_interleaved32(nullptr, DType::s8, {64, 96}, 64 * 32 + 64);
  const auto with = [](const char* name, GemmArguments args, const TensorView& view) {
    if (*name == 'c') args.c = view, args.epilogue.beta = 1;
    if (*name == 'r') args.epilogue.residual = view;
    if (*name == 'a') args.epilogue.aux = view;
    return args;
  };
  for (const char* name : {"c", "residual", "aux"}) {
    const std::string begin =
        "Operand `" + std::string(name) + "` is stored differently from `out`: expected ";
    refused(with(name, interleaved_problem(), strided), begin + "column_interleaved32, got strided");
    refused(with(name, interleaved_problem(), other), begin + "column_interleaved32, got row_interleaved32");
    CHECK(checked(with(name, interleaved_problem(), like_out)));
    GemmArguments args = interleaved_problem();
    args.out = strided;
    refused(with(name, args, other), begin + "strided, got row_interleaved32");
  }
}

TEST_CASE("overlaps of interleaved tensors are found", "[interleaved]") {
  GemmArguments args = interleaved_problem();
  args.a.data = tensor_memory;
  args.b.data = tensor_memory + (1 << 16);
  args.out.data = tensor_memory + 64 * 128 - 1;
  refused(args, "Operand `a` overlaps `out`");
  args.out.data = tensor_memory + 64 * 128;
  CHECK(checked(args));
  args.c = args.out;  // in place
  args.epilogue.beta = 1;
  CHECK(checked(args));
  args.c->strides[1] += 32;
  refused(args, "Operand `c` overlaps `out`");
}

TEST_CASE("a query answers with kernels of the layouts", "[interleaved]") {
  const CandidateList found = get_kernels(interleaved_problem(512, 512, 512));
  REQUIRE_FALSE(found.empty());
  std::set<std::string_view> families;
  for (const Candidate& each : found) {
    const OperandsMetadata& o = each.metadata().operands;
    CHECK((o.a.layout == C && o.b.layout == R && o.out.layout == C && o.c.layout == C));
    families.insert(each.metadata().family);
  }
  CHECK(families == std::set<std::string_view>{"gemm_simt", "gemm_sm80"});
  CHECK(found.front().metadata().family == "gemm_sm80");

  // Other questions, other answers: what is remembered of one is not said to the other.
  FindOptions one;
  one.limit = 1;
  for (int round = 0; round < 2; ++round) {
    for (const Layout out : {Layout::row, C, R, Layout::column}) {
      GemmArguments args = interleaved_problem(512, 512, 512);
      if (out == R) args.out = TensorView::row_interleaved32(nullptr, DType::s8, {512, 512});
      if (out == Layout::row) args.out = TensorView::row_major(nullptr, DType::s8, {512, 512});
      if (out == Layout::column) args.out = TensorView::column_major(nullptr, DType::s8, {512, 512});
      const CandidateList best = get_kernels(args, {}, one);
      REQUIRE(best.size() == 1);
      CHECK(best.front().metadata().operands.out.layout == out);
    }
  }
  // A pointer that is not aligned leaves what reads element by element.
  GemmArguments args = interleaved_problem(512, 512, 512);
  args.a.assumed_alignment = 1;
  CHECK(get_kernels(args, {}, one).front().metadata().family == "gemm_simt");
}

TEST_CASE("a kernel says which layout it wants", "[interleaved]") {
  const auto strided = Filter::parse(
      "family == gemm_sm80 and a.dtype == s8 and b.dtype == s8 and out.dtype == s8 "
      "and a.layout == row and b.layout == column and out.layout == row");
  const auto interleaved = Filter::parse(
      "family == gemm_sm80 and a.layout == column_interleaved32 and b.layout == row_interleaved32 "
      "and a.dtype == s8 and b.dtype == s8 and out.dtype == s8 and out.layout == column_interleaved32");
  REQUIRE((strided && interleaved));
  REQUIRE_FALSE(get_kernels(*interleaved).empty());
  const Status one = get_kernels(*strided).front().supports(interleaved_problem());
  CHECK(one.message() == "Operand `a` is unsupported: expected row layout, got column_interleaved32 layout");
  GemmArguments args = interleaved_problem();
  args.a = TensorView::row_major(nullptr, DType::s8, {64, 128});
  const Status other = get_kernels(*interleaved).front().supports(args);
  CHECK(other.message() ==
        "Operand `a` is unsupported: expected column_interleaved32 layout, got row layout");
  args = interleaved_problem();
  args.out = TensorView::row_interleaved32(nullptr, DType::s8, {64, 96});
  CHECK(get_kernels(*interleaved).front().supports(args).message() ==
        "Operand `out` is unsupported: expected column_interleaved32 layout, got row_interleaved32 layout");
}

TEST_CASE("configs of one's own can be interleaved, of bytes alone", "[interleaved]") {
  CHECK(make_kernel("gemm_sm80_s8_u8_s32_f32_CRr_96x64x96_w2x2x1_s3_a16x8"));
  CHECK(make_kernel("gemm_sm80_s8_s8_s32_s8_rRc_64x64x64_w2x2x1_s3_a1x1"));
  CHECK(make_kernel("gemm_simt_u8_s8_s32_s32_RcR_32x64x32_t4x4"));
  const auto refuses = [](const char* name, const char* words) {
    CHECK_THAT(make_kernel(name).status().message(), Catch::Contains(words));
  };
  refuses("gemm_sm80_f16_f16_f32_f16_CRC_64x64x32_w2x2x1_s3_a8x8",
          "only s8 and u8 operands and their outputs have interleaved");
  refuses("gemm_sm80_f16_s8_f32_f16_rRr_64x64x64_w2x2x1_s3_a8x16",
          "only s8 and u8 operands and their outputs have interleaved");
  refuses("gemm_sm80_s8_s8_s32_s8_RCC_64x64x64_w2x2x1_s3_a16x16", "bytes must be contiguous along K");
  refuses("gemm_simt_f32_f32_f32_f32_rrC_64x64x16_t4x4",
          "only s8 and u8 operands and their outputs have interleaved");
  refuses("gemm_simt_s8_s8_s32_s8_CRC_64x64x16_t4x4", "multiple of 32");
  refuses("gemm_sm90_bf16_bf16_f32_bf16_CRC_128x256x64_c2x1_s4_cooperative_a8x8", "not interleaved");
  refuses("gemm_simt_s8_s8_s32_s8_CXC_64x64x64_t4x4", "layouts");
}

TEST_CASE("every kernel of interleaved layouts computes what it should", "[interleaved]") {
  const auto filter = Filter::parse(
      "operation == gemm and (a.layout in (row_interleaved32, column_interleaved32) or "
      "b.layout in (row_interleaved32, column_interleaved32) or "
      "out.layout in (row_interleaved32, column_interleaved32))");
  REQUIRE(filter);
  const std::vector<Kernel> kernels = get_kernels(*filter);
  CHECK(kernels.size() > 200);
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (const Kernel& kernel : kernels) {
    GemmArguments shape = test::random_shape(random, test::types_of(detail::row_of(kernel)),
                                             test::layouts_of(detail::row_of(kernel)),
                                             {.m = 100, .n = 100, .k = 200, .alignment_bytes = 16});
    CAPTURE(kernel.name());
    auto problem = lab::OperandsOf<GemmArguments>::make(shape, {.seed = random()});
    REQUIRE(problem);
    const auto reference = lab::compute_reference(problem->arguments);
    REQUIRE(reference);
    const auto bytes = kernel.workspace_size(problem->arguments);
    REQUIRE(bytes);
    const Workspace workspace = {tensor_memory, sizeof tensor_memory};
    REQUIRE(*bytes <= workspace.bytes);
    REQUIRE(kernel.run(problem->arguments, {.workspace = workspace}));
    REQUIRE(problem->check_outputs());
    const std::int64_t k = shape.a.extents[shape.a.rank - 1U];
    const lab::Comparison c =
        lab::compare(*reference, problem->arguments, lab::tolerance(kernel.metadata(), k));
    CAPTURE(c.error, c.bound, c.row, c.column, c.expected, c.got);
    REQUIRE(c.within());
  }
}
