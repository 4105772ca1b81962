/// Kernels that start a warpgroup's matrix instruction wrongly on purpose.
#include "support/catch_compat.hpp"
#include "trial.hpp"
#include "warpgroup_kernel.hpp"

using namespace quarry;
using arch::Major;
using test::at_a;
using test::at_b;
using test::caught;
using test::fine;
using test::finish;
using test::is_thread;
using test::mark;
using test::multiply;
using test::one_group;
using test::Operands;
using test::prepare;
using test::Sums;
using test::tile_a;
using test::tile_b;
using test::tile_bytes;

namespace {

void other_place(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  if (is_thread(70)) {
    mark("one");
    multiply(sums, 0, 0);
  } else {
    mark("other");
    multiply(sums, 0, 0);
  }
  finish();
}

void other_operands(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  const int step = arch::thread_index() / 32 == 2 ? 1 : 0;
  mark("here");
  multiply(sums, step, 0);
  finish();
}

template <int other_n>
void start_with(const emulator::Site& site) {
  arch::WarpgroupSumsF32<other_n> sums;
  arch::warpgroup_multiply<arch::BF16, Major::k, Major::k>(sums, tile_a.descriptor(at_a().value, 0),
                                                           tile_b.descriptor(at_b().value, 0), 0, site);
  arch::warpgroup_commit();
  arch::warpgroup_wait<0>();
}

void other_n(const Operands&) {
  // All of shared memory, so that more columns than there are read no byte that was never written.
  for (int i = arch::thread_index() * 4; i < static_cast<int>(2 * tile_bytes); i += 128 * 4) {
    arch::shared_store(arch::shared_memory() + i, 0u);
  }
  arch::block_barrier();
  prepare();
  arch::warpgroup_fence();
  mark("here");
  const emulator::Site site = emulator::Site::current();
  if (is_thread(5)) {
    start_with<16>(site);
  } else {
    start_with<8>(site);
  }
}

void one_warp_does_not_commit(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  multiply(sums, 0, 0);
  if (arch::thread_index() / 32 != 3) arch::warpgroup_commit();
  arch::warpgroup_wait<0>();
}

void four_warps_from_the_third_on(const Operands&) {
  prepare(256);
  const int warp = arch::warp_index();
  if (warp < 2 || warp > 5) return;
  Sums sums;
  arch::warpgroup_fence();
  multiply(sums, 0, 0);
  finish();
}

void four_warps_of_two_groups(const Operands&) {
  prepare(256);
  const int warp = arch::warp_index();
  if (warp >= 2 && warp <= 5) {
    Sums sums;
    arch::warpgroup_fence();
    multiply(sums, 0, 0);
    mark("wait");
    arch::warpgroup_wait<0>();
    arch::warpgroup_commit();
    arch::warpgroup_wait<0>();
  }
  arch::block_barrier();
}

void three_warps(const Operands&) { arch::warpgroup_fence(); }

}  // namespace

TEST_CASE("a warpgroup that starts different instructions is caught") {
  caught(other_place, one_group, {"divergence: ", "a whole warpgroup must reach together", "@one", "@other"});
  caught(other_operands, one_group, {"divergence: ", "with other arguments", "@here"});
  caught(other_n, {.threads = 128, .shared_memory = 2 * tile_bytes},
         {"divergence: ", "with other arguments"});
  caught(one_warp_does_not_commit, one_group, {"tests/emulator/warpgroup_faults_test.cpp:"});
}

TEST_CASE("four warps that are no warpgroup are caught") {
  const test::Setup two_groups = {.threads = 256, .shared_memory = tile_bytes};
  caught(four_warps_from_the_third_on, two_groups, {"warpgroup"});
  caught(four_warps_of_two_groups, two_groups, {"deadlock", "not all of its warpgroup has started"});
  caught(three_warps, {.threads = 96}, {"is in a warpgroup of 96 threads"});
}

namespace {

void overwritten(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  mark("multiply");
  multiply(sums, 0, 0);
  arch::warpgroup_commit();
  if (is_thread(3)) {
    mark("write");
    arch::shared_store(at_b() + tile_b.offset(5, 8), 0);
  }
  arch::warpgroup_wait<0>();
}

void copied_over(const Operands& o) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  mark("multiply");
  multiply(sums, 1, 0);
  arch::warpgroup_commit();
  if (is_thread(100)) {
    mark("copy");
    arch::copy_async<16>(at_a() + tile_a.offset(63, 24), o.in, 16);
  }
  arch::copy_async_commit();
  arch::copy_async_wait<0>();
  arch::warpgroup_wait<0>();
}

