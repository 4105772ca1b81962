/// What a campaign draws of grouped GEMMs, and how it judges refusals.
#include "operations/grouped_gemm/lab/campaign.hpp"

#include <set>

#include "lab/campaign/source.hpp"
#include "operations/grouped_gemm/executor.hpp"
#include "operations/grouped_gemm/lab/operation.hpp"
#include "operations/grouped_gemm/problem.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

constexpr int draws = 3000;

std::vector<Kernel> grouped_kernels() { return get_kernels(*Filter::parse("operation == grouped_gemm")); }

}  // namespace

TEST_CASE("a campaign draws every form, and sizes of all kinds", "[campaign]") {
  const auto source = lab::grouped_gemm::Lab::campaign(grouped_kernels(), 1e8);
  std::set<std::string> types;
  std::set<int> forms;
  int wrong = 0, empty = 0, huge = 0, zeroed = 0, invalid = 0, in_place = 0;
  for (int i = 0; i < draws; ++i) {
    const lab::DrawnProblem drawn = source->draw(static_cast<std::uint64_t>(i));
    const auto& args = drawn.arguments.as<GroupedGemmArguments>();
    INFO("seed " << i << ": " << drawn.text);
    CHECK(drawn.text == source->draw(static_cast<std::uint64_t>(i)).text);
    for (const std::string& each : source->types_for(args)) types.insert(each);
    in_place += !drawn.in_place.empty();
    zeroed += args.zero_outside;
    const CandidateList found = get_kernels(args);
    if (found.empty()) {
      REQUIRE(source->fault_of_empty_answer(found.status(), args) == "");
      const bool is_invalid = found.status().code() == StatusCode::invalid_arguments;
      invalid += is_invalid;
      if (!is_invalid) REQUIRE_FALSE(source->is_always_taken(args));
      continue;
    }
    GroupedGemmProblem problem;
    detail::grouped_gemm::describe(args, problem);
    REQUIRE(drawn.given.size() == 1);
    const std::vector<int> sizes(drawn.given[0].values.begin(), drawn.given[0].values.end());
    problem.groups.sizes = sizes.data();
    forms.insert(static_cast<int>(problem.groups.form));
    const bool makes_sense = bool(host::check_sizes(problem.groups));
    wrong += !makes_sense;
    if (!makes_sense) REQUIRE(args.clamp_host_sizes);
    int begin = 0;
    bool has_empty = false, has_huge = false;
    for (std::size_t g = 0; g < sizes.size(); ++g) {
      const GroupSpan span = group_span(problem.groups, static_cast<long long>(g), sizes[g], begin);
      begin = span.first + span.count;
      has_empty |= span.count == 0;
      has_huge |= sizes.size() > 1 && span.count == problem.groups.room && span.count > 0;
    }
    empty += has_empty;
    huge += has_huge;
  }
  for (const Kernel& kernel : grouped_kernels()) CHECK(types.contains(source->types_of(kernel.metadata())));
  CHECK(forms.size() == 3);
  CHECK(wrong > draws / 20);
  CHECK(empty > draws / 20);
  CHECK(huge > draws / 50);
  CHECK(zeroed > draws / 20);
  CHECK(in_place > draws / 50);
  CHECK(invalid > draws / 100);
  CHECK(invalid < draws / 4);
}

TEST_CASE("a refusal of a grouped GEMM is good where its cause is true", "[campaign]") {
  const Kernel kernel = *find_kernel("grouped_gemm_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4");
  const GroupedGemmArguments args = {.a = TensorView::row_major(nullptr, DType::f32, {30, 16}),
                                     .b = TensorView::column_major(nullptr, DType::f32, {4, 16, 8}),
                                     .out = TensorView::row_major(nullptr, DType::f32, {30, 8}),
                                     .sizes = TensorView::vector(nullptr, DType::s32, 4)};
  const auto fault = [&](const Status& status, const GroupedGemmArguments& of) {
    return lab::grouped_gemm::fault_of_refusal(status, kernel.metadata(), of, default_device_model());
  };
  const Status layout = kernel.supports(args);
  CHECK(layout.reason() == Reason::layout);
  CHECK(fault(layout, args) == "");
  GroupedGemmArguments good = args;
  good.b = TensorView::row_major(nullptr, DType::f32, {4, 16, 8});
  REQUIRE(kernel.supports(good));
  CHECK(fault(layout, good) != "");
  GroupedGemmArguments wrong = good;
  wrong.sizes.dtype = DType::f32;
  CHECK(fault(kernel.supports(wrong), wrong) == "");
  CHECK(fault(kernel.supports(wrong), good) != "");
}
