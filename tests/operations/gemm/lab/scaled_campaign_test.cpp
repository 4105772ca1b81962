// What a campaign draws of scales beside expressions.
#include "operations/gemm/lab/campaign_problems.hpp"
#include "operations/gemm/lab/expression.hpp"
#include "operations/gemm/normalise.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using lab::gemm::CampaignProblem;
using lab::gemm::CampaignSpace;

namespace {

constexpr int scaled_draws = 4000;

CampaignSpace gemm_space() {
  const auto filter = Filter::parse("operation == gemm");
  REQUIRE(filter);
  return lab::gemm::campaign_space(get_kernels(*filter), 1e9);
}

}  // namespace

TEST_CASE("a campaign draws scales of blocks beside expressions", "[campaign]") {
  const CampaignSpace space = gemm_space();
  int all = 0, scaled = 0, both = 0, wide = 0, whole = 0, taken = 0;
  for (int i = 0; i < scaled_draws; ++i) {
    const CampaignProblem problem = lab::gemm::campaign_problem(space, static_cast<std::uint64_t>(i));
    const GemmArguments& args = problem.arguments;
    if (!args.expression) continue;
    all += 1;
    if (!args.a_scale && !args.b_scale) continue;
    CHECK(bits_of(args.a.dtype) == bits_of(args.b.dtype));
    CHECK((!args.a_scale || is_blocked(args.a_scale_granularity)));
    CHECK((!args.b_scale || is_blocked(args.b_scale_granularity)));
    const lab::gemm::WideParts parts = lab::gemm::wide_parts(*args.expression);
    scaled += 1;
    both += args.a_scale && args.b_scale;
    wide += parts.lines || parts.groups || parts.pairs;
    whole += *args.accumulator == DType::s32;
    taken += lab::gemm::is_always_taken(space, args);
  }
  CHECK(scaled > all / 10);
  CHECK(both > scaled / 5);
  CHECK(wide > scaled / 10);
  CHECK(whole > 0);
  CHECK(taken > scaled / 4);
}
