/// Barriers with phases: how they are made, what arrivals hand on, who waits too early, or for ever.
#include <numeric>

#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

constexpr int barriers = 512;  // byte of shared memory where they begin

arch::SharedAddress barrier(int i) { return arch::shared_memory() + (barriers + 8 * i); }
arch::SharedAddress word(int i) { return arch::shared_memory() + 4 * i; }

enum class Making { right, no_fence, no_barrier, fence_of_another, none };

/// Makes a barrier of 64 arrivals, and meets there.
template <Making making>
void make_and_meet(const Operands& o) {
  const int t = arch::thread_index();
  if (t == 0 && making != Making::none) {
    mark("make");
    arch::mbarrier_init(barrier(0), 64);
    if constexpr (making == Making::right || making == Making::no_barrier) arch::mbarrier_init_fence();
  }
  if constexpr (making == Making::fence_of_another) {
    if (t == 1) arch::mbarrier_init_fence();
  }
  if constexpr (making != Making::no_barrier) arch::block_barrier();
  arch::shared_store(word(t), t);
  mark("use");
  arch::mbarrier_arrive(barrier(0));
  arch::mbarrier_wait(barrier(0), 0);
  arch::global_store(o.out + t, arch::shared_load<int>(word((t + 7) % 64)));
}

void make_at(const Operands& o) {
  if (arch::thread_index() != 0) return;
  mark("make");
  arch::mbarrier_init(arch::shared_memory() + o.argument, 1);
}
void make_of(const Operands& o) {
  if (arch::thread_index() != 0) return;
  mark("make");
  arch::mbarrier_init(barrier(0), o.argument);
}
void make_again(const Operands&) {
  if (arch::thread_index() != 0) return;
  arch::mbarrier_init(barrier(0), 1);
  mark("again");
  arch::mbarrier_init(barrier(0), 1);
}
template <bool writes>
void touch(const Operands&) {
  if (arch::thread_index() != 0) return;
  arch::mbarrier_init(barrier(0), 1);
  arch::mbarrier_init_fence();
  if (writes) {
    mark("touch");
    arch::shared_store(barrier(0) + 4, 0);
  } else {
    mark("touch");
    arch::shared_load<int>(barrier(0));
  }
}

/// Makes barriers, each of so many arrivals.
void make(int count, int arrivals) {
  if (arch::thread_index() == 0) {
    for (int i = 0; i < count; ++i) arch::mbarrier_init(barrier(i), arrivals);
    arch::mbarrier_init_fence();
  }
  arch::block_barrier();
}

enum class Slip {
  none,
  no_full,
  no_empty,
  wrong_full,
  wrong_empty,
  late_parity,
  one_arrival_less,
  arrive_first
};

/// A warp fills two stages in turn, the other one reads them.
template <Slip slip>
void ring(const Operands& o) {
  constexpr int stages = 2;
  constexpr int rounds = 7;
  const int t = arch::thread_index() % 32;
  make(2 * stages, 32);
  int parity = 0;
  for (int i = 0; i < rounds; ++i) {
    const int stage = i % stages;
    const auto full = barrier(stage);
    const auto empty = barrier(stages + stage);
    if (arch::thread_index() < 32) {
      if constexpr (slip != Slip::no_empty) {
        mark("wait for empty");
        arch::mbarrier_wait(empty, parity ^ (slip == Slip::wrong_empty ? 0 : 1));
      }
      if constexpr (slip == Slip::arrive_first) arch::mbarrier_arrive(full);
      mark("write");
      arch::shared_store(word(32 * stage + t), 1000 * i + t);
      if constexpr (slip != Slip::arrive_first) {
        if (slip != Slip::one_arrival_less || t != 5 || i != 3) arch::mbarrier_arrive(full);
      }
    } else {
      if constexpr (slip != Slip::no_full) {
        mark("wait for full");
        arch::mbarrier_wait(full,
                            slip == Slip::late_parity ? 0 : parity ^ (slip == Slip::wrong_full ? 1 : 0));
      }
      mark("read");
      const int x = arch::shared_load<int>(word(32 * stage + (t + 1) % 32));
      arch::mbarrier_arrive(empty);
      arch::global_store(o.out + 32 * i + t, x);
    }
    if (stage == stages - 1) parity ^= 1;
  }
}

