// The launch of a dgrad in phases: what its walk looks at, tap by tap, is each product of the whole once.
#include <set>
#include <tuple>

#include "conv2d_sm90/phases.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

/// (row, column) of the image, tap of the filters in memory, (row, column) of the output.
using Products = std::set<std::tuple<int, int, int, int, int>>;

WindowAxis random_axis(lab::Dice& dice) {
  const auto draw = [&](int least, int most) { return static_cast<int>(dice.between(least, most)); };
  return {.extent = draw(1, 5),
          .places = divisor_of(draw(1, 11)),
          .stride = divisor_of(draw(1, 4)),
          .padding = draw(0, 4),
          .dilation = draw(1, 3),
          .taps = divisor_of(draw(1, 5))};
}

/// The output that an element of the image has a part in by a tap; -1: none.
int output_of(const WindowAxis& axis, int place, int tap, bool flips) {
  const int distance = place + axis.padding - (flips ? axis.taps.size - 1 - tap : tap) * axis.dilation;
  if (distance < 0 || distance % axis.stride.size != 0) return -1;
  return distance / axis.stride.size < axis.extent ? distance / axis.stride.size : -1;
}

Products whole(const Windows& w) {
  Products products;
  for (int y = 0; y < w.rows.places.size; ++y) {
    for (int x = 0; x < w.columns.places.size; ++x) {
      for (int tap = 0; tap < w.rows.taps.size * w.columns.taps.size; ++tap) {
        const int p = output_of(w.rows, y, tap / w.columns.taps.size, w.flips);
        const int q = output_of(w.columns, x, tap % w.columns.taps.size, w.flips);
        if (p >= 0 && q >= 0) products.insert({y, x, tap, p, q});
      }
    }
  }
  return products;
}

/// What a phase looks at, as the device walks. @param places of the image, which no other phase has
void add_products(const PhasedTensorConv2dParams& params, const TensorPhase& phase, Products& products,
                  std::set<std::pair<int, int>>& places) {
  const Windows& w = params.windows;
  for (int i = 0; i < params.rows.places.size * params.columns.places.size; ++i) {
    const int row = i / params.columns.places.size;
    const int column = i % params.columns.places.size;
    const int y = phase.first_row + row * w.rows.stride.size;
    const int x = phase.first_column + column * w.columns.stride.size;
    if (y >= w.rows.places.size || x >= w.columns.places.size) continue;
    CHECK(places.insert({y, x}).second);
    for (int r = 0; r < phase.row_taps; ++r) {
      for (int s = 0; s < phase.column_taps; ++s) {
        const int p = params.rows.first + row + phase.rows_on + r * params.rows.dilation;
        const int q = params.columns.first + column + phase.columns_on + s * params.columns.dilation;
        const int tap = phase.last_tap - r * params.rows.tap_step - s * params.columns.tap_step;
        if (p < 0 || p >= w.rows.extent || q < 0 || q >= w.columns.extent) continue;  // zeros
        CHECK(products.insert({y, x, tap, p, q}).second);
      }
    }
  }
}

}  // namespace

TEST_CASE("phases of one walk have each place and each product once", "[conv2d]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  for (int round = 0; round < 500; ++round) {
    Conv2dProblem problem = {};
    problem.direction = Direction::dgrad;
    Windows& w = problem.windows;
    w.rows = random_axis(dice), w.columns = random_axis(dice);
    w.channels = divisor_of(8);
    w.flips = dice.one_in(2);
    INFO("rows: stride " << w.rows.stride.size << ", dilation " << w.rows.dilation << ", padding "
                         << w.rows.padding << ", taps " << w.rows.taps.size);
    problem.product.m = 2 * w.rows.places.size * w.columns.places.size;
    problem.product.n = 8, problem.product.batch = 1;
    problem.product.k = w.rows.taps.size * w.columns.taps.size * w.channels.size;

    PhasedTensorConv2dParams params = {};
    params.windows = w;
    conv2d_sm90::add_phases(problem, params);
    const GemmProblem product = conv2d_sm90::phased_product(problem, 64);
    CHECK(product.m == 2 * params.rows.places.size * params.columns.places.size);
    Products products;
    std::set<std::pair<int, int>> places;
    int taps = 0;
    for (int i = 0; i < product.batch; ++i) {
      const TensorPhase& phase = params.phases[i];
      if (i > 0) CHECK(phase.row_taps * phase.column_taps <= taps);  // those with most taps come first
      taps = phase.row_taps * phase.column_taps;
      CHECK(taps * 64 <= product.k);
      add_products(params, phase, products, places);
    }
    CHECK(products == whole(w));
    CHECK(places.size() == static_cast<std::size_t>(w.rows.places.size * w.columns.places.size));

    params.gemm.m = product.m, params.gemm.k = product.k;
    CHECK(conv2d_sm90::whole_product(params).m == problem.product.m);
    CHECK(conv2d_sm90::mean_phase(problem, 64).k <= product.k);
  }
}

TEST_CASE("phases of no sums have no taps, and all places", "[conv2d]") {
  Conv2dProblem problem = {};
  problem.direction = Direction::dgrad;
  Windows& w = problem.windows;
  w.rows = w.columns = {.extent = 3,
                        .places = divisor_of(5),
                        .stride = divisor_of(2),
                        .padding = 1,
                        .dilation = 1,
                        .taps = divisor_of(3)};
  w.channels = divisor_of(8);
  problem.product.m = 25, problem.product.n = 8, problem.product.batch = 1;
  const GemmProblem product = conv2d_sm90::phased_product(problem, 64);
  CHECK(product.k == 0);
  CHECK(product.batch == 4);
  CHECK(product.m == 9);
}
