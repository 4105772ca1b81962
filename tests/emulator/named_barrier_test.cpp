/// Named barriers: whom they order, and counts and numbers that do not fit.
#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

arch::SharedAddress word(int i) { return arch::shared_memory() + 4 * i; }

const std::vector<std::string> race = {"race:", "of shared memory was", "@write", "@read"};

/// How each side of a hand-over comes to the barrier.
enum class Comes { not_at_all, arrives, waits };

template <Comes comes>
void come(int id, int threads) {
  if constexpr (comes == Comes::waits) arch::named_barrier(id, threads);
  if constexpr (comes == Comes::arrives) arch::named_barrier_arrive(id, threads);
}

/// Warp 0 writes, warp 1 reads that.
template <Comes writer, Comes reader>
void hand_over(const Operands& o) {
  const int t = arch::thread_index();
  constexpr int threads = (writer == Comes::not_at_all ? 0 : 32) + (reader == Comes::not_at_all ? 0 : 32);
  arch::shared_store(word(t % 32 + (t < 32 ? 0 : 32)), 0);
  arch::block_barrier();
  if (t < 32) {
    mark("write");
    arch::shared_store(word(t), 2 * t);
    come<writer>(3, threads);
  } else {
    come<reader>(3, threads);
    mark("read");
    const int x = arch::shared_load<int>(word(63 - t));
    arch::global_store(o.out + t - 32, x);
  }
}

/// Warps 0 and 1 meet; warp 2 does not, and reads.
template <bool right>
void bystander(const Operands& o) {
  const int t = arch::thread_index();
  if (t < 64) {
    arch::shared_store(word(t), 0);
    arch::named_barrier(1, 64);
    mark("write");
    arch::shared_store(word(63 - t), t);
    if constexpr (!right) arch::named_barrier(1, 64);
  }
  if constexpr (right) arch::named_barrier(2, 96);
  if (t >= 64) {
    if constexpr (!right) arch::named_barrier(2, 32);
    mark("read");
    arch::shared_load<int>(word(t - 64));
  }
  arch::global_store(o.out + t, 1);
}

/// Writers come to one barrier, readers to another: `readers_id` and `writers_id`.
template <int writers_id, int readers_id>
void ids(const Operands& o) {
  const int t = arch::thread_index();
  constexpr int threads = writers_id == readers_id ? 64 : 32;
  arch::shared_store(word(t), 0);
  arch::block_barrier();
  if (t < 32) {
    mark("write");
    arch::shared_store(word(t), t);
    arch::named_barrier(writers_id, threads);
  } else {
    arch::named_barrier(readers_id, threads);
    mark("read");
    arch::global_store(o.out + t, arch::shared_load<int>(word(t - 32)));
  }
}

/// A ring of two stages between a producing and two consuming warps: full and empty barriers for each stage.
/// A sum for each consumer. Wrong: it says that a stage is empty before it has read it.
template <bool right>
void ring(const Operands& o) {
  constexpr int turns = 6;
  const int t = arch::thread_index();
  int sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    const int stage = turn % 2;
    if (t < 32) {
      if (turn >= 2) arch::named_barrier(3 + stage, 96);
      mark("write");
      arch::shared_store(word(stage * 32 + t), turn * 100 + t);
      arch::named_barrier_arrive(1 + stage, 96);
    } else {
      arch::named_barrier(1 + stage, 96);
      if (!right && turn + 2 < turns) arch::named_barrier_arrive(3 + stage, 96);
      mark("read");
      sum += arch::shared_load<int>(word(stage * 32 + t % 32));
      if (right && turn + 2 < turns) arch::named_barrier_arrive(3 + stage, 96);
    }
  }
  if (t >= 32) arch::global_store(o.out + t - 32, sum);
}

/// Arrives with a number and a count that the argument tells: 100 * id + threads.
void odd(const Operands& o) {
  if (arch::thread_index() < 64) {
    mark("barrier");
    arch::named_barrier(o.argument / 100, o.argument % 100);
  }
}

void mismatch(const Operands&) {
  const bool first = arch::thread_index() < 32;
  if (first) {
    mark("one");
    arch::named_barrier(4, 64);
  } else {
    mark("other");
    arch::named_barrier(4, 96);
  }
}

}  // namespace

TEST_CASE("A named barrier orders who came before who waits", "[barrier][named]") {
  std::vector<int> expected;
  for (int t = 0; t < 32; ++t) expected.push_back(2 * (31 - t));
  fine(hand_over<Comes::waits, Comes::waits>, {}, expected);
  fine(hand_over<Comes::arrives, Comes::waits>, {}, expected);
  caught(hand_over<Comes::arrives, Comes::arrives>, {}, race);
  caught(hand_over<Comes::waits, Comes::arrives>, {}, race);
  caught(hand_over<Comes::not_at_all, Comes::waits>, {}, race);
  caught(hand_over<Comes::arrives, Comes::not_at_all>, {}, race);
}

TEST_CASE("A named barrier orders nobody else", "[barrier][named]") {
  fine(bystander<true>, {.threads = 96}, std::vector<int>(96, 1));
  caught(bystander<false>, {.threads = 96}, {"shared memory", "@read"});
}

TEST_CASE("Barriers of different numbers are different", "[barrier][named]") {
  fine(ids<7, 7>, {});
  caught(ids<7, 8>, {}, race);
}

TEST_CASE("A ring of stages between warps of different roles", "[barrier][named]") {
  std::vector<int> expected;
  for (int t = 32; t < 96; ++t) expected.push_back(1500 + 6 * (t % 32));
  fine(ring<true>, {.threads = 96}, expected);
  caught(ring<false>, {.threads = 96}, race);
}

TEST_CASE("Counts and numbers of named barriers", "[barrier][named]") {
  fine(odd, {.argument = 164});
  fine(odd, {.argument = 1532});
  const std::string count = ", is needed";
  caught(odd, {.argument = 133},
         {"arrives at named barrier 1 at ", "@barrier", "with 33 threads: a multiple of 32", count});
  caught(odd, {.argument = 100}, {"arrives at named barrier 1 at ", "@barrier", "with 0 threads", count});
  caught(odd, {.argument = 196}, {"@barrier", "with 96 threads", "at most the block's 64"});
  caught(odd, {.argument = 64}, {"arrives at named barrier 0 at ", "@barrier", "there are barriers 1 to 15"});
  caught(odd, {.argument = 1664},
         {"arrives at named barrier 16 at ", "@barrier", "there are barriers 1 to 15"});
  caught(odd, {.argument = -164},
         {"arrives at named barrier -1 at ", "@barrier", "there are barriers 1 to 15"});
  caught(mismatch, {.threads = 96}, {"arrives at named barrier 4 at ", " threads, others with "});
}

TEST_CASE("More threads awaited at a named barrier than come", "[barrier][named][deadlock]") {
  caught(odd, {.threads = 96, .argument = 196},
         {"deadlock: no thread can go on", "(and 63 more) waits at named barrier 1 at ", "@barrier"});
}
