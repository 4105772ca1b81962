/// What a campaign draws of lists of GEMMs, and how it judges refusals.
#include "operations/gemm_list/lab/campaign.hpp"

#include <set>

#include "lab/campaign/source.hpp"
#include "operations/gemm_list/lab/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

constexpr int draws = 3000;

std::vector<Kernel> list_kernels() { return get_kernels(*Filter::parse("operation == gemm_list")); }

}  // namespace

TEST_CASE("a campaign draws lists of all kinds", "[campaign]") {
  const auto source = lab::gemm_list::Lab::campaign(list_kernels(), 1e8);
  std::set<std::string> types;
  int wrong = 0, empty = 0, leading = 0, promised = 0, invalid = 0, in_place = 0, arrays = 0,
      without_problems = 0, gated = 0;
  for (int i = 0; i < draws; ++i) {
    const lab::DrawnProblem drawn = source->draw(static_cast<std::uint64_t>(i));
    const auto& args = drawn.arguments.as<GemmListArguments>();
    INFO("seed " << i << ": " << drawn.text);
    CHECK(drawn.text == source->draw(static_cast<std::uint64_t>(i)).text);
    for (const std::string& each : source->types_for(args)) types.insert(each);
    const CandidateList found = get_kernels(args);
    if (found.empty()) {
      REQUIRE(source->fault_of_empty_answer(found.status(), args) == "");
      const bool is_invalid = found.status().code() == StatusCode::invalid_arguments;
      invalid += is_invalid;
      if (!is_invalid) REQUIRE_FALSE(source->is_always_taken(args));
      continue;
    }
    REQUIRE(drawn.given.size() == (args.leading ? 2U : 1U));
    const std::vector<double>& sizes = drawn.given[0].values;
    bool makes_sense = true, has_empty = false;
    const bool is_gated = args.expression && args.expression->is_gated();
    const std::int64_t bounds[] = {args.out.extents[1], args.out.extents[2] * (is_gated ? 2 : 1),
                                   args.a.extents[args.a.rank - 1U]};
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      makes_sense &= sizes[j] >= 0 && sizes[j] <= static_cast<double>(bounds[j % 3]);
      has_empty |= sizes[j] == 0;
    }
    if (!makes_sense) REQUIRE(args.clamp_host_sizes);
    wrong += !makes_sense;
    empty += has_empty;
    gated += is_gated;
    leading += args.leading.has_value();
    promised += args.leading && args.leading_alignment > 1;
    in_place += !drawn.in_place.empty();
    arrays += args.out.is_pointer_array;
    without_problems += args.out.extents[0] == 0;
  }
  for (const Kernel& kernel : list_kernels()) CHECK(types.contains(source->types_of(kernel.metadata())));
  CHECK(wrong > draws / 20);
  CHECK(empty > draws / 4);
  CHECK(leading > draws / 10);
  CHECK(promised > draws / 50);
  CHECK(promised < leading);
  CHECK(in_place > draws / 50);
  CHECK(arrays > draws / 5);
  CHECK(gated > draws / 100);
  CHECK(without_problems > draws / 200);
  CHECK(invalid > draws / 100);
  CHECK(invalid < draws / 3);
}

TEST_CASE("a refusal of a list is good where its cause is true", "[campaign]") {
  const Kernel kernel = *find_kernel("gemm_list_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4");
  GemmListArguments args;
  args.a = TensorView::row_major(nullptr, DType::f32, {4, 30, 16});
  args.b = TensorView::column_major(nullptr, DType::f32, {4, 16, 8});
  args.out = TensorView::row_major(nullptr, DType::f32, {4, 30, 8});
  args.sizes = TensorView::row_major(nullptr, DType::s32, {4, 3});
  const auto fault = [&](const Status& status, const GemmListArguments& of) {
    return lab::gemm_list::fault_of_refusal(status, kernel.metadata(), of, default_device_model());
  };
  const Status layout = kernel.supports(args);
  CHECK(layout.reason() == Reason::layout);
  CHECK(fault(layout, args) == "");
  GemmListArguments good = args;
  good.b = TensorView::row_major(nullptr, DType::f32, {4, 16, 8});
  REQUIRE(kernel.supports(good));
  CHECK(fault(layout, good) != "");
  GemmListArguments wrong = good;
  wrong.sizes.dtype = DType::f32;
  CHECK(fault(kernel.supports(wrong), wrong) == "");
  CHECK(fault(kernel.supports(wrong), good) != "");
  wrong = good;
  wrong.leading = TensorView::row_major(nullptr, DType::s32, {4, 4});
  REQUIRE(kernel.supports(wrong));
  wrong.a.strides = {960, 32, 2};
  CHECK(fault(kernel.supports(wrong), wrong) == "");
  CHECK(fault(kernel.supports(wrong), good) != "");
}

TEST_CASE("a list's refusal of scales is good where the kernel takes no such scales", "[campaign]") {
  const auto view = [](DType type, std::initializer_list<std::int64_t> extents) {
    return TensorView::row_major(nullptr, type, extents);
  };
  const Kernel kernel =
      *find_kernel("gemm_list_sm80_s8_s8_s32_f32_rcr_64x64x128_w2x2x1_s4_a16x16_vector_scales");
  const auto fault = [&](const Status& status, const GemmListArguments& of) {
    return lab::gemm_list::fault_of_refusal(status, kernel.metadata(), of, default_device_model());
  };
  GemmListArguments none;
  none.a = view(DType::s8, {4, 30, 256});
  none.b = TensorView::column_major(nullptr, DType::s8, {4, 256, 64});
  none.out = view(DType::f32, {4, 30, 64});
  none.sizes = view(DType::s32, {4, 3});
  GemmListArguments rows = none;
  rows.a_scale = view(DType::f32, {30, 1});
  rows.a_scale_granularity = ScaleGranularity::row;
  REQUIRE(kernel.supports(rows));
  GemmListArguments blocks = none;
  blocks.a_scale = view(DType::f32, {30, 2});
  blocks.a_scale_granularity = ScaleGranularity::block_1x128;
  for (const GemmListArguments& refused : {none, blocks}) {
    const Status status = kernel.supports(refused);
    CHECK(status.reason() == Reason::granularity);
    CHECK(fault(status, refused) == "");
    CHECK(fault(status, rows) != "");
  }
}
