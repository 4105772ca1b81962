/// Which kernels take which scales of operands, and what precise sums ask of them.
#include "operations/gemm/scales.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_checks.hpp"
#include "support/registry_problems.hpp"
#include "support/scaled_problems.hpp"

namespace {

using namespace quarry;
using test::accepted;
using test::check_refused;
using test::scalable;
using test::scale_view;
using test::taken_by;
using test::with_a;
using test::with_b;

}  // namespace

TEST_CASE("kernels that take no scales say so", "[scales]") {
  int asked = 0;
  for (const detail::Row& row : test::gemm_rows()) {
    if (!test::takes_unscaled(row)) continue;
    GemmArguments args = taken_by(row);
    const DType compute = compute_type(*args.accumulator, args.out.dtype);
    const Kernel kernel(row);
    if (compute == DType::s32 || !kernel.supports(args)) continue;
    ++asked;
    args.b_scale = scale_view({1, 1});
    CHECK(kernel.supports(args).code() == StatusCode::unsupported);
    CHECK(kernel.supports(args).message() == "Operand `b_scale` is unsupported: expected none, got a tensor");
    args.a_scale = scale_view({64, 1});
    args.a_scale_granularity = ScaleGranularity::row;
    CHECK(kernel.supports(args).message() == "Operand `a_scale` is unsupported: expected none, got a tensor");
    CHECK(kernel.workspace_size(args).status().operand() == Operand::a_scale);
    CHECK(kernel.prepare(args).status().operand() == Operand::a_scale);
  }
  CHECK(asked > 1000);
}

TEST_CASE("kernels take the granularities that they say, and need scales, but beside weights", "[scales]") {
  int vectors = 0, blocks = 0, groups = 0;
  for (const detail::Row& row : test::gemm_rows()) {
    if (test::takes_unscaled(row)) continue;
    const ScaleSupport scales = row.metadata.operands.scales;
    if (scales == ScaleSupport::zero_points) continue;  // zero_points_test.cpp
    const bool takes_groups = quarry::takes_groups(scales);
    const bool takes_blocks = quarry::takes_blocks(scales);
    ++(takes_groups ? groups : takes_blocks ? blocks : vectors);
    GemmArguments args = taken_by(row);
    const Kernel kernel(row);
    CAPTURE(row.metadata.name);
    const Status without = kernel.supports(args);
    REQUIRE(bool(without) == takes_groups);
    if (!takes_groups)
      REQUIRE(without.message() == "Operand `a_scale` is missing: expected scales of A or B, got none");
    args.a_scale = scale_view({64, 1});
    args.a_scale_granularity = ScaleGranularity::row;
    REQUIRE(kernel.supports(args));
    args.b_scale = scale_view({1, 1});
    args.b_scale_granularity = ScaleGranularity::block_128x128;
    const Status blocked = kernel.supports(args);
    REQUIRE(bool(blocked) == takes_blocks);
    if (!takes_blocks) {
      REQUIRE(
          blocked.message() ==
          "Operand `b_scale` is unsupported: expected one value, or one for each row of A or column of B, "
          "got blocks of 128x128");
    }
    args.b_scale = scale_view({2, 96});
    args.b_scale_granularity = ScaleGranularity::block_1x64;
    const Status grouped = kernel.supports(args);
    REQUIRE(bool(grouped) == takes_groups);
    if (!takes_groups && takes_blocks) {
      REQUIRE(grouped.message() ==
              "Operand `b_scale` is unsupported: expected no scales that change more often than every 128 of "
              "K, got blocks of 1x64");
    }
  }
  CHECK(vectors > 100);
  CHECK(blocks > 100);
  CHECK(groups > 100);
}

TEST_CASE("precise sums of 8-bit floats are promoted, or added up by FMA", "[scales]") {
  GemmArguments args = {.a = TensorView::row_major(nullptr, DType::e4m3, {256, 1024}),
                        .b = TensorView::column_major(nullptr, DType::e4m3, {1024, 384}),
                        .out = TensorView::row_major(nullptr, DType::bf16, {256, 384})};
  const DeviceModel model = *find_device_model("h200");
  const FindOptions h200{.explain = true, .device = &model};
  const auto promotes = [](const KernelMetadata& kernel) {
    return kernel.operands.scales == ScaleSupport::block_scales;
  };
  CHECK(find_best(args, {}, h200)->metadata().operands.scales == ScaleSupport::none);
  args.accumulation = Accumulation::precise;
  const CandidateList found = get_kernels(args, {}, h200);
  REQUIRE_FALSE(found.empty());
  CHECK(promotes(found[0].metadata()));
  CHECK(found[0].metadata().design.math_unit == MathUnit::tensor_core);
  int by_fma = 0;
  for (const Candidate& candidate : found) {
    const bool fma = candidate.metadata().design.math_unit == MathUnit::simt;
    by_fma += fma;
    CHECK((fma || promotes(candidate.metadata())));
  }
  CHECK(by_fma > 0);
  CHECK(std::ranges::any_of(found.rejections(), [](const Rejection& rejection) {
    return rejection.reason ==
               "Accumulation is unsupported: expected fast, got precise; kernels on tensor cores that take "
               "scales of blocks promote their sums" &&
           rejection.kernels > 10;
  }));

  // With scales that are no blocks, too.
  args.a_scale = scale_view({256, 1});
  args.a_scale_granularity = ScaleGranularity::row;
  CHECK(promotes(find_best(args, {}, h200)->metadata()));
  args.accumulation = Accumulation::fast;
  CHECK(find_best(args, {}, h200)->metadata().operands.scales == ScaleSupport::vector_scales);
}

