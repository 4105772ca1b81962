/// Asynchronous copies that are used too early, too late or never waited for.
#include <numeric>

#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

const std::vector<std::string> not_waited_for = {
    "race:", "of shared memory was being written by an asynchronous copy, not waited for", "@copy", "@read"};

/// The i-th 16 bytes of shared memory.
arch::SharedAddress piece(int i) { return arch::shared_memory() + 16 * i; }

/// input(first), input(first + step), ...
std::vector<int> inputs(int count, int first, int step) {
  std::vector<int> result;
  for (int i = 0; i < count; ++i) result.push_back(test::input(first + i * step));
  return result;
}

enum class Fault { none, no_wait, no_commit, one_pending_too_many };

/// Two groups of copies; the thread reads what its second one brought.
template <Fault fault>
void two_copies(const Operands& o) {
  const int t = arch::thread_index();
  arch::copy_async<16>(piece(2 * t), o.in, 16);
  arch::copy_async_commit();
  mark("copy");
  arch::copy_async<16>(piece(2 * t + 1), o.in + 4 * t, 16);
  if constexpr (fault != Fault::no_commit) arch::copy_async_commit();
  if constexpr (fault == Fault::one_pending_too_many) arch::copy_async_wait<1>();
  if constexpr (fault == Fault::none || fault == Fault::no_commit) arch::copy_async_wait<0>();
  mark("read");
  const int x = arch::shared_load<int>(piece(2 * t + 1));
  arch::global_store(o.out + t, x);
}

/// A thread reads what its neighbour's copy brought, over what stood there before.
template <bool right>
void neighbours_copy(const Operands& o) {
  const int t = arch::thread_index();
  arch::shared_store(piece(t), arch::Vector<int, 4>{});
  arch::block_barrier();
  mark("copy");
  arch::copy_async<16>(piece(t), o.in + 4 * t, 16);
  arch::copy_async_commit();
  arch::copy_async_wait<0>();
  if constexpr (right) arch::block_barrier();
  mark("read");
  const int x = arch::shared_load<int>(piece((t + 1) % 64));
  arch::global_store(o.out + t, x);
}

enum class Over { store, copy };

/// A thread writes to its piece again, which its neighbour reads.
template <Over over, bool right>
void overwrite(const Operands& o) {
  const int t = arch::thread_index();
  arch::shared_store(piece(t), arch::Vector<int, 4>{t, t, t, t});
  arch::block_barrier();
  mark("read");
  const int x = arch::shared_load<int>(piece((t + 1) % 64));
  if constexpr (right) arch::block_barrier();
  if constexpr (over == Over::store) {
    mark("again");
    arch::shared_store(piece(t), x);
  } else {
    mark("again");
    arch::copy_async<16>(piece(t), o.in + 4 * t, 16);
    arch::copy_async_commit();
    arch::copy_async_wait<0>();
  }
  arch::global_store(o.out + t, x);
}

/// A thread writes where a copy of its own is under way, by a store or by another copy.
template <Over over, bool right>
void write_under_copy(const Operands& o) {
  const int t = arch::thread_index();
  mark("copy");
  arch::copy_async<16>(piece(t), o.in, 16);
  arch::copy_async_commit();
  if constexpr (right) arch::copy_async_wait<0>();
  if constexpr (over == Over::store) {
    mark("again");
    arch::shared_store(piece(t), t);
  } else {
    mark("again");
    arch::copy_async<16>(piece(t), o.in + 4 * t, 16);
    arch::copy_async_commit();
  }
  arch::copy_async_wait<0>();
  arch::global_store(o.out + t, arch::shared_load<int>(piece(t)));
}

/// A thread that ends without waiting for its copies, committed or not.
template <Fault fault>
void end_early(const Operands& o) {
  const int t = arch::thread_index();
  mark("copy");
  arch::copy_async<8>(piece(t), o.in, 8);
  if constexpr (fault != Fault::no_commit) arch::copy_async_commit();
  if constexpr (fault != Fault::no_wait) arch::copy_async_wait<0>();
}

/// Another thread than the one that started a copy waits for it: that orders nothing.
template <bool right>
void others_wait(const Operands& o) {
  const int t = arch::thread_index();
  mark("copy");
  arch::copy_async<16>(piece(t), o.in + 4 * t, 16);
  arch::copy_async_commit();
  if (right || t >= 32) arch::copy_async_wait<0>();
  arch::block_barrier();
  if (t >= 32) {
    mark("read");
    const int x = arch::shared_load<int>(piece(t - 32));
    arch::global_store(o.out + t - 32, x);
  }
  arch::copy_async_wait<0>();
}

enum class Slip { none, no_commit, one_pending_too_many, no_barrier, wait_after_barrier };

/// A main loop of three stages over eight tiles: each thread copies a piece of each tile and sums its
/// neighbour's.
template <Slip slip>
void pipeline(const Operands& o) {
  constexpr int stages = 3;
  constexpr int tiles = 8;
  const int t = arch::thread_index();
  const auto start = [&](int tile) {
    if (tile < tiles) {
      mark("copy");
      arch::copy_async<4>(piece(tile % stages * 64 + t), o.in + tile * 64 + t, 4);
    }
    if constexpr (slip != Slip::no_commit) arch::copy_async_commit();
  };
  for (int tile = 0; tile < stages - 1; ++tile) start(tile);
  int sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    if constexpr (slip != Slip::wait_after_barrier) {
      arch::copy_async_wait<slip == Slip::one_pending_too_many ? stages - 1 : stages - 2>();
    }
    if constexpr (slip != Slip::no_barrier) arch::block_barrier();
    if constexpr (slip == Slip::wait_after_barrier) arch::copy_async_wait<stages - 2>();
    mark("read");
    sum += arch::shared_load<int>(piece(tile % stages * 64 + (t + 1) % 64));
    start(tile + stages - 1);
  }
  arch::copy_async_wait<0>();
  arch::global_store(o.out + t, sum);
}

