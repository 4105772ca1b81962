// Slices of two lengths: wgrad's own kernels on a device of few multiprocessors, in the emulator.
#include "common/long_slices.hpp"

#include <random>

#include "conv2d_sm90/params.hpp"
#include "lab/emulate/entries.hpp"
#include "lab/emulate/trial.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using namespace quarry::lab;

namespace {

/// The gradients of 3x3 filters of 64 channels, each the sum over `images` images of 8 by 8 positions.
Conv2dArguments gradients(std::int64_t filters, std::int64_t images) {
  return {.direction = Direction::wgrad,
          .a = TensorView::row_major(nullptr, DType::bf16, {images, 8, 8, filters}),
          .b = TensorView::row_major(nullptr, DType::bf16, {images, 8, 8, 64}),
          .out = TensorView::row_major(nullptr, DType::bf16, {filters, 3, 3, 64}),
          .padding = {1, 1}};
}

/// Lets few blocks share the launch's tiles in slices of two lengths: the fewest of these, from `least` on.
/// Returns whether there is such a number.
bool share(Launch& launch, unsigned least, int tile_k) {
  Step& step = *launch.steps.begin();
  auto& params = params_of<TensorConv2dParams>(launch, step);
  const auto tiles = static_cast<unsigned>(params.gemm.tiles_m * params.gemm.tiles_n);
  const int k_tiles = (params.gemm.k + tile_k - 1) / tile_k;
  for (unsigned blocks = least; blocks < step.grid; ++blocks) {
    const SliceCut cut = cut_in_two_lengths(tiles, k_tiles, blocks, params.gemm.slices);
    if (cut.longs.slices == 0) continue;
    step.grid = blocks;
    params.longs = cut.longs;
    params.gemm.k_tiles_per_slice = cut.short_k_tiles;
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("slices of two lengths add up to what the reference has", "[conv2d][emulate]") {
  const std::uint64_t seed = fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 dice(seed);
  const Filter persistent = *Filter::parse(
      "family == conv2d_sm90 and direction == wgrad and schedule != one_tile and out.dtype == bf16 and "
      "tile.m * tile.n <= 128 * 128");
  int shared = 0;
  for (int i = 0; i < 40 && shared < 6; ++i) {
    const Conv2dArguments shape =
        gradients(static_cast<int>(64 * (1 + dice() % 4)), static_cast<int>(24 + dice() % 40));
    const CandidateList found = get_kernels(shape, persistent);
    REQUIRE(!found.empty());
    const Candidate candidate = found[dice() % found.size()];
    const Controls& controls = candidate.controls();
    if (controls.mode != Mode::split_k_parallel) continue;
    CAPTURE(candidate.name(), shape.out.extents[0], shape.a.extents[0], controls.split_k_slices.value_or(1));
    const std::vector<Kernel> kernels = {candidate};
    const Result<emulate::Modules> modules = emulate::Modules::compile(emulate::entries_of(kernels), "");
    INFO(modules.status().message());
    REQUIRE(modules);
    Result<OperandsOf<Conv2dArguments>> made = OperandsOf<Conv2dArguments>::make(shape, {.seed = dice()});
    REQUIRE(made);
    emulate::TrialOptions options;
    options.emulator.seed = dice() % 1000;
    bool is_shared = false;
    const auto least = static_cast<unsigned>(2 + dice() % 8);
    options.edit = [&](Launch& launch) {
      is_shared = share(launch, least, candidate.metadata().design.tile.k);
    };
    const emulate::Verdict verdict = run_trial(candidate, *made, *modules, options);
    INFO((verdict.right() ? std::string() : verdict.reason()));
    REQUIRE(verdict.right());
    if (is_shared) ++shared;
  }
  REQUIRE(shared == 6);
}