TEST_CASE("precise sums of 8-bit floats have no scales that change every 32 or 64 of K", "[scales]") {
  int asked = 0;
  for (const detail::Row& row : test::gemm_rows()) {
    if (!is_fp8(row.metadata.operands.a.dtype)) continue;
    ++asked;
    CAPTURE(row.metadata.name);
    const Kernel kernel(row);
    GemmArguments args = taken_by(row);
    args.accumulation = Accumulation::precise;
    const auto check = [&](Operand operand, std::string_view got) {
      const Status refusal = kernel.supports(args);
      REQUIRE(refusal.code() == StatusCode::unsupported);
      REQUIRE(refusal.operand() == operand);
      if (row.metadata.operands.scales != ScaleSupport::block_scales) return;
      REQUIRE(refusal.message() ==
              "Operand `" + std::string(to_string(operand)) +
                  "` is unsupported: expected no scales that change more often than every "
                  "128 of K, got blocks of " +
                  std::string(got));
    };
    args.a_scale = scale_view({64, 4});
    args.a_scale_granularity = ScaleGranularity::block_1x32;
    check(Operand::a_scale, "1x32");
    args.b_scale = scale_view({2, 96});
    args.b_scale_granularity = ScaleGranularity::block_1x64;
    REQUIRE(kernel.supports(args).code() == StatusCode::unsupported);
    args.a_scale = std::nullopt;
    check(Operand::b_scale, "1x64");
  }
  CHECK(asked > 100);
}

TEST_CASE("weights without scales have the kernels that take groups", "[scales]") {
  const auto found = [](DType weights, const char* device) {
    const DeviceModel model = *find_device_model(device);
    const GemmArguments args = {.a = TensorView::row_major(nullptr, DType::bf16, {256, 4096}),
                                .b = TensorView::column_major(nullptr, weights, {4096, 4096}),
                                .out = TensorView::row_major(nullptr, DType::bf16, {256, 4096})};
    const Result<Candidate> best = find_best(args, {}, {.device = &model});
    REQUIRE(best);
    return best->metadata();
  };
  for (const DType weights : {DType::s4, DType::u4, DType::e4m3}) {
    INFO(to_string(weights));
    const KernelMetadata hopper = found(weights, "h200");
    CHECK(hopper.family == "gemm_sm90");
    CHECK(hopper.operands.scales == ScaleSupport::group_scales);
  }
  CHECK(found(DType::s4, "a100").design.math_unit == MathUnit::tensor_core);
}

TEST_CASE("precise sums change nothing for other types, and for products of nothing", "[scales]") {
  GemmArguments args = scalable();
  const CandidateList fast = get_kernels(args);
  args.accumulation = Accumulation::precise;
  const CandidateList precise = get_kernels(args);
  REQUIRE(fast.size() == precise.size());
  for (std::size_t i = 0; i < fast.size(); ++i) CHECK(fast[i].name() == precise[i].name());
  args.accumulation = static_cast<Accumulation>(2);
  check_refused(args, "There is no accumulation of number 2");

  GemmArguments nothing = {.a = TensorView::row_major(nullptr, DType::e4m3, {64, 0}),
                           .b = TensorView::column_major(nullptr, DType::e4m3, {0, 64}),
                           .out = TensorView::row_major(nullptr, DType::bf16, {64, 64})};
  const CandidateList usual = get_kernels(nothing);
  nothing.accumulation = Accumulation::precise;
  REQUIRE_FALSE(usual.empty());
  CHECK(get_kernels(nothing).size() == usual.size());
}

TEST_CASE("a query with scales finds kernels that take them, and explains the others", "[scales]") {
  const GemmArguments args = with_a(ScaleGranularity::block_1x128, scale_view({256, 8}));
  FindOptions options;
  options.explain = true;
  REQUIRE(find_best(scalable()));  // remembered
  REQUIRE(find_best(args));
  CHECK(find_best(args)->metadata().operands.scales == ScaleSupport::block_scales);
  CHECK(find_best(scalable())->metadata().operands.scales == ScaleSupport::none);
  const CandidateList found = get_kernels(args, {}, options);
  REQUIRE_FALSE(found.empty());
  for (const Candidate& candidate : found)
    CHECK(candidate.metadata().operands.scales == ScaleSupport::block_scales);
  const auto& rejections = found.rejections();
  CHECK(std::ranges::any_of(rejections, [](const Rejection& rejection) {
    return rejection.reason == "Operand `a_scale` is unsupported: expected none, got a tensor" &&
           rejection.kernels > 100;
  }));
}

TEST_CASE("questions tell problems with scales apart", "[scales]") {
  std::set<std::string> questions;
  int asked = 0;
  const auto ask = [&](const GemmArguments& args) {
    const detail::gemm::Question question = detail::gemm::Rules::question(accepted(args));
    questions.emplace(reinterpret_cast<const char*>(&question), sizeof question);
    ++asked;
  };
  ask(scalable());
  ask(with_a(ScaleGranularity::tensor, scale_view({1, 1})));
  ask(with_a(ScaleGranularity::row, scale_view({256, 1})));
  ask(with_a(ScaleGranularity::block_1x128, scale_view({256, 8})));
  ask(with_b(ScaleGranularity::tensor, scale_view({1, 1})));
  ask(with_b(ScaleGranularity::column, scale_view({1, 384})));
  ask(with_b(ScaleGranularity::block_1x128, scale_view({8, 384})));
  ask(with_b(ScaleGranularity::block_128x128, scale_view({8, 3})));
  GemmArguments zeros = with_b(ScaleGranularity::column, scale_view({1, 384}));
  zeros.b.dtype = DType::u4;
  ask(zeros);
  zeros.b_zero = TensorView::row_major(nullptr, DType::u8, {1, 384});
  ask(zeros);
  CHECK(questions.size() == static_cast<std::size_t>(asked));
}
