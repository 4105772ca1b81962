/// Registers that warpgroups give and take.
#include "support/catch_compat.hpp"
#include "trial.hpp"
#include "warpgroup_kernel.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

/// 168 registers a thread at the start.
constexpr test::Setup three_groups = {.threads = 384};

int group() { return arch::thread_index() / 128; }

template <int given, int taken>
void exchange(const Operands&) {
  if (group() == 0) {
    arch::give_registers<given>();
  } else {
    mark("take");
    arch::take_registers<taken>();
  }
}

template <int registers>
void give(const Operands&) {
  mark("here");
  arch::give_registers<registers>();
}

template <int registers>
void take(const Operands&) {
  mark("here");
  arch::take_registers<registers>();
}

void given_by_one_warp(const Operands&) {
  if (group() == 0) {
    if (arch::thread_index() < 32) arch::give_registers<40>();
    if (arch::thread_index() >= 32) arch::named_barrier(1, 96);
  } else {
    mark("take");
    arch::take_registers<232>();
  }
}

void different(const Operands&) {
  mark("here");
  const emulator::Site site = emulator::Site::current();
  if (arch::thread_index() == 77) {
    arch::give_registers<40>(site);
  } else {
    arch::give_registers<32>(site);
  }
}

/// Taken registers are given back, and taken again.
void twice(const Operands&) {
  for (int turn = 0; turn < 2; ++turn) {
    if (group() == 0) {
      arch::give_registers<40>();
      arch::block_barrier();
      arch::take_registers<168>();
    } else {
      arch::take_registers<232>();
      arch::block_barrier();
      arch::give_registers<168>();
    }
    arch::block_barrier();
  }
}

/// One warpgroup of three multiplies, into 192 registers of sums.
template <bool takes>
void wide_sums(const Operands&) {
  test::prepare(384);
  if (group() != 2) return arch::give_registers<40>();
  if (takes) arch::take_registers<232>();
  arch::WarpgroupSumsF32<128> sums[3];
  arch::warpgroup_fence();
  const arch::MatrixDescriptor a = test::tile_a.descriptor(test::at_a().value, 0);
  const arch::MatrixDescriptor b = a & ~(0x3fffULL << 32);  // the same eight columns again and again
  for (auto& each : sums) {
    arch::warpgroup_multiply<arch::BF16, arch::Major::k, arch::Major::k>(each, a, b, 0);
  }
  test::finish();
}

}  // namespace

TEST_CASE("registers go from those who give them to those who take them") {
  fine(exchange<40, 232>, three_groups);
  fine(exchange<24, 240>, three_groups);
  fine(exchange<168, 168>, three_groups);
  fine(twice, three_groups);
}

TEST_CASE("registers that nobody gives are waited for in vain") {
  caught(take<256>, {.threads = 1024}, {"deadlock", "of which the block has 0 to spare", "@here"});
  caught(exchange<40, 240>, three_groups,
         {"deadlock", "waits for registers, of which the block has", "@take"});
  caught(given_by_one_warp, three_groups, {"warpgroup"});
}

TEST_CASE("giving more and taking less than one has is a fault") {
  caught(take<160>, three_groups, {"takes registers to have 160, and has 168", "@here"});
  caught(give<176>, three_groups, {"gives registers back to keep 176, and has 168", "@here"});
}

TEST_CASE("more sums than a thread has registers are a fault") {
  const test::Setup setup = {.threads = 384, .shared_memory = test::tile_bytes};
  caught(wide_sums<false>, setup, {"needs 192 registers for sums alone, and has 168"});
  fine(wide_sums<true>, setup);
}

TEST_CASE("counts of registers that the instruction has not are a fault") {
  caught(give<16>, three_groups, {"asks for 16 registers", "@here"});
  caught(give<42>, three_groups, {"asks for 42 registers", "@here"});
  caught(take<264>, three_groups, {"asks for 264 registers", "@here"});
}

TEST_CASE("a warpgroup whose threads give different numbers of registers is caught") {
  caught(different, {.threads = 128}, {"divergence: ", "@here"});
}
