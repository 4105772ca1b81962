/// Problems of paths of lists: one of them at least is not small, and outputs are stored as the path says.
#include <algorithm>
#include <random>

#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm_list/lab/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using List = lab::gemm_list::Problem;

TEST_CASE("GEMM lists: problems of paths are not all small", "[gemm_list]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const lab::OperationLab& lab = lab::lab_of(Operation::gemm_list);
  for (const Kernel& kernel : get_kernels(*Filter::parse("operation == gemm_list"))) {
    for (std::int64_t number = 0; number < std::ssize(lab.paths); ++number) {
      const lab::Path& path = lab.paths[static_cast<std::size_t>(number)];
      if (!path.is_of(kernel.metadata())) continue;
      const lab::Problem drawn = lab.emulated(kernel.metadata(), random(), number);
      const List& p = drawn.as<List>();
      INFO(path.name << ", " << kernel.name() << ": " << command_text(drawn));
      const bool is_long = path.name == "long_list" || path.name == "host_schedule";
      const int least = is_long ? 1 : 35;
      const auto is_large = [&](const ListExtents& own) { return own.m >= least && own.n >= least; };
      CHECK(std::ranges::any_of(p.sizes, is_large));
      CHECK((p.count() > 32) == is_long);
      CHECK((p.a_scale || p.b_scale) == (kernel.metadata().operands.scales != ScaleSupport::none));
      if (path.name == "plain") CHECK(p.out.layout == Layout::row);
      const bool gathers = path.name == "gathered";
      const bool is_gated = path.name.starts_with("gated");
      const bool has_lines = path.name.find("reductions") != path.name.npos;
      const bool is_wide = is_gated || has_lines || path.name == "eights" || path.name == "groups";
      CHECK(p.expression.has_value() == (gathers || is_wide || path.name == "expression"));
      if (is_wide) CHECK(has_lines == detail::reduction_counts(*p.expression).has_lines());
      if (is_wide) CHECK(is_gated == (p.expression->pairs() == expression::Pairs::halves));
      if (path.name == "gated_wrong_sizes")
        CHECK(std::ranges::any_of(p.sizes, [](const ListExtents& each) { return each.n % 2 == 1; }));
      if (gathers) CHECK((detail::gathers(*p.expression) && p.of_each.size() == 2));
      if (path.name == "expression") CHECK((p.of_each.size() == 3 && p.leading.size() == p.sizes.size()));
    }
  }
}
