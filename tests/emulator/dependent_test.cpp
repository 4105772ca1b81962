/// Kernels that may start before the one in front of them has ended.
#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

enum class Slip { none, after_barrier, no_wait, too_late, another_thread };

template <Slip slip>
void copy_numbers(const Operands& o) {
  const int t = arch::thread_index();
  if constexpr (slip == Slip::none) arch::wait_for_earlier_kernels();
  if constexpr (slip == Slip::after_barrier || slip == Slip::another_thread) {
    if (t == 0) arch::wait_for_earlier_kernels();
  }
  if constexpr (slip == Slip::after_barrier) arch::block_barrier();
  if constexpr (slip == Slip::too_late) {
    mark("touch");
    arch::global_load<int>(o.in + t);
    arch::wait_for_earlier_kernels();
  }
  arch::let_later_kernels_start();
  mark("touch");
  arch::global_store(o.out + t, t);
}

/// The same for copies and counters.
void copy_early(const Operands& o) {
  mark("touch");
  arch::copy_async<4>(arch::shared_memory() + 4 * arch::thread_index(), o.in, 4);
  arch::copy_async_commit();
  arch::copy_async_wait<0>();
}
void count_early(const Operands& o) {
  mark("touch");
  arch::fetch_add(o.counters, 1);
}

}  // namespace

TEST_CASE("Global memory is touched when earlier kernels have ended", "[dependent]") {
  std::vector<int> expected(64);
  for (int i = 0; i < 64; ++i) expected[static_cast<std::size_t>(i)] = i;
  const test::Setup setup = {.grid = 2, .checks = {.races = false}, .dependent = true};
  fine(copy_numbers<Slip::none>, setup, expected);
  fine(copy_numbers<Slip::after_barrier>, setup, expected);
  const std::vector<std::string> words = {"touches global memory while earlier kernels may still run",
                                          "@touch"};
  caught(copy_numbers<Slip::no_wait>, setup, words);
  caught(copy_numbers<Slip::too_late>, setup, words);
  caught(copy_numbers<Slip::another_thread>, setup, words);
  caught(copy_early, {.dependent = true}, words);
  caught(count_early, {.blocks_wait = true, .dependent = true}, words);
  fine(copy_numbers<Slip::no_wait>, {.grid = 1}, expected);
}
