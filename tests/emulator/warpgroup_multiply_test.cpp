/// The warpgroup's matrix instruction: right products of operands that lie in every way, for all types and
/// many N.
#include <algorithm>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"
#include "trial.hpp"
#include "warpgroup_operands.hpp"

using namespace quarry;
using arch::Major;
using test::Operands;
using test::OperandTile;

namespace {

constexpr int line_widths[] = {128, 64, 32, 16};

/// Multiplies tiles of which the argument says how wide their lines are; `out` gets, for each thread, how
/// many of its sums are right.
template <class Input, template <int> class Sums, int n, Major a_major, Major b_major>
void multiply(const Operands& o) {
  const OperandTile a = {a_major, 64, line_widths[o.argument % 4]};
  const OperandTile b = {b_major, n, line_widths[o.argument / 4]};
  const arch::SharedAddress at_a = arch::shared_memory();
  const arch::SharedAddress at_b = at_a + a.bytes();
  test::store_tile<Input>(a, at_a, 128, test::element_a);
  test::store_tile<Input>(b, at_b, 128, [](int column, int k) { return test::element_b(k, column); });
  arch::async_proxy_fence();
  arch::block_barrier();
  Sums<n> sums;
  arch::warpgroup_fence();
  for (int step = 0; step < test::tile_k / 16; ++step) {
    arch::warpgroup_multiply<Input, a_major, b_major>(sums, a.descriptor(at_a.value, step),
                                                      b.descriptor(at_b.value, step), step > 0);
  }
  arch::warpgroup_commit();
  arch::warpgroup_wait<0>();
  arch::warpgroup_hold(sums);
  const int me = arch::thread_index();
  int good = 0;
  for (int i = 0; i < n / 2; ++i) {
    const int right = test::product(test::row_of(me, i), test::column_of(me, i), 0, test::tile_k);
    if (test::sum_of(sums, i) == static_cast<float>(right)) ++good;
  }
  arch::global_store(o.out + me, good);
}

/// Requires that all sums are right, whenever operands are read.
void right(test::Kernel kernel, int n, int argument) {
  const test::Setup setup = {.threads = 128,
                             .shared_memory = static_cast<unsigned>((64 + n) * test::tile_k * 2),
                             .argument = argument};
  const std::uint64_t seed = lab::fresh_seed();
  CAPTURE(seed, n, line_widths[argument % 4], line_widths[argument / 4]);
  for (const auto timing : {emulator::CopyTiming::late, emulator::CopyTiming::mixed}) {
    const test::Trial trial = test::run_once(kernel, setup, seed, timing);
    REQUIRE(trial.outcome.fault == "");
    CHECK(std::ranges::count(trial.out, n / 2) == 128);
    CHECK(trial.outcome.counters.warpgroup_multiplies == test::tile_k / 16);
    CHECK(trial.outcome.counters.warpgroup_groups == 1);
  }
}

template <class Input, template <int> class Sums, int n>
void all_layouts() {
  for (int argument = 0; argument < 16; ++argument) {
    right(multiply<Input, Sums, n, Major::k, Major::k>, n, argument);
    right(multiply<Input, Sums, n, Major::mn, Major::k>, n, argument);
    // Lines along N must divide it.
    if (n * 2 % line_widths[argument / 4] != 0) continue;
    right(multiply<Input, Sums, n, Major::k, Major::mn>, n, argument);
    right(multiply<Input, Sums, n, Major::mn, Major::mn>, n, argument);
  }
}

template <class Input, template <int> class Sums, int... n>
void all_n(std::integer_sequence<int, n...>) {
  (right(multiply<Input, Sums, 8 * (n + 1), Major::k, Major::k>, 8 * (n + 1), n % 16), ...);
}

}  // namespace

TEST_CASE("products are right however the operands lie: f16") {
  all_layouts<arch::F16, arch::WarpgroupSumsF32, 64>();
}
TEST_CASE("products are right however the operands lie: bf16") {
  all_layouts<arch::BF16, arch::WarpgroupSumsF32, 32>();
}
TEST_CASE("products are right however the operands lie: f16 sums") {
  all_layouts<arch::F16, arch::WarpgroupSumsF16, 16>();
}

TEST_CASE("products are right for every N") {
  all_n<arch::BF16, arch::WarpgroupSumsF32>(std::make_integer_sequence<int, 32>());
}
TEST_CASE("products are right for every N, with f16 sums") {
  all_n<arch::F16, arch::WarpgroupSumsF16>(std::make_integer_sequence<int, 32>());
}
