// Comparisons of results: what is found does not depend on the threads, and is what a plain loop finds.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "lab/reference/reference.hpp"
#include "support/catch_compat.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;

bool is_same(const Comparison& one, const Comparison& other) {
  return one.error == other.error && one.bound == other.bound && one.matrix == other.matrix &&
         one.row == other.row && one.column == other.column && one.expected == other.expected &&
         one.got == other.got && one.known == other.known && one.outside == other.outside;
}

/// An output of f32 and what it should be: whole numbers, of which some outputs are off.
struct Output {
  std::vector<float> got;
  Expected expected;
  TensorView view;
};

Output some_output(std::mt19937_64& random, bool has_radii) {
  const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
  const std::int64_t matrices = 1 + below(3);
  const std::int64_t all_rows = 1 + below(400);
  const std::int64_t columns = 1 + below(700);
  Output made;
  made.got.resize(static_cast<std::size_t>(matrices * all_rows * columns));
  made.view = TensorView::row_major(made.got.data(), DType::f32, {matrices, all_rows, columns});
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < all_rows; ++row) {
    if (row == 0 || below(4) > 0) rows.push_back(row);
  }
  made.expected = expected_output(Operand::out, made.view, rows);
  for (double& each : made.expected.values) each = static_cast<double>(below(100));
  if (has_radii) made.expected.radii.assign(made.expected.values.size(), 0.5);
  std::size_t next = 0;
  for (std::int64_t matrix = 0; matrix < matrices; ++matrix) {
    for (const std::int64_t row : rows) {
      for (std::int64_t column = 0; column < columns; ++column, ++next) {
        // Several elements are off equally far: the first of them is shown.
        const double off = below(20'000) == 0 ? static_cast<double>(1 + below(2)) : 0;
        made.got[static_cast<std::size_t>((matrix * all_rows + row) * columns + column)] =
            static_cast<float>(made.expected.values[next] + off);
      }
    }
  }
  return made;
}

/// The place of the element that is furthest off among those compared, by a plain loop.
std::size_t furthest(const Output& output) {
  std::size_t place = 0;
  double worst = -1;
  std::size_t next = 0;
  const std::int64_t columns = output.expected.columns;
  for (std::int64_t matrix = 0; matrix < output.expected.matrices; ++matrix) {
    for (const std::int64_t row : output.expected.rows) {
      for (std::int64_t column = 0; column < columns; ++column, ++next) {
        const auto at =
            static_cast<std::size_t>((matrix * output.expected.all_rows + row) * columns + column);
        const double off = std::abs(output.got[at] - output.expected.values[next]);
        if (off > worst) worst = off, place = at;
      }
    }
  }
  return place;
}

}  // namespace

TEST_CASE("comparisons do not depend on threads, and show the first output that is furthest off",
          "[reference]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 30; ++round) {
    const bool has_radii = round % 2 == 0;
    const Output output = some_output(random, has_radii);
    const Tolerance tolerance = {.output = 1e-7, .accumulation = 1e-7};
    const Comparison alone = compare(output.expected, output.view, tolerance);
    for (const int threads : {2, 7}) {
      CHECK(is_same(alone, compare(output.expected, output.view, tolerance, threads)));
    }
    const auto shown = static_cast<std::size_t>(
        (alone.matrix * output.expected.all_rows + alone.row) * output.expected.columns + alone.column);
    REQUIRE(shown == furthest(output));
    double squares = 0;
    double all = 0;
    std::size_t off = 0;
    std::size_t next = 0;
    for (std::int64_t matrix = 0; matrix < output.expected.matrices; ++matrix) {
      for (const std::int64_t row : output.expected.rows) {
        for (std::int64_t column = 0; column < output.expected.columns; ++column, ++next) {
          const auto at = static_cast<std::size_t>(
              (matrix * output.expected.all_rows + row) * output.expected.columns + column);
          const double difference = output.got[at] - output.expected.values[next];
          squares += difference * difference;
          all += output.expected.values[next] * output.expected.values[next];
          off += difference != 0;
        }
      }
    }
    CHECK(alone.error == Approx(std::sqrt(squares) / (all > 0 ? std::sqrt(all) : 1)));
    if (has_radii) {
      CHECK(alone.known == std::ssize(output.expected.values));
      CHECK(alone.outside == static_cast<std::int64_t>(off));
    }
  }
}
