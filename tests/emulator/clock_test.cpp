/// Vector clocks against a set of all events that each thread knows of.
#include "emulator/clock.hpp"

#include <array>
#include <random>

#include "history.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using namespace quarry::emulator;
using test::below;
using test::History;

namespace {

/// Threads do random things; then each thread must know the same events by clocks as by sets.
void compare(std::mt19937& random, unsigned blocks, unsigned threads, int steps) {
  History history(blocks, threads);
  std::array<History::Released, 4> counters;
  for (int step = 0; step < steps; ++step) {
    const std::size_t who = below(random, history.size());
    History::Released& counter = counters[below(random, counters.size())];
    switch (below(random, 8)) {
      case 0: history.meet(test::some_of_block(random, history, threads)); break;
      case 1: counter = history.release(who); break;
      case 2: history.acquire(who, counter); break;
      case 3:  // hands on what was there beside its own
        counter = History::later(counter, history.release(who));
        break;
      default: history.happen(who); break;
    }
  }
  for (std::size_t who = 0; who < history.size(); ++who) {
    for (std::size_t event = 0; event < history.events().size(); ++event) {
      INFO("thread " << who << ", event " << event << " of thread " << history.events()[event].thread
                     << " of block " << history.events()[event].block);
      REQUIRE(history.ordered_by_clock(who, event) == history.ordered(who, event));
    }
  }
}

}  // namespace

TEST_CASE("Views of different lengths: what one is too short for is not known", "[clock]") {
  const View shorter = std::make_shared<const std::vector<Step>>(std::vector<Step>{3, 1});
  const View longer = with_known_step(shorter, 4, 7);
  CHECK(*longer == std::vector<Step>{3, 1, 0, 0, 7});
  CHECK(*with_known_step(longer, 4, 2) == *longer);
  CHECK(*with_known_step(nullptr, 1, 2) == std::vector<Step>{0, 2});
  CHECK(later(shorter, longer) == longer);  // shared where one knows all of the other
  CHECK(later(longer, shorter) == longer);
  const View other = std::make_shared<const std::vector<Step>>(std::vector<Step>{1, 5, 2});
  CHECK(*later(longer, other) == std::vector<Step>{3, 5, 2, 0, 7});
  CHECK(*later(other, longer) == std::vector<Step>{3, 5, 2, 0, 7});

  const Clock clock = {1, longer, std::make_shared<const ForeignViews>(ForeignViews{{9, shorter}})};
  CHECK(knows(clock, 0, 4, 7));
  CHECK_FALSE(knows(clock, 0, 4, 8));
  CHECK_FALSE(knows(clock, 0, 5, 1));
  CHECK(knows_of_block(clock, 9, 1, 1));
  CHECK_FALSE(knows_of_block(clock, 9, 2, 1));
}

TEST_CASE("Clocks know what happened before", "[clock]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 150; ++round) {
    const auto blocks = static_cast<unsigned>(1 + below(random, 4));
    const auto threads = static_cast<unsigned>(1 + below(random, 5));
    INFO("round " << round << ": " << blocks << " blocks of " << threads << " threads");
    compare(random, blocks, threads, 150);
  }
}

TEST_CASE("A thread knows its own past alone at first", "[clock]") {
  History history(2, 2);
  for (std::size_t who = 0; who < 4; ++who) history.happen(who);
  for (std::size_t who = 0; who < 4; ++who) {
    for (std::size_t event = 0; event < 4; ++event)
      CHECK(history.ordered_by_clock(who, event) == (who == event));
  }
}

TEST_CASE("What happens after a release is not handed on", "[clock]") {
  History history(2, 1);
  const std::size_t before = history.happen(0);
  const History::Released released = history.release(0);
  const std::size_t after = history.happen(0);
  history.acquire(1, released);
  CHECK(history.ordered_by_clock(1, before));
  CHECK_FALSE(history.ordered_by_clock(1, after));
}

TEST_CASE("What was never released teaches nothing", "[clock]") {
  History history(2, 1);
  history.happen(0);
  history.acquire(1, {});
  CHECK_FALSE(history.ordered_by_clock(1, 0));
}