/// The other warpgroup writes; it is told so by one that did not wait, or did.
template <bool waits>
void overwritten_by_others(const Operands&) {
  prepare(256);
  const bool multiplies = arch::thread_index() < 128;
  Sums sums;
  if (multiplies) {
    arch::warpgroup_fence();
    mark("multiply");
    multiply(sums, 0, 0);
    arch::warpgroup_commit();
    if (waits) arch::warpgroup_wait<0>();
  }
  arch::block_barrier();
  if (!multiplies && is_thread(200)) {
    mark("write");
    arch::shared_store(at_a() + tile_a.offset(0, 0), 0);
  }
  if (multiplies && !waits) arch::warpgroup_wait<0>();
}

/// With one group still under way, only the older one's operands may be overwritten.
template <int step>
void overwritten_after_half_a_wait(const Operands&) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  multiply(sums, 0, 0);
  arch::warpgroup_commit();
  mark("multiply");
  multiply(sums, 1, 1);
  arch::warpgroup_commit();
  arch::warpgroup_wait<1>();
  if (is_thread(64)) {
    mark("write");
    arch::shared_store(at_a() + tile_a.offset(12, 16 * step), 0);
  }
  arch::warpgroup_wait<0>();
}

void never_written(const Operands&) {
  test::store_tile<arch::BF16>(tile_a, at_a(), 128, test::element_a);
  arch::async_proxy_fence();
  arch::block_barrier();
  Sums sums;
  arch::warpgroup_fence();
  mark("here");
  multiply(sums, 0, 0);
  finish();
}

void out_of_bounds(const Operands&) {
  prepare();
  arch::WarpgroupSumsF32<24> sums;
  arch::warpgroup_fence();
  mark("here");
  arch::warpgroup_multiply<arch::BF16, Major::k, Major::k>(sums, tile_a.descriptor(at_a().value, 0),
                                                           tile_b.descriptor(at_b().value, 0), 0);
  finish();
}

void bad_descriptor(const Operands& o) {
  prepare();
  Sums sums;
  arch::warpgroup_fence();
  const auto bit = static_cast<arch::MatrixDescriptor>(1) << o.argument;
  mark("here");
  arch::warpgroup_multiply<arch::BF16, Major::k, Major::k>(sums, tile_a.descriptor(at_a().value, 0),
                                                           tile_b.descriptor(at_b().value, 0) | bit, 0);
  finish();
}

}  // namespace

TEST_CASE("operands that change while they are read are caught") {
  caught(overwritten, one_group,
         {"race: ", "read by a matrix instruction, not waited for", "@multiply", "@write"});
  caught(copied_over, one_group,
         {"race: ", "read by a matrix instruction, not waited for", "@multiply", "@copy"});
  const test::Setup two_groups = {.threads = 256, .shared_memory = tile_bytes};
  caught(overwritten_by_others<false>, two_groups, {"race: ", "@multiply", "@write"});
  fine(overwritten_by_others<true>, two_groups);
  caught(overwritten_after_half_a_wait<1>, one_group, {"race: ", "@multiply", "@write"});
}

TEST_CASE("operands may change when their group was waited for") {
  fine(overwritten_after_half_a_wait<0>, one_group);
}

TEST_CASE("operands that are not there are caught") {
  caught(never_written, one_group, {"reads byte ", "which was never written", "@here"});
  caught(out_of_bounds, one_group, {"reads 16 bytes at byte ", "of which the launch has", "@here"});
}

TEST_CASE("descriptors that mean nothing are caught") {
  for (const int bit : {14, 15, 30, 31, 46, 47, 48, 52, 61}) {
    test::Setup setup = one_group;
    setup.argument = bit;
    caught(bad_descriptor, setup, {"matrix descriptor with bits set that mean nothing", "@here"});
  }
  test::Setup setup = one_group;
  setup.argument = 50;
  caught(bad_descriptor, setup, {"base offset", "@here"});
}
