/// Indices and places of a convolution's matrices.
#include "conv2d/places.hpp"

#include <limits>
#include <random>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

TEST_CASE("an index is three, the last of which runs fastest", "[conv2d]") {
  const Divisor middle = divisor_of(5);
  const Divisor inner = divisor_of(7);
  int index = 0;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 5; ++b) {
      for (int c = 0; c < 7; ++c, ++index) {
        const Index3 at = index3(index, middle, inner);
        CHECK((at.outer == a && at.middle == b && at.inner == c));
      }
    }
  }
}