std::vector<int> ring_numbers() {
  std::vector<int> expected;
  for (int i = 0; i < 7; ++i) {
    for (int t = 0; t < 32; ++t) expected.push_back(1000 * i + (t + 1) % 32);
  }
  return expected;
}

/// A barrier's phase before its first counts as ended, and phases of one parity look alike.
void parities(const Operands& o) {
  if (arch::thread_index() != 0) return;
  arch::mbarrier_init(barrier(0), 1);
  arch::mbarrier_init_fence();
  arch::mbarrier_wait(barrier(0), 1);
  for (int i = 0; i < 4; ++i) {
    arch::mbarrier_arrive(barrier(0));
    arch::mbarrier_wait(barrier(0), i % 2);
  }
  arch::global_store(o.out, 1);
  if (o.argument == 0) return;
  mark("wait");
  arch::mbarrier_wait(barrier(0), o.argument == 1 ? 0 : 2);
}

/// Who does not arrive hands nothing on.
void silent_writer(const Operands& o) {
  const int t = arch::thread_index();
  make(1, 32);
  mark("write");
  arch::shared_store(word(t), t);
  if (t < 32) arch::mbarrier_arrive(barrier(0));
  arch::mbarrier_wait(barrier(0), 0);
  mark("read");
  const int x = arch::shared_load<int>(word((t + 32) % 64));
  arch::global_store(o.out + t, x);
}

enum class Remote { right, no_wait, no_end, relaxed_end, ended };

/// The threads of block 1 tell block 0, through global memory, what to show.
template <Remote slip>
void tell_peer(const Operands& o) {
  const int t = arch::thread_index();
  if (t == 0) {
    arch::mbarrier_init(barrier(0), 64);
    arch::mbarrier_init_fence();
  }
  arch::cluster_arrive_relaxed();
  arch::cluster_wait();
  if (arch::cluster_rank() == 1) {
    arch::global_store(o.out + t, 9 * t);
    mark("arrive");
    arch::mbarrier_arrive_at(barrier(0), 0);
  } else if constexpr (slip == Remote::right) {
    arch::mbarrier_wait(barrier(0), 0);
    arch::global_store(o.out + 64 + t, arch::global_load<int>(o.out + (t + 3) % 64));
  }
  if constexpr (slip == Remote::relaxed_end) {
    arch::cluster_arrive_relaxed();
    arch::cluster_wait();
  }
}

/// The same before the other block's barriers are known to be made.
template <bool fence, bool meet>
void tell_early(const Operands&) {
  if (arch::thread_index() == 0) {
    arch::mbarrier_init(barrier(0), 64);
    if (fence) arch::mbarrier_init_fence();
  }
  if (meet) {
    arch::cluster_arrive();
    arch::cluster_wait();
  }
  mark("arrive");
  arch::mbarrier_arrive_at(barrier(0), 1 - arch::cluster_rank());
}

/// A ring of two stages: lane 0 of a warp fills them, and lane 0 of another warp releases them for its warp.
/// Its other lanes have seen that a stage is full by then, or may come too late.
template <bool right>
void pass_ring(const Operands&) {
  constexpr int stages = 2;
  const int lane = arch::lane_index();
  const bool fills = arch::warp_index() == 0;
  if (arch::thread_index() == 0) {
    for (int i = 0; i < 2 * stages; ++i) arch::mbarrier_init(barrier(i), 1);
    arch::mbarrier_init_fence();
  }
  arch::block_barrier();
  for (int i = 0; i < 20 * stages; ++i) {
    const int full = i % stages;
    const int parity = i / stages % 2;
    if (fills) {
      if (lane != 0) break;
      arch::mbarrier_wait(barrier(stages + full), parity ^ 1);
      arch::mbarrier_arrive(barrier(full));
    } else {
      arch::mbarrier_wait(barrier(full), parity);
      if constexpr (right) arch::warp_barrier();
      if (lane == 0) arch::mbarrier_arrive(barrier(stages + full));
    }
  }
  arch::warp_barrier();
}

}  // namespace

