/// Random tensors of campaigns.
#include "lab/campaign/draw_tensor.hpp"

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

TEST_CASE("random matrices may have no rows or columns", "[campaign]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  for (int i = 0; i < 4000; ++i) {
    const std::int64_t batch = dice.between(0, 2);
    const std::int64_t rows = dice.between(0, 2);
    const std::int64_t columns = dice.between(0, 2);
    const bool is_output = dice.one_in(2);
    const TensorView view = lab::random_matrix(DType::bf16, {.is_output = is_output, .may_be_array = true},
                                               batch, rows, columns, dice);
    REQUIRE(view.rank == (batch == 0 ? 2 : 3));
    CHECK(view.extents[view.rank - 2U] == rows);
    CHECK(view.extents[view.rank - 1U] == columns);
    for (std::size_t axis = 0; axis < view.rank; ++axis) {
      CHECK(view.strides[axis] >= 0);
      if (is_output) CHECK(view.strides[axis] > 0);
    }
  }
}

}  // namespace
}  // namespace quarry
