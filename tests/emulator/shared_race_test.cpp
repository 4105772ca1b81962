/// Threads of a block that share memory, with and without what orders them.
#include <numeric>

#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

const std::vector<std::string> race = {"race:", "of shared memory was", "@first", "@second",
                                       "and nothing orders the two"};

arch::SharedAddress word(int i) { return arch::shared_memory() + 4 * i; }

/// What stands between two accesses.
enum class Between {
  nothing,
  block_barrier,
  warp_barrier,
  warp_index,
  load_matrix,
};

template <Between between>
void pass() {
  if constexpr (between == Between::block_barrier) arch::block_barrier();
  if constexpr (between == Between::warp_barrier) arch::warp_barrier();
  if constexpr (between == Between::warp_index) arch::warp_index();
  if constexpr (between == Between::load_matrix) {
    arch::load_matrix_x4(arch::shared_memory() + 512 + 16 * arch::lane_index());
  }
}

/// Fills shared memory, so that nothing is unwritten.
void fill() {
  for (int i = arch::thread_index(); i < 256; i += 64) arch::shared_store(word(i), i);
  arch::block_barrier();
}

/// Each thread writes a word and reads the word of thread `t ^ distance`: 1 is a lane of its warp, 32 is not.
template <int distance, Between between>
void write_read(const Operands& o) {
  fill();
  const int t = arch::thread_index();
  mark("first");
  arch::shared_store(word(t), 100 + t);
  pass<between>();
  mark("second");
  const int x = arch::shared_load<int>(word(t ^ distance));
  arch::global_store(o.out + t, x);
}

/// The same with the read first.
template <int distance, Between between>
void read_write(const Operands& o) {
  fill();
  const int t = arch::thread_index();
  mark("first");
  const int x = arch::shared_load<int>(word(t ^ distance));
  pass<between>();
  mark("second");
  arch::shared_store(word(t), 100 + t);
  arch::global_store(o.out + t, x);
}

/// Two threads write a word, the same value even.
template <int distance, Between between>
void write_write(const Operands& o) {
  fill();
  const int t = arch::thread_index();
  mark("first");
  if ((t & distance) == 0) arch::shared_store(word(t), t);
  pass<between>();
  mark("second");
  if ((t & distance) != 0) arch::shared_store(word(t ^ distance), t ^ distance);
  arch::block_barrier();
  arch::global_store(o.out + t, arch::shared_load<int>(word(t & ~distance)));
}

/// All read a word, which one of them writes then. Wrong: warp 1 reads it behind the barrier.
template <bool right>
void many_readers(const Operands& o) {
  fill();
  const int t = arch::thread_index();
  int x = 0;
  if (right || t < 32) {
    mark("before");
    x = arch::shared_load<int>(word(5));
  }
  arch::block_barrier();
  if (!right && t >= 32) {
    mark("first");
    x = arch::shared_load<int>(word(5));
  }
  if (t == 11) {
    mark("second");
    arch::shared_store(word(5), 0);
  }
  arch::global_store(o.out + t, x);
}

/// Threads write neighbouring bytes of a word. Wrong: two of them write one byte.
template <bool right>
void bytes(const Operands& o) {
  const int t = arch::thread_index();
  const arch::SharedAddress at = arch::shared_memory() + (right ? t : t / 2);
  mark("write");
  arch::shared_store(at, static_cast<unsigned char>(t));
  arch::block_barrier();
  arch::global_store(o.out + t, int{arch::shared_load<unsigned char>(at)});
}

std::vector<int> expected_of(int first, int mask) {
  std::vector<int> result;
  for (int t = 0; t < 64; ++t) result.push_back(first + (t ^ mask));
  return result;
}

template <Between between>
void caught_within_warp() {
  caught(write_read<1, between>, {}, race);
  caught(read_write<1, between>, {}, race);
  caught(write_write<1, between>, {}, race);
}

}  // namespace