TEST_CASE("A barrier is made, fenced, and then used by others", "[mbarrier]") {
  std::vector<int> expected;
  for (int t = 0; t < 64; ++t) expected.push_back((t + 7) % 64);
  fine(make_and_meet<Making::right>, {}, expected);
  caught(make_and_meet<Making::none>, {},
         {"uses an mbarrier at byte 512 of shared memory of block 0, where none was made", "@use"});
  caught(make_and_meet<Making::no_fence>, {},
         {"made an mbarrier by", "@make", "which no mbarrier_init_fence follows", "@use"});
  caught(make_and_meet<Making::fence_of_another>, {},
         {"@make", "which no mbarrier_init_fence follows", "@use"});
  caught(make_and_meet<Making::no_barrier>, {}, {"uses ", "mbarrier at byte 512 of shared memory", "@use"});
}

TEST_CASE("A barrier takes eight aligned bytes of its own", "[mbarrier]") {
  fine(make_at, {.argument = 1016});
  caught(make_at, {.argument = 516}, {"shared memory at byte 516, which is not a multiple of 8", "@make"});
  caught(make_at, {.argument = 1024},
         {"at byte 1024 of shared memory, of which the launch has 1024", "@make"});
  caught(make_again, {}, {"race: byte 512 of shared memory was made an mbarrier by", "@again"});
  caught(touch<false>, {}, {"race: byte 512 of shared memory was made an mbarrier by", "reads it", "@touch"});
  caught(touch<true>, {}, {"race: byte 516 of shared memory was made an mbarrier by", "writes it", "@touch"});
  for (const int arrivals : {0, -1, 1 << 20}) {
    caught(make_of, {.argument = arrivals},
           {"makes an mbarrier of " + std::to_string(arrivals) + " arrivals", "@make"});
  }
}

TEST_CASE("A ring of stages", "[mbarrier]") {
  fine(ring<Slip::none>, {}, ring_numbers());
  caught(ring<Slip::no_full>, {}, {"of shared memory", "@read"});
  caught(ring<Slip::wrong_full>, {}, {"of shared memory"});
  caught(ring<Slip::arrive_first>, {}, {"of shared memory", "@write"});
  // Who runs two phases ahead is not seen by a wait: its parity is the same again.
  caught(ring<Slip::no_empty>, {}, {"of shared memory"});
  caught(ring<Slip::wrong_empty>, {},
         {"deadlock: no thread can go on", "(and 31 more) waits at the mbarrier at byte 528 of shared memory",
          "lacks 32 of 32 arrivals and 0 bytes of copies", "@wait for empty", "@wait for full"});
  caught(ring<Slip::one_arrival_less>, {},
         {"deadlock: no thread can go on", "phase of parity 1",
          "phase 1 lacks 1 of 32 arrivals and 0 bytes of copies"});
}

TEST_CASE("Parities are those of phases", "[mbarrier]") {
  fine(parities, {}, {1});
  caught(parities, {.argument = 1},
         {"deadlock", "for a phase of parity 0 to end; its phase 4 lacks 1 of 1 arrivals", "@wait"});
  caught(parities, {.argument = 2}, {"waits for parity 2", "@wait"});
  caught(ring<Slip::late_parity>, {}, {"shared memory"});
}

TEST_CASE("A phase hands on what arrived", "[mbarrier]") {
  caught(silent_writer, {}, {"of shared memory", "@read"});
}

TEST_CASE("Arrivals at another block's barrier", "[mbarrier]") {
  std::vector<int> expected(128);
  for (int t = 0; t < 64; ++t) {
    expected[static_cast<std::size_t>(t)] = 9 * t;
    expected[static_cast<std::size_t>(t) + 64] = 9 * ((t + 3) % 64);
  }
  const test::Setup setup = {.grid = 2, .cluster = 2};
  fine(tell_peer<Remote::right>, setup, expected);
  caught(tell_peer<Remote::no_wait>, setup, {"shared memory", "@arrive"});
  caught(tell_peer<Remote::relaxed_end>, setup,
         {"block 0 ends, though nothing orders that after", "@arrive"});
  caught(tell_early<true, false>, setup, {"uses ", "mbarrier at byte 512 of shared memory", "@arrive"});
  caught(tell_early<false, true>, setup, {"which no mbarrier_init_fence follows", "@arrive"});
}

TEST_CASE("A lane that releases a stage before the others have seen it", "[mbarrier]") {
  int late = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CHECK(test::run_once(pass_ring<true>, {}, seed).outcome.fault == "");
    late += test::run_once(pass_ring<false>, {}, seed).outcome.fault.starts_with("deadlock") ? 1 : 0;
  }
  CHECK(late >= 5);
}
