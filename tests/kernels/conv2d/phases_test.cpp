// Phases of a dgrad with strides: each product of the whole is one of exactly one phase, at the same places.
#include <set>
#include <tuple>

#include "conv2d/phases.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

/// (position of the image, tap of the filter in memory, output).
using Products = std::set<std::tuple<int, int, int>>;

Products whole(const WindowAxis& axis, int image, bool flips) {
  Products products;
  for (int h = 0; h < image; ++h) {
    for (int t = 0; t < axis.taps.size; ++t) {
      const int distance = h + axis.padding - (flips ? axis.taps.size - 1 - t : t) * axis.dilation;
      if (distance < 0 || distance % axis.stride.size != 0) continue;
      if (distance / axis.stride.size < axis.extent) products.insert({h, t, distance / axis.stride.size});
    }
  }
  return products;
}

}  // namespace

TEST_CASE("phases have each position once, and its products alone", "[conv2d]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  const auto draw = [&](int least, int most) { return static_cast<int>(dice.between(least, most)); };
  for (int round = 0; round < 2000; ++round) {
    const WindowAxis axis = {.extent = draw(1, 12),
                             .places = divisor_of(1),
                             .stride = divisor_of(draw(1, most_phases)),
                             .padding = draw(0, 9),
                             .dilation = draw(1, 9),
                             .taps = divisor_of(draw(1, 11))};
    const int image = draw(1, 24);
    const bool flips = dice.one_in(2);
    INFO("stride " << axis.stride.size << ", dilation " << axis.dilation << ", padding " << axis.padding
                   << ", taps " << axis.taps.size << ", image " << image << ", outputs " << axis.extent);
    const PhasesAlong phases = phases_along(axis, image, axis.taps.size, flips);
    Products products;
    std::set<int> positions;
    int visited = 0;  // products of the phases, also of outputs that do not exist
    for (int number = 0; number < axis.stride.size; ++number) {
      const PhaseAxis& phase = phases.at[number];
      if (number > 0) CHECK(phase.taps <= phases.at[number - 1].taps);
      CHECK(phase.by_taps.size == std::max(1, phase.taps));
      CHECK(phase.by_places.size == std::max(1, phase.places));
      for (int i = 0; i < phase.places; ++i) {
        const int h = phase.first + i * phases.stride;
        CHECK(positions.insert(h).second);
        for (int j = 0; j < phase.taps; ++j) {
          const int output = phase.padding + i - j * phases.dilation;
          const int tap = phase.first_tap + j * phases.tap_step;
          REQUIRE(tap >= 0);
          REQUIRE(tap < axis.taps.size);
          ++visited;
          if (output >= 0 && output < axis.extent) CHECK(products.insert({h, tap, output}).second);
        }
      }
    }
    CHECK(products == whole(axis, image, flips));
    CHECK(positions.size() == static_cast<std::size_t>(image));
    if (!positions.empty()) CHECK(*positions.rbegin() == image - 1);
    // Taps that a stride leaves out are not visited.
    int contributing = 0;
    for (int h = 0; h < image; ++h) {
      for (int t = 0; t < axis.taps.size; ++t)
        contributing += ((h + axis.padding - t * axis.dilation) % axis.stride.size == 0) ? 1 : 0;
    }
    CHECK(visited == contributing);
  }
}

TEST_CASE("phases of no sums have no taps", "[conv2d]") {
  const WindowAxis axis = {.extent = 3,
                           .places = divisor_of(6),
                           .stride = divisor_of(2),
                           .padding = 1,
                           .dilation = 1,
                           .taps = divisor_of(3)};
  const PhasesAlong phases = phases_along(axis, 6, 0, false);
  CHECK(phases.at[0].taps + phases.at[1].taps == 0);
  CHECK(phases.at[0].places + phases.at[1].places == 6);
}