TEST_CASE("The block's barrier orders all its threads", "[race][shared]") {
  fine(write_read<1, Between::block_barrier>, {}, expected_of(100, 1));
  fine(write_read<32, Between::block_barrier>, {}, expected_of(100, 32));
  fine(read_write<1, Between::block_barrier>, {}, expected_of(0, 1));
  fine(read_write<32, Between::block_barrier>, {}, expected_of(0, 32));
  fine(write_write<1, Between::block_barrier>, {});
  fine(write_write<32, Between::block_barrier>, {});
}

TEST_CASE("Threads of different warps need the block's barrier", "[race][shared]") {
  caught(write_read<32, Between::nothing>, {}, race);
  caught(read_write<32, Between::nothing>, {}, race);
  caught(write_write<32, Between::nothing>, {}, race);
  caught(write_read<32, Between::warp_barrier>, {}, race);
  caught(read_write<32, Between::warp_barrier>, {}, race);
  caught(write_write<32, Between::warp_barrier>, {}, race);
}

TEST_CASE("Lanes of a warp need the warp's barrier", "[race][shared]") {
  fine(write_read<1, Between::warp_barrier>, {}, expected_of(100, 1));
  fine(read_write<1, Between::warp_barrier>, {}, expected_of(0, 1));
  fine(write_write<1, Between::warp_barrier>, {});
  caught_within_warp<Between::nothing>();
}

TEST_CASE("What a warp does together does not order memory", "[race][shared]") {
  caught_within_warp<Between::warp_index>();
  caught_within_warp<Between::load_matrix>();
}

TEST_CASE("Who writes comes after all who read", "[race][shared]") {
  fine(many_readers<true>, {}, std::vector<int>(64, 5));
  caught(many_readers<false>, {}, race);
}

TEST_CASE("Races are of bytes", "[race][shared]") {
  std::vector<int> expected(64);
  std::iota(expected.begin(), expected.end(), 0);
  fine(bytes<true>, {}, expected);
  caught(bytes<false>, {}, {"race:", "of shared memory was written by", "writes it", "@write"});
}

TEST_CASE("A race names the byte and both threads", "[race][shared]") {
  const auto kernel = [](const Operands&) {
    if (arch::thread_index() == 3) {
      mark("first");
      arch::shared_store(word(9), 1);
    }
    arch::warp_index();
    if (arch::thread_index() == 4) {
      mark("second");
      arch::shared_load<unsigned char>(word(9) + 2);
    }
  };
  caught(kernel, {.threads = 32},
         {"race: byte 38 of shared memory was written by thread 3 (warp 0, lane 3) of block 0 at ", "@first",
          "; thread 4 (warp 0, lane 4) of block 0 reads it at ", "@second"});
}

namespace {

/// Reads a word of which the launch wrote only a part.
void read_unwritten(const Operands& o) {
  const int t = arch::thread_index();
  arch::shared_store(word(t), 1);
  arch::shared_store(word(64), arch::Vector<unsigned char, 2>{});
  arch::block_barrier();
  mark("read");
  arch::shared_load<int>(word(o.argument));
}

}  // namespace

TEST_CASE("Shared memory is written before it is read", "[unwritten][shared]") {
  fine(read_unwritten, {.threads = 1, .argument = 0});
  caught(read_unwritten, {.threads = 1, .argument = 1},
         {"reads byte 4 of shared memory, which was never written", "@read"});
  caught(
      read_unwritten, {.threads = 1, .argument = 64},
      {"thread 0 (warp 0, lane 0) of block 0 reads byte 258 of shared memory, which was never written, at ",
       "@read"});
}

TEST_CASE("A block finds nothing of the block before it", "[unwritten][shared]") {
  const auto kernel = [](const Operands&) {
    // A block's shared memory is a new one, even if an earlier block of the same processor wrote there.
    const bool writes = arch::block_index() != 5;
    if (writes) arch::shared_store(word(0), 1);
    mark("read");
    arch::shared_load<int>(word(0));
  };
  caught(kernel, {.grid = 6, .threads = 1},
         {"of block 5 reads byte 0 of shared memory, which was never written", "@read"});
}
