/// Fibers, however they switch: compiled once with Boost.Context and once without.
#include "emulator/fiber.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using quarry::emulator::Fiber;
using quarry::emulator::Stack;
using quarry::emulator::StackPool;

namespace {

/// A fiber that counts its turns.
struct Counting {
  Fiber fiber;
  int turns = 0;
  int step = 1;

  static void run(void* argument) {
    auto& self = *static_cast<Counting*>(argument);
    // On the stack, so that one which another fiber writes to is noticed.
    std::array<int, 100> own;
    own.fill(self.step);
    for (std::size_t i = 0;; i = (i + 1) % own.size()) {
      self.turns += own[i];
      self.fiber.suspend();
    }
  }
};

/// Depth of a recursion with large frames.
int deep(int levels) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(levels);
  frame[1023] = 1;
  return levels == 0 ? 0 : deep(levels - 1) + frame[1023];
}

struct Deep {
  Fiber fiber;
  int depth = 0;

  static void run(void* argument) {
    auto& self = *static_cast<Deep*>(argument);
    self.depth = deep(60);
    for (;;) self.fiber.suspend();
  }
};

/// Suspends at the bottom of a recursion, where it is given up.
struct GivenUp {
  Fiber fiber;
  int reached = 0;

  // NOLINTNEXTLINE(misc-no-recursion)
  int down(int levels) {
    volatile int frame[16] = {levels};
    if (levels == 0) {
      ++reached;
      while (reached > 0) fiber.suspend();
      return 0;
    }
    return down(levels - 1) + frame[0];
  }
  static void run(void* argument) { static_cast<GivenUp*>(argument)->down(20); }
};

/// A fiber that resumes another one: they nest.
struct Outer {
  Fiber fiber;
  Counting inner;

  static void run(void* argument) {
    auto& self = *static_cast<Outer*>(argument);
    for (;;) {
      self.inner.fiber.resume();
      self.fiber.suspend();
    }
  }
};

}  // namespace

TEST_CASE("A fiber runs from suspension to suspension", "[fiber]") {
  StackPool stacks;
  Counting counting;
  counting.fiber.start(stacks.at(0), &Counting::run, &counting);
  CHECK(counting.turns == 0);
  for (int i = 1; i <= 300; ++i) {
    counting.fiber.resume();
    CHECK(counting.turns == i);
  }
}

TEST_CASE("Many fibers in any order", "[fiber]") {
  constexpr unsigned count = 2000;
  const unsigned seed = quarry::lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  StackPool stacks;
  std::deque<Counting> fibers(count);
  std::vector<int> expected(count, 0);
  for (unsigned i = 0; i < count; ++i) {
    fibers[i].step = static_cast<int>(i) + 1;
    fibers[i].fiber.start(stacks.at(i), &Counting::run, &fibers[i]);
  }
  for (unsigned turn = 0; turn < 10 * count; ++turn) {
    const unsigned i = static_cast<unsigned>(random()) % count;
    fibers[i].fiber.resume();
    expected[i] += static_cast<int>(i) + 1;
  }
  for (unsigned i = 0; i < count; ++i) REQUIRE(fibers[i].turns == expected[i]);
}

TEST_CASE("A fiber that is given up leaves its stack to the next", "[fiber]") {
  StackPool stacks;
  const Stack stack = stacks.at(0);
  GivenUp given_up;
  Counting counting;
  for (int round = 1; round <= 50; ++round) {
    given_up.fiber.start(stack, &GivenUp::run, &given_up);
    given_up.fiber.resume();
    given_up.fiber.resume();
    CHECK(given_up.reached == round);
    counting.fiber.start(stack, &Counting::run, &counting);
    counting.fiber.resume();
    CHECK(counting.turns == round);
  }
}

TEST_CASE("A fiber that never ran may be given up", "[fiber]") {
  StackPool stacks;
  Counting never;
  Counting counting;
  never.fiber.start(stacks.at(0), &Counting::run, &never);
  counting.fiber.start(stacks.at(0), &Counting::run, &counting);
  counting.fiber.resume();
  CHECK(counting.turns == 1);
  CHECK(never.turns == 0);
}

TEST_CASE("A fiber has room for a deep call", "[fiber]") {
  StackPool stacks;
  Deep deeper;
  deeper.fiber.start(stacks.at(0), &Deep::run, &deeper);
  deeper.fiber.resume();
  CHECK(deeper.depth == 60);
}

TEST_CASE("Fibers nest", "[fiber]") {
  StackPool stacks;
  Outer outer;
  outer.inner.fiber.start(stacks.at(0), &Counting::run, &outer.inner);
  outer.fiber.start(stacks.at(1), &Outer::run, &outer);
  for (int i = 1; i <= 10; ++i) {
    outer.fiber.resume();
    CHECK(outer.inner.turns == i);
  }
}

TEST_CASE("Stacks stay where they are, apart from each other", "[fiber]") {
  StackPool stacks;
  const Stack third = stacks.at(2);
  const Stack first = stacks.at(0);
  CHECK(stacks.at(2).bottom == third.bottom);
  REQUIRE(first.bottom != nullptr);
  REQUIRE(third.bottom != nullptr);
  const auto* const a = static_cast<const char*>(first.bottom);
  const auto* const b = static_cast<const char*>(third.bottom);
  CHECK((a + first.bytes < b || b + third.bytes < a));
  CHECK(first.bytes >= 128 * 1024);
}

TEST_CASE("Nothing lies below a stack", "[fiber]") {
  StackPool stacks;
  const auto* const bottom = static_cast<const char*>(stacks.at(1).bottom);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  // The system says so, without a signal.
  CHECK(write(ends[1], bottom, 1) == 1);
  CHECK(write(ends[1], bottom - 1, 1) == -1);
  CHECK(errno == EFAULT);
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("Each thread of the host has fibers of its own", "[fiber]") {
  int turns[4] = {};
  {
    std::vector<std::jthread> threads;
    for (int& result : turns) {
      threads.emplace_back([&result] {
        StackPool stacks;
        Counting counting;
        counting.fiber.start(stacks.at(0), &Counting::run, &counting);
        for (int i = 0; i < 1000; ++i) counting.fiber.resume();
        result = counting.turns;
      });
    }
  }
  for (const int each : turns) CHECK(each == 1000);
}