std::vector<int> pipeline_sums() {
  std::vector<int> sums(64, 0);
  for (int t = 0; t < 64; ++t) {
    for (int tile = 0; tile < 8; ++tile)
      sums[static_cast<std::size_t>(t)] += test::input(tile * 64 + (t + 1) % 64);
  }
  return sums;
}

}  // namespace

TEST_CASE("A copy is read after its wait alone", "[copies]") {
  const test::Setup setup = {.shared_memory = 2048};
  fine(two_copies<Fault::none>, setup, inputs(64, 0, 4));
  caught(two_copies<Fault::no_wait>, setup, not_waited_for);
  caught(two_copies<Fault::no_commit>, setup, not_waited_for);
  caught(two_copies<Fault::one_pending_too_many>, setup, not_waited_for);
}

TEST_CASE("A copy that landed is seen by others after a barrier alone", "[copies]") {
  std::vector<int> expected = inputs(63, 4, 4);
  expected.push_back(test::input(0));
  fine(neighbours_copy<true>, {}, expected);
  caught(neighbours_copy<false>, {}, {"race:", "of shared memory was", "@copy", "@read"});
}

TEST_CASE("A wait covers the thread's own copies alone", "[copies]") {
  fine(others_wait<true>, {}, inputs(32, 0, 4));
  caught(others_wait<false>, {}, {"race:", "written by an asynchronous copy", "@copy", "@read"});
}

TEST_CASE("A stage is written again after all have read it", "[copies]") {
  std::vector<int> expected(64);
  std::iota(expected.begin(), expected.end(), 1);
  expected.back() = 0;
  fine(overwrite<Over::store, true>, {}, expected);
  fine(overwrite<Over::copy, true>, {}, expected);
  caught(overwrite<Over::store, false>, {}, {"race:", "of shared memory was", "@read", "@again"});
  caught(overwrite<Over::copy, false>, {}, {"race:", "of shared memory was", "@read", "@again"});
}

TEST_CASE("Nothing is written where a copy is under way", "[copies]") {
  std::vector<int> expected(64);
  std::iota(expected.begin(), expected.end(), 0);
  fine(write_under_copy<Over::store, true>, {}, expected);
  fine(write_under_copy<Over::copy, true>, {}, inputs(64, 0, 4));
  const std::string flying = "of shared memory was being written by an asynchronous copy, not waited for";
  caught(write_under_copy<Over::store, false>, {}, {"race:", flying, "writes it", "@copy", "@again"});
  caught(write_under_copy<Over::copy, false>, {}, {"race:", flying, "copies to it", "@copy", "@again"});
}

TEST_CASE("A thread ends after its copies", "[copies]") {
  fine(end_early<Fault::none>, {});
  const std::vector<std::string> words = {"ended while an asynchronous copy was under way", "@copy"};
  caught(end_early<Fault::no_wait>, {}, words);
  caught(end_early<Fault::no_commit>, {}, words);
}

TEST_CASE("A main loop of stages", "[copies]") {
  const test::Setup setup = {.shared_memory = 3 * 64 * 16};
  fine(pipeline<Slip::none>, setup, pipeline_sums());
  for (const test::Kernel wrong : {pipeline<Slip::no_commit>, pipeline<Slip::one_pending_too_many>,
                                   pipeline<Slip::no_barrier>, pipeline<Slip::wait_after_barrier>}) {
    caught(wrong, setup, {"shared memory", "@read"});
  }
}

namespace {

/// Copies of which a part is read: the rest becomes zero.
void partial(const Operands& o) {
  const int t = arch::thread_index();
  arch::copy_async<16>(piece(t), o.in + 4 * t, 4 * (t % 5));
  // Nothing is read behind the operand's end where nothing is asked for.
  arch::copy_async_or_zero<4>(arch::shared_memory() + 1024 + 4 * t, o.in + Operands::numbers, 0);
  arch::copy_async_commit();
  arch::copy_async_wait<0>();
  const auto four = arch::shared_load<arch::Vector<int, 4>>(piece(t));
  const int zero = arch::shared_load<int>(arch::shared_memory() + 1024 + 4 * t);
  for (int i = 0; i < 4; ++i) arch::global_store(o.out + 4 * t + i, four.v[i] + zero);
}

void wrong_size(const Operands& o) {
  mark("copy");
  arch::copy_async<16>(piece(arch::thread_index()), o.in, o.argument);
  arch::copy_async_commit();
  arch::copy_async_wait<0>();
}

}  // namespace

TEST_CASE("Copies fill with zeros what they do not read", "[copies]") {
  std::vector<int> expected;
  for (int i = 0; i < 256; ++i) expected.push_back(i % 4 < i / 4 % 5 ? test::input(i) : 0);
  fine(partial, {.shared_memory = 2048}, expected);
  for (const int valid : {-1, 17}) {
    caught(wrong_size, {.argument = valid},
           {"copies " + std::to_string(valid) + " valid bytes of 16", "@copy"});
  }
}
