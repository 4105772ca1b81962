/// The float64 reference against a second formulation, which walks images instead of outputs.
#include "lab/reference/reference.hpp"

#include <random>

#include "lab/problems/fresh_seed.hpp"
#include "operations/common/host/element.hpp"
#include "operations/conv2d/problem.hpp"
#include "support/catch_compat.hpp"
#include "support/random_convolution.hpp"

using namespace quarry;
using lab::conv2d::Extents;

namespace {

std::vector<double> numbers(const TensorView& view, const Extents& e) {
  std::vector<double> values(static_cast<std::size_t>(e[0] * e[1] * e[2] * e[3]));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = host::read_element(view.dtype, view.data, static_cast<std::int64_t>(i));
  return values;
}

}  // namespace

TEST_CASE("the reference of a convolution is what its products add up to", "[conv2d][lab]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  for (int i = 0; i < 60; ++i) {
    const auto direction = static_cast<Direction>(i % 3);
    const Conv2dArguments shape = test::random_convolution(direction, DType::f32, DType::f32, 2e5, dice);
    auto problem = lab::OperandsOf<Conv2dArguments>::make(shape, {.seed = seed});
    REQUIRE(problem);
    const Conv2dArguments& args = problem->arguments;
    const auto roles = detail::conv2d::roles_of(args);
    const Extents x = roles.activations.extents;
    const Extents w = roles.filters.extents;
    const Extents y = roles.output.extents;
    const std::vector<double> a = numbers(args.a, args.a.extents);
    const std::vector<double> b = numbers(args.b, args.b.extents);
    const Extents& out = args.out.extents;
    std::vector<double> expected(static_cast<std::size_t>(out[0] * out[1] * out[2] * out[3]));
    test::each_product(args, x, w, y, [&](const auto& in_x, const auto& in_w, const auto& in_y) {
      const std::size_t at_x = test::packed_index(x, in_x);
      const std::size_t at_w = test::packed_index(w, in_w);
      const std::size_t at_y = test::packed_index(y, in_y);
      switch (direction) {
        case Direction::fprop: expected[at_y] += a[at_x] * b[at_w]; break;
        case Direction::dgrad: expected[at_x] += a[at_y] * b[at_w]; break;
        default: expected[at_w] += a[at_y] * b[at_x];
      }
    });
    const auto reference = lab::compute_reference(args, {.threads = 1});
    REQUIRE(reference);
    const std::vector<double>& values = (*reference)[Operand::out].values;
    REQUIRE(values.size() == expected.size());
    double most = 0;
    for (std::size_t j = 0; j < values.size(); ++j) most = std::max(most, std::abs(values[j] - expected[j]));
    INFO(to_string(direction) << " problem " << i);
    CHECK(most < 1e-10);
  }
}
