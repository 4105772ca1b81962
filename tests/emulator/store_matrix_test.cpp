/// Fragments stored to shared memory as matrices.
#include "arch/sm90.hpp"

#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

/// The element of a fragment's matrix that a lane holds in half `part` of its word: numbered by line.
unsigned element(int matrix, int line, int column) {
  return static_cast<unsigned>(matrix * 64 + line * 8 + column);
}

template <int matrices, bool transposed>
auto fragment() {
  arch::Vector<unsigned, matrices> f;
  const int across = arch::lane_index() / 4;
  const int along = arch::lane_index() % 4 * 2;
  for (int matrix = 0; matrix < matrices; ++matrix) {
    const unsigned low = transposed ? element(matrix, along, across) : element(matrix, across, along);
    const unsigned high =
        transposed ? element(matrix, along + 1, across) : element(matrix, across, along + 1);
    f.v[matrix] = low | high << 16;
  }
  return f;
}

template <int matrices, bool transposed>
void store_at(arch::SharedAddress line, const emulator::Site& site = emulator::Site::current()) {
  const auto f = fragment<matrices, transposed>();
  if constexpr (matrices == 4 && transposed) arch::store_matrix_x4_transposed(line, f, site);
  if constexpr (matrices == 4 && !transposed) arch::store_matrix_x4(line, f, site);
  if constexpr (matrices == 2 && transposed) arch::store_matrix_x2_transposed(line, f, site);
  if constexpr (matrices == 2 && !transposed) arch::store_matrix_x2(line, f, site);
}

/// Lines lie `argument` bytes apart; `out` gets the words that were stored, line after line.
template <int matrices, bool transposed>
void store_and_show(const Operands& o) {
  const int lane = arch::lane_index();
  const arch::SharedAddress line = arch::shared_memory() + o.argument * lane;
  store_at<matrices, transposed>(line);
  arch::warp_barrier();
  if (lane >= 8 * matrices) return;
  for (int i = 0; i < 4; ++i) {
    arch::global_store(o.out + 4 * lane + i, arch::shared_load<int>(line + 4 * i));
  }
}

std::vector<int> lines(int matrices) {
  std::vector<int> words;
  for (int i = 0; i < matrices * 64; i += 2) words.push_back(i | (i + 1) << 16);
  return words;
}

test::Setup one_warp(int pitch) {
  return {.threads = 32, .shared_memory = static_cast<unsigned>(32 * pitch), .argument = pitch};
}

void read_by_another(const Operands&) {
  arch::shared_store(arch::shared_memory() + 16 * arch::lane_index(), arch::Vector<int, 4>{});
  arch::warp_barrier();
  mark("store");
  store_at<4, false>(arch::shared_memory() + 16 * arch::lane_index());
  if (arch::lane_index() == 0) {
    mark("load");
    arch::shared_load<int>(arch::shared_memory() + 16 * 9);
  }
}

void odd_address(const Operands&) {
  mark("store");
  store_at<4, false>(arch::shared_memory() + (16 * arch::lane_index() + (arch::lane_index() == 31 ? 8 : 0)));
}

void other_form(const Operands&) {
  const emulator::Site site = emulator::Site::current();
  const arch::SharedAddress line = arch::shared_memory() + 16 * arch::lane_index();
  if (arch::lane_index() == 6) {
    store_at<4, true>(line, site);
  } else {
    store_at<4, false>(line, site);
  }
}

void two_elsewhere(const Operands&) {
  const arch::SharedAddress nowhere = arch::shared_memory() + (1 << 20);
  store_at<2, false>(arch::lane_index() < 16 ? arch::shared_memory() + 16 * arch::lane_index() : nowhere);
}

}  // namespace

TEST_CASE("fragments become lines, straight and transposed") {
  for (const int pitch : {16, 48, 64, 128}) {
    CAPTURE(pitch);
    fine(store_and_show<4, false>, one_warp(pitch), lines(4));
    fine(store_and_show<4, true>, one_warp(pitch), lines(4));
    fine(store_and_show<2, false>, one_warp(pitch), lines(2));
    fine(store_and_show<2, true>, one_warp(pitch), lines(2));
  }
}

TEST_CASE("the bank conflicts of stored matrices are counted") {
  const auto counted = [](test::Kernel kernel, int pitch) {
    const test::Trial trial = test::run_once(kernel, one_warp(pitch));
    REQUIRE(trial.outcome.fault == "");
    return trial.outcome.counters.matrix_store;
  };
  CHECK(counted(store_and_show<4, false>, 16).instructions == 1);
  CHECK(counted(store_and_show<4, false>, 16).passes == 4);
  CHECK(counted(store_and_show<4, false>, 16).conflicts == 0);
  CHECK(counted(store_and_show<2, true>, 16).passes == 2);
  CHECK(counted(store_and_show<4, true>, 48).conflicts == 0);
  CHECK(counted(store_and_show<4, true>, 128).passes == 4 * 8);
  CHECK(counted(store_and_show<4, true>, 128).conflicts == 4 * 7);
}

TEST_CASE("matrices stored wrongly are caught") {
  caught(read_by_another, one_warp(16), {"race: ", "@store", "@load"});
  caught(odd_address, one_warp(17), {"not a multiple of 16", "@store"});
  caught(other_form, one_warp(16), {"divergence: "});
}

TEST_CASE("addresses of the upper lanes do not count for two matrices") { fine(two_elsewhere, one_warp(16)); }
