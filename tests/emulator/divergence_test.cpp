/// What a whole warp, or the whole block, must reach together.
#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

enum class Together {
  warp_index,
  shuffle,
  first_lane,
  warp_barrier,
  load_matrix,
  load_matrix_transposed,
  mma,
  mma_f16
};

template <Together what>
void together(const emulator::Site& site) {
  const arch::MatrixFragment a = {};
  const arch::FragmentB b = {};
  if constexpr (what == Together::warp_index) arch::warp_index(site);
  if constexpr (what == Together::shuffle) arch::shuffle(1, 2, site);
  if constexpr (what == Together::first_lane) arch::first_lane(true, site);
  if constexpr (what == Together::warp_barrier) arch::warp_barrier(site);
  if constexpr (what == Together::load_matrix) arch::load_matrix_x4(arch::shared_memory(), site);
  if constexpr (what == Together::load_matrix_transposed) {
    arch::load_matrix_x4_transposed(arch::shared_memory(), site);
  }
  if constexpr (what == Together::mma) {
    arch::AccumulatorF32 sum = {};
    arch::mma<arch::BF16>(sum, a, b, site);
  }
  if constexpr (what == Together::mma_f16) {
    arch::AccumulatorF16 sum = {};
    arch::mma<arch::F16>(sum, a, b, site);
  }
}

void fill_line() {
  if (arch::thread_index() == 0) arch::shared_store(arch::shared_memory(), arch::Vector<int, 4>{});
  arch::block_barrier();
}

/// Lane 13 comes to another place of the source than the others.
template <Together what>
void two_places(const Operands& o) {
  fill_line();
  const int lane = arch::thread_index() % 32;
  if (lane == 13 && o.argument == 0) {
    mark("one");
    together<what>(emulator::Site::current());
  } else {
    mark("other");
    together<what>(emulator::Site::current());
  }
}

/// Lanes 8 to 31 of warp 1 do not come.
template <Together what>
void some_missing(const Operands& o) {
  fill_line();
  if (arch::thread_index() < 40 || o.argument != 0) {
    mark("here");
    together<what>(emulator::Site::current());
  }
}

template <Together what>
void check() {
  fine(two_places<what>, {.argument = 1});
  caught(two_places<what>, {},
         {"divergence: thread ", "which a whole warp must reach together", "@one", "@other"});
  fine(some_missing<what>, {.argument = 1});
  caught(some_missing<what>, {},
         {"deadlock: no thread can go on",
          "thread 32 (warp 1, lane 0) of block 0 (and 7 more) waits for the other lanes of its warp at ",
          "@here", "has ended"});
}

/// Some lanes come to a barrier where others ask for their warp, by the same call of a function.
void two_kinds(const Operands&) {
  mark("call");
  const auto call = [](bool waits, const emulator::Site& site) {
    waits ? arch::warp_barrier(site) : static_cast<void>(arch::warp_index(site));
  };
  call(arch::lane_index() == 3, emulator::Site::current());
}

/// The block's barrier at two places: one for some lanes, or for some warps.
template <int split>
void two_barriers(const Operands& o) {
  const int t = arch::thread_index();
  if (t < split) {
    mark("one");
    arch::block_barrier();
  } else {
    mark("other");
    arch::block_barrier();
  }
  arch::global_store(o.out + t, 1);
}

/// A warp of 16 lanes, which is whole.
void half_warp(const Operands& o) {
  const int t = arch::thread_index();
  arch::shared_store(arch::shared_memory() + 4 * t, t);
  arch::warp_barrier();
  const int neighbour = arch::shared_load<int>(arch::shared_memory() + 4 * (t ^ 1));
  arch::global_store(o.out + t, 100 * arch::warp_index() + neighbour);
}

/// What lanes tell each other: the value of the lane before, and the first lane from the argument on.
void told(const Operands& o) {
  const int t = arch::thread_index();
  arch::global_store(o.out + t, arch::shuffle(10 * t, t - 1));
  arch::global_store(o.out + 64 + t, arch::first_lane(t % 32 >= o.argument));
}

/// Fragments of which the word that the argument tells was never set: 0 to 3 of A, 4 and 5 of B, 6 on of the
/// sums.
template <class Input, class Sum>
void multiply(const Operands& o) {
  arch::MatrixFragment a;
  arch::FragmentB b;
  Sum sum;
  const bool at_fault = arch::thread_index() == 17;
  for (int i = 0; i < 4; ++i) {
    if (!at_fault || i != o.argument) a.v[i] = 0;
  }
  for (int i = 0; i < 2; ++i) {
    if (!at_fault || i + 4 != o.argument) b.v[i] = 0;
  }
  for (int i = 0; i < static_cast<int>(sizeof sum.v / sizeof *sum.v); ++i) {
    if (!at_fault || i + 6 != o.argument) sum.v[i] = 0;
  }
  mark("multiply");
  arch::mma<Input>(sum, a, b);
  arch::global_store(o.out + arch::thread_index(), static_cast<int>(sum.v[1]));
}

template <class Input, class Sum>
void check_fragments() {
  constexpr int words = 6 + sizeof(Sum) / 4;
  const test::Kernel kernel = multiply<Input, Sum>;
  fine(kernel, {.argument = words}, std::vector<int>(64, 0));
  for (int word = 0; word < words; ++word) {
    const std::string name = word < 4 ? "A" : word < 6 ? "B" : "the sums";
    caught(kernel, {.argument = word},
           {"thread 17 (warp 0, lane 17) of block 0 multiplies a fragment of " + name +
                " that was never set, at ",
            "@multiply"});
  }
}

}  // namespace

TEST_CASE("A warp comes to its collective functions together", "[divergence]") {
  check<Together::warp_index>();
  check<Together::shuffle>();
  check<Together::first_lane>();
  check<Together::warp_barrier>();
  check<Together::load_matrix>();
  check<Together::load_matrix_transposed>();
  check<Together::mma>();
  check<Together::mma_f16>();
}

TEST_CASE("A warp calls one function at a time", "[divergence]") { caught(two_kinds, {}, {"divergence: "}); }

TEST_CASE("The lanes of a warp come to the block's barrier at one place", "[divergence]") {
  fine(two_barriers<0>, {}, std::vector<int>(64, 1));
  fine(two_barriers<32>, {}, std::vector<int>(64, 1));
  caught(two_barriers<7>, {},
         {"divergence: thread ", "arrives at the block's barrier at ", "other lanes of its warp at ", "@one",
          "@other"});
}

TEST_CASE("A warp may have fewer lanes", "[divergence]") {
  std::vector<int> expected;
  for (int t = 0; t < 48; ++t) expected.push_back(100 * (t / 32) + (t ^ 1));
  fine(half_warp, {.threads = 48}, expected);
}

TEST_CASE("Lanes tell each other values, and where the first one is", "[divergence]") {
  for (const int first : {0, 5, 31, 32}) {
    std::vector<int> expected;
    for (int t = 0; t < 64; ++t) expected.push_back(10 * (t / 32 * 32 + (t + 31) % 32));
    for (int t = 0; t < 64; ++t) expected.push_back(first < 32 ? first : -1);
    fine(told, {.argument = first}, expected);
  }
}

TEST_CASE("Fragments are set before they are multiplied", "[fragment]") {
  check_fragments<arch::F16, arch::AccumulatorF32>();
  check_fragments<arch::BF16, arch::AccumulatorF32>();
  check_fragments<arch::F16, arch::AccumulatorF16>();
}
