// The estimate by which kernels are ranked: sane on every problem, sensible on well-known ones.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "gemm_sm90/clusters.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using detail::Row;
using test::Random;

using test::h200;

CandidateList ranked(const GemmArguments& args, const DeviceModel& device = h200()) {
  FindOptions options;
  options.device = &device;
  return get_kernels(args, {}, options);
}

bool on_tensor_cores(const Kernel& kernel) {
  return kernel.metadata().design.math_unit == MathUnit::tensor_core;
}

double best_seconds(const GemmArguments& args, const DeviceModel& device = h200()) {
  const CandidateList list = ranked(args, device);
  REQUIRE_FALSE(list.empty());
  return list.front().predicted_seconds();
}

/// e4m3 to bf16, with scales of 1x128 and 128x128.
GemmArguments block_scaled_problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto blocks = [](std::int64_t extent) { return (extent + 127) / 128; };
  GemmArguments args = test::plain_problem(m, n, k, DType::e4m3);
  args.out = TensorView::row_major(nullptr, DType::bf16, {m, n});
  args.a_scale = TensorView::column_major(nullptr, DType::f32, {m, blocks(k)});
  args.a_scale_granularity = ScaleGranularity::block_1x128;
  args.b_scale = TensorView::row_major(nullptr, DType::f32, {blocks(k), blocks(n)});
  args.b_scale_granularity = ScaleGranularity::block_128x128;
  return args;
}

/// The first choice on an H100.
KernelMetadata first_on_h100(const GemmArguments& args) {
  const CandidateList list = ranked(args, test::device_named("h100"));
  REQUIRE_FALSE(list.empty());
  return list.front().metadata();
}

GemmArguments column_b_problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmArguments args = test::plain_problem(m, n, k, DType::bf16);
  args.b = TensorView::column_major(nullptr, DType::bf16, {k, n});
  return args;
}

}  // namespace

TEST_CASE("predictions are finite and above the launch and the memory floor", "[ranking]") {
  const auto seed = GENERATE(1U, 2U);
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 300; ++i) {
    const GemmArguments args = test::problem_for(random, test::any_row(random));
    const std::size_t r = args.out.rank - 2U;
    const double outputs =
        static_cast<double>(args.out.extents[r]) * static_cast<double>(args.out.extents[r + 1]);
    const double floor = outputs * bytes_of(args.out.dtype) / h200().memory_bandwidth;
    for (const Candidate& c : ranked(args)) {
      CAPTURE(c.name());
      REQUIRE(std::isfinite(c.predicted_seconds()));
      REQUIRE(c.predicted_seconds() >= 2e-6);
      REQUIRE(c.predicted_seconds() >= floor);
      REQUIRE(*c.controls().split_k_slices >= 1);
      REQUIRE((*c.controls().split_k_slices == 1 || *c.controls().mode != Mode::gemm));
    }
  }
}

TEST_CASE("a large square runs on tensor cores with large tiles, near the ceiling", "[ranking]") {
  const CandidateList list = ranked(test::plain_problem(4096, 4096, 4096));
  REQUIRE_FALSE(list.empty());
  const Candidate& best = list.front();
  INFO(best.name() << " " << best.predicted_seconds());
  CHECK(best.metadata().design.tile.m * best.metadata().design.tile.n >= 128 * 128);
  CHECK(best.controls().split_k_slices == 1);
  CHECK(*best.controls().swizzle > 1);
  const double flops = 2 * std::pow(4096.0, 3) / best.predicted_seconds();
  CHECK(flops > 300e12);
  CHECK(flops < 132 * 4096 * h200().clock);  // what wgmma can do at most
}

TEST_CASE("f64 on Hopper: a long instruction, by a kernel whose operands fit into registers", "[ranking]") {
  // m16n8k16 takes twice the registers of m16n8k8: 128x128 in eight warps spills with it, and takes 2.9 times
  // as long as 64x64 at 4096^3 on an H200; with m16n8k8 it is within 2 % of the fastest.
  const CandidateList found = ranked(test::plain_problem(4096, 4096, 4096, DType::f64));
  REQUIRE(found.size() > 10);
  const DesignMetadata& first = found.front().metadata().design;
  INFO(found.front().name());
  CHECK(first.instruction == Extent3{16, 8, 8});
  CHECK(first.tile.m * first.tile.n / (first.threads / 32) <= 32 * 64);
}

TEST_CASE("f32 by FMA: vectors where operands are aligned, tiles of few rows for few rows", "[ranking]") {
  const auto first = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmArguments args = test::plain_problem(m, n, k, DType::f32);
    args.a = TensorView::column_major(nullptr, DType::f32, {m, k});
    args.b = TensorView::row_major(nullptr, DType::f32, {k, n});
    const CandidateList list = ranked(args);
    REQUIRE_FALSE(list.empty());
    return list.front().metadata();
  };
  const auto aligned_to = [](const KernelMetadata& kernel, int a, int b) {
    INFO(kernel.name);
    CHECK(kernel.operands.a.alignment == a);
    CHECK(kernel.operands.b.alignment == b);
  };
  const KernelMetadata large = first(4096, 4096, 4096);
  aligned_to(large, 4, 4);
  CHECK(large.design.tile.m * large.design.tile.n >= 256 * 128);
  aligned_to(first(4097, 4097, 4096), 1, 1);
  // With tiles of 64 rows, 16x8192x8192 takes 2.3 times as long on an H200.
  const KernelMetadata few = first(16, 8192, 8192);
  aligned_to(few, 1, 4);
  CHECK(few.design.tile.m == 16);
  CHECK(first(8192, 16, 8192).design.tile.n <= 32);
}

TEST_CASE("plain FMA stands behind tensor cores", "[ranking]") {
  for (const int size : {64, 128, 512, 1024, 4096}) {
    const CandidateList list = ranked(test::plain_problem(size, size, size));
    const auto fma =
        std::find_if(list.begin(), list.end(), [](const Candidate& c) { return !on_tensor_cores(c); });
    CAPTURE(size);
    REQUIRE(fma != list.end());
    CHECK(on_tensor_cores(list.front()));
    CHECK(fma->predicted_seconds() > (size < 1024 ? 1 : 4) * list.front().predicted_seconds());
  }
}

TEST_CASE("a small output with a long K is cut into slices", "[ranking]") {
  const Candidate best = ranked(test::plain_problem(256, 256, 8192)).front();
  CHECK(*best.controls().split_k_slices > 1);
  CHECK(*best.controls().mode != Mode::gemm);
  CHECK((best.workspace() > 0) == (best.controls().mode != Mode::split_k_cluster));
  GemmArguments whole = test::plain_problem(256, 256, 8192);
  whole.controls.split_k_slices = 1;
  CHECK(best_seconds(whole) > 1.15 * best.predicted_seconds());
  // Where there are tiles for every multiprocessor, or hardly any K, nothing is cut.
  CHECK(ranked(test::plain_problem(4096, 4096, 8192)).front().controls().split_k_slices == 1);
  CHECK(ranked(test::plain_problem(256, 256, 64)).front().controls().split_k_slices == 1);
}

TEST_CASE("controls that the caller leaves open are chosen no worse than any fixed ones nearby",
          "[ranking]") {
  for (const auto& [m, n, k] : {std::array{256, 256, 8192}, std::array{64, 4096, 4096},
                                std::array{128, 128, 20000}, std::array{1000, 1000, 1000}}) {
    std::map<std::string_view, double> open;
    for (const Candidate& c : ranked(test::plain_problem(m, n, k))) open[c.name()] = c.predicted_seconds();
    for (const int slices : {1, 2, 3, 4, 6, 8, 16, 32}) {
      GemmArguments args = test::plain_problem(m, n, k);
      args.controls.split_k_slices = slices;
      for (const Candidate& c : ranked(args)) {
        CAPTURE(m, n, k, slices, c.name());
        REQUIRE(open.at(c.name()) <= 1.3 * c.predicted_seconds());
      }
    }
  }
}

TEST_CASE("padding is waste: small outputs go to small tiles", "[ranking]") {
  for (const auto& [m, n] : {std::array{16, 4096}, std::array{32, 4096}, std::array{17, 17}}) {
    const Extent3 tile = ranked(test::plain_problem(m, n, 4096)).front().metadata().design.tile;
    CAPTURE(m, n, tile.m, tile.n);
    CHECK(tile.m <= 64);
  }
  const Extent3 tile = ranked(test::plain_problem(4096, 16, 4096)).front().metadata().design.tile;
  CHECK(tile.n <= 64);
}

TEST_CASE("more work never takes less time", "[ranking]") {
  constexpr int longest = 16384;
  for (const int size : {64, 300, 1024}) {
    double before = 0;
    for (const int k : {32, 64, 256, 1024, 4096, longest}) {
      GemmArguments args = test::plain_problem(size, size, k);
      args.a = TensorView::row_major(nullptr, DType::f16, {size, k}, longest);  // lines as far apart
      args.b = TensorView::column_major(nullptr, DType::f16, {k, size}, longest);
      args.controls.split_k_slices = 1;
      const double seconds = best_seconds(args);
      CAPTURE(size, k);
      CHECK(seconds >= before);
      before = seconds;
    }
  }
}

TEST_CASE("narrow copies cost time", "[ranking]") {
  const GemmArguments args = test::plain_problem(2048, 2048, 2048);
  std::map<int, double> best;
  for (const Candidate& c : ranked(args)) {
    if (!on_tensor_cores(c)) continue;
    const int alignment = std::min(c.metadata().operands.a.alignment, c.metadata().operands.b.alignment);
    if (!best.contains(alignment)) best[alignment] = c.predicted_seconds();
  }
  REQUIRE(best.contains(8));
  REQUIRE(best.contains(1));
  double before = 0;
  for (auto it = best.rbegin(); it != best.rend(); ++it) {  // from wide to narrow
    CAPTURE(it->first);
    CHECK(it->second >= before);
    before = it->second;
  }
}

TEST_CASE("a faster device is predicted to be faster", "[ranking]") {
  for (const int size : {512, 2048, 8192}) {
    const GemmArguments args = test::plain_problem(size, size, size);
    CHECK(best_seconds(args, test::device_named("a100")) > best_seconds(args, test::device_named("h200")));
  }
}

TEST_CASE("an exchanged problem is predicted as its transpose", "[ranking]") {
  const GemmArguments args = {.a = TensorView::row_major(nullptr, DType::f16, {1000, 512}),
                              .b = TensorView::column_major(nullptr, DType::f16, {512, 300}),
                              .out = TensorView::row_major(nullptr, DType::f16, {1000, 300})};
  const GemmArguments transposed = {.a = TensorView::row_major(nullptr, DType::f16, {300, 512}),
                                    .b = TensorView::column_major(nullptr, DType::f16, {512, 1000}),
                                    .out = TensorView::column_major(nullptr, DType::f16, {300, 1000})};
  CHECK(best_seconds(args) == Approx(best_seconds(transposed)));
}

TEST_CASE("device memory works while tiles follow one another", "[ranking]") {
  // Most of its bytes are outputs. On an H100 64x256 by wgmma took 8.0 us, and mma.sync, which was predicted
  // to be faster while all of memory's time was added, 11.0.
  const GemmArguments args = {.a = TensorView::row_major(nullptr, DType::bf16, {8, 16, 72}),
                              .b = TensorView::column_major(nullptr, DType::bf16, {8, 72, 6536}),
                              .out = TensorView::row_major(nullptr, DType::bf16, {8, 16, 6536})};
  const CandidateList found = ranked(args, test::device_named("h100"));
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().metadata().family == "gemm_sm90");
}

TEST_CASE("clusters of four run thirty at a time", "[ranking]") {
  CHECK(gemm_sm90::clusters_at_once(4, 132) == 30);
  // A round of tiles of 200 x 128: with 29 at a time it would be two.
  const Candidate first = ranked(test::plain_problem(3000, 1000, 5000, DType::bf16)).front();
  CHECK(test::cluster_blocks(first.metadata().design) == 4);
}

TEST_CASE("clusters of six run sixteen at a time, and no more slices of K are chosen", "[ranking]") {
  CHECK(gemm_sm90::clusters_at_once(6, 132) == 16);
  CHECK(gemm_sm90::run_at_once(16, 6, 132));
  CHECK_FALSE(gemm_sm90::run_at_once(17, 6, 132));  // 18 took twice as long on an H200
  for (const Candidate& c : ranked(test::plain_problem(522, 128, 9600))) {
    const auto& [m, n, k] = c.metadata().design.tile;
    const int tiles = ((522 + m - 1) / m) * ((128 + n - 1) / n);
    CAPTURE(c.name(), tiles);
    if (c.controls().mode == Mode::split_k_cluster && c.controls().split_k_slices == 6) CHECK(tiles <= 16);
  }
}

TEST_CASE("of promoted sums, the largest tiles come first where they leave no more rounds", "[ranking]") {
  const auto first = [](int extent) {
    const CandidateList list = ranked(block_scaled_problem(extent, extent, extent));
    REQUIRE_FALSE(list.empty());
    const auto& [m, n, k] = list.front().metadata().design.tile;
    return std::pair(m, n);
  };
  // On an H200: of 128x128, 132 multiprocessors have five tiles each, 65 us; of 128x192 three, 56 us.
  CHECK(first(3072) == std::pair(128, 192));
  // 32, 862 us; 21, 890 us; and 16 of 256x128, 807 us.
  CHECK(first(8192) == std::pair(256, 128));
  // 8, 116 us; 6, 125 us; and 4, 110 us.
  CHECK(first(4096) == std::pair(256, 128));
}

TEST_CASE("promoted sums whose scales differ by columns cost more: no exchanged kernel comes first",
          "[ranking]") {
  // 128x256 exchanged took 800 us and more on an H100, 128x192 607.
  const CandidateList found = ranked(block_scaled_problem(12672, 4096, 7168));
  REQUIRE(found.size() > 4);
  CHECK(found.front().metadata().design.orientation == Orientation::direct);
  double direct = 0, exchanged = 0;
  for (const Candidate& kernel : found) {
    const DesignMetadata& design = kernel.metadata().design;
    if (design.tile != Extent3{256, 128, 128} && design.tile != Extent3{128, 256, 128}) continue;
    (design.orientation == Orientation::direct ? direct : exchanged) = kernel.predicted_seconds();
  }
  REQUIRE((direct > 0 && exchanged > 0));
  CHECK(exchanged > 1.2 * direct);
}

TEST_CASE("tiles that all run at one time go along the longer extent", "[ranking]") {
  const auto raster_of = [](std::int64_t m, std::int64_t n) {
    const GemmArguments args = test::plain_problem(m, n, 4096, DType::bf16);
    const auto kernel = find_kernel("gemm_sm90_bf16_bf16_f32_bf16_rcr_64x64x128_c1x1_s6_one_tile_a8x8");
    REQUIRE(kernel);
    for (const Candidate& each : ranked(args)) {
      if (each.name() == kernel->name()) return *each.controls().raster;
    }
    FAIL("the kernel was not found");
    return Raster::along_n;
  };
  CHECK(raster_of(2048, 256) == Raster::along_m);
  CHECK(raster_of(256, 2048) == Raster::along_n);
}

TEST_CASE("groups that fill their room are not reckoned with half a tile more", "[ranking]") {
  // Of 1024 x 4096 x 7168 on an H100, 128 tiles of 256 x 128 take 57 us; 208 of 128 x 160, 70 us. Of 1024 x
  // 7168 x 2048, 224 of 256 x 128 take 38.7 us; 360 of 128 x 160, 37.4 us.
  const auto first = [](std::int64_t groups, std::int64_t rows, std::int64_t n, std::int64_t k) {
    const std::int64_t n_blocks = n / 128, k_blocks = k / 128;
    GroupedGemmArguments args;
    args.a = TensorView::row_major(nullptr, DType::e4m3, {groups, rows, k});
    args.b = TensorView::column_major(nullptr, DType::e4m3, {groups, k, n});
    args.out = TensorView::row_major(nullptr, DType::bf16, {groups, rows, n});
    args.sizes = TensorView::vector(nullptr, DType::s32, groups);
    args.sizes_are = SizesAre::counts;
    args.a_scale = TensorView::column_major(nullptr, DType::f32, {groups, rows, k_blocks});
    args.a_scale_granularity = ScaleGranularity::block_1x128;
    args.b_scale = TensorView::row_major(nullptr, DType::f32, {groups, k_blocks, n_blocks});
    args.b_scale_granularity = ScaleGranularity::block_128x128;
    const CandidateList list = get_kernels(args, {}, {.device = &h200()});
    INFO(list.status().message());
    REQUIRE_FALSE(list.empty());
    const auto& [tile_m, tile_n, tile_k] = list.front().metadata().design.tile;
    return std::pair(tile_m, tile_n);
  };
  for (const int groups : {1, 2, 4}) {
    CAPTURE(groups);
    CHECK(first(groups, 1024 / groups, 4096, 7168) == std::pair(256, 128));
    CHECK(first(groups, 1024 / groups, 7168, 2048) == std::pair(128, 160));
  }
}

TEST_CASE("C or a residual keeps the widest tiles first where it comes without a bias", "[ranking]") {
  // Of 8192x8192x1024 on an H200, 128x192 takes 203 us with C, and 128x128 takes 210; in a loop,
  // as with a bias, 231 and 211.
  const auto first_elements = [](const GemmArguments& args) {
    const CandidateList list = ranked(args);
    REQUIRE_FALSE(list.empty());
    INFO(list.front().name());
    CHECK(list.front().metadata().design.schedule == Schedule::ping_pong);
    return list.front().metadata().design.tile.m * list.front().metadata().design.tile.n;
  };
  GemmArguments args = test::plain_problem(8192, 8192, 1024, DType::bf16);
  args.b = TensorView::column_major(nullptr, DType::bf16, {1024, 8192});
  GemmArguments with_c = args;
  with_c.c = args.out;
  with_c.epilogue.beta = 1.0;
  GemmArguments with_residual = args;
  with_residual.epilogue.residual = args.out;
  for (GemmArguments added : {with_c, with_residual}) {
    CHECK(first_elements(added) == 128 * 192);
    added.epilogue.bias = TensorView::vector(nullptr, DType::bf16, 8192);
    CHECK(first_elements(added) == 128 * 128);
  }
}

TEST_CASE("gradients of filters go to tiles of whole lines of channels", "[ranking]") {
  // Kernels whose tiles of 96 columns load 32 channels at a time took twice as long on an H200.
  const auto nhwc = [](std::initializer_list<std::int64_t> extents) {
    return TensorView::row_major(nullptr, DType::bf16, extents);
  };
  const Conv2dArguments args = {.direction = Direction::wgrad,
                                .a = nhwc({32, 14, 14, 256}),
                                .b = nhwc({32, 14, 14, 256}),
                                .out = nhwc({256, 3, 3, 256}),
                                .padding = {1, 1}};
  const CandidateList found = get_kernels(args, {}, {.device = &h200()});
  INFO(found.status().message());
  REQUIRE_FALSE(found.empty());
  INFO(found.front().name());
  CHECK(found.front().metadata().family == "conv2d_sm90");
  CHECK(found.front().metadata().design.tile.n % 64 == 0);
}

TEST_CASE("slices of gradients of filters fill several rounds where tiles do not fill one", "[ranking]") {
  // 72 tiles leave half of an H200 idle: one slice took 318 us, five took 263.
  const auto nhwc = [](std::initializer_list<std::int64_t> extents) {
    return TensorView::row_major(nullptr, DType::bf16, extents);
  };
  const Conv2dArguments args = {.direction = Direction::wgrad,
                                .a = nhwc({2, 128, 128, 512}),
                                .b = nhwc({2, 128, 128, 512}),
                                .out = nhwc({512, 3, 3, 512}),
                                .padding = {1, 1}};
  const CandidateList found = get_kernels(args, {}, {.device = &h200()});
  REQUIRE_FALSE(found.empty());
  const Candidate& best = found.front();
  INFO(best.name());
  const Extent3 tile = best.metadata().design.tile;
  const int tiles = (512 + tile.m - 1) / tile.m * ((9 * 512 + tile.n - 1) / tile.n);
  CHECK(tiles > h200().multiprocessors / 2);
  CHECK(*best.controls().split_k_slices * tiles > h200().multiprocessors);
}

TEST_CASE("partial sums of warpgroups whose registers are full are no bargain", "[ranking]") {
  // 327x240x30440 on an H100: 192x128 ping_pong in 32 slices took 43 us, 128x128 in 22 slices 27.5.
  const KernelMetadata first = first_on_h100(test::plain_problem(327, 240, 30440, DType::bf16));
  INFO(first.name);
  const int sums =
      first.design.tile.m * first.design.tile.n / (first.design.schedule == Schedule::ping_pong ? 1 : 2);
  CHECK(sums <= 128 * 128);
}

TEST_CASE("mma.sync does not hide device memory: C beside a tall output goes to wgmma", "[ranking]") {
  // 62 us by gemm_sm80 on an H100, 31 by gemm_sm90.
  GemmArguments args = column_b_problem(23677, 104, 1224);
  args.c = TensorView::row_major(nullptr, DType::bf16, {23677, 104});
  args.epilogue.beta = 1.0;
  const KernelMetadata first = first_on_h100(args);
  INFO(first.name);
  CHECK(first.family == "gemm_sm90");
}

TEST_CASE("promoted sums hide device memory within long K", "[ranking]") {
  // 50 us in one piece on an H100, 69 to 71 in two and three slices.
  const KernelMetadata first = first_on_h100(block_scaled_problem(128, 7168, 16384));
  INFO(first.name);
  CHECK(first.design.tile.m * first.design.tile.n == 64 * 128);
}

TEST_CASE("outputs in lines of 384 bytes are written slowly", "[ranking]") {
  // Hardly any K on an H100: 128x192 ping_pong took 28.3 us at 3533x5528x32 and 12.1 at 488x17984x24, the
  // best kernels 24.0 and 8.9.
  for (const auto& [m, n, k] : {std::array{3533, 5528, 32}, std::array{488, 17984, 24}}) {
    const KernelMetadata first = first_on_h100(column_b_problem(m, n, k));
    INFO(first.name);
    CHECK(first.design.tile.n % 128 == 0);
  }
}

namespace {

/// Seconds of one kernel on an H200, in one piece.
double seconds_of(const char* kernel, std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmArguments args = column_b_problem(m, n, k);
  args.controls.mode = Mode::gemm;
  FindOptions options;
  options.device = &h200();
  const CandidateList found = get_kernels(args, *Filter::parse("name == " + std::string(kernel)), options);
  REQUIRE(found.size() == 1);
  return found.front().predicted_seconds();
}

}  // namespace

TEST_CASE("the last tiles of a launch take less where few multiprocessors have one left", "[ranking]") {
  for (const char* kernel : {"gemm_sm90_bf16_bf16_f32_bf16_rcr_128x128x64_c1x1_s6_cooperative_a8x8",
                             "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x128x64_c1x1_s6_ping_pong_a8x8",
                             "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x128x64_c1x1_s6_one_tile_a8x8"}) {
    CAPTURE(kernel);
    const auto seconds = [&](int tiles_m, int tiles_n) {
      return seconds_of(kernel, 128 * tiles_m, 128 * tiles_n, 1024);
    };
    const double one_round = seconds(11, 12);
    const double one_tile_more = seconds(7, 19);
    const double two_rounds = seconds(12, 22);
    CHECK(one_tile_more > one_round);
    CHECK(one_tile_more < 0.95 * two_rounds);
  }
}

TEST_CASE("tiles whose width is no power of two multiply more slowly", "[ranking]") {
  // The same number of K tiles, and of rounds: 192 columns of 128 rows against three quarters of 256.
  const auto growth = [](const char* kernel, std::int64_t n) {
    return seconds_of(kernel, 128, n, 16384) - seconds_of(kernel, 128, n, 8192);
  };
  const double of_192 = growth("gemm_sm90_bf16_bf16_f32_bf16_rcr_128x192x64_c1x1_s4_cooperative_a8x8", 192);
  const double of_256 = growth("gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c1x1_s4_cooperative_a8x8", 256);
  CHECK(of_192 > 0.79 * of_256);
  CHECK(of_192 < of_256);
}

TEST_CASE("a single row is not written by kernels of column-major outputs", "[ranking]") {
  // 1x4120x256 on an H200: 3.6 us by 16x64 with rows, 4.5 with columns, 5.2 by 32x64.
  GemmArguments args = {.a = TensorView::row_major(nullptr, DType::f32, {1, 256}),
                        .b = TensorView::column_major(nullptr, DType::f32, {256, 4120}),
                        .out = TensorView::row_major(nullptr, DType::f32, {1, 4120})};
  args.math = Math::fast_tf32;
  const CandidateList list = ranked(args);
  REQUIRE_FALSE(list.empty());
  INFO(list.front().name());
  CHECK(list.front().metadata().operands.out.layout == Layout::row);
  // The same of a single column.
  const GemmArguments transposed = {.a = TensorView::row_major(nullptr, DType::f32, {4120, 256}),
                                    .b = TensorView::column_major(nullptr, DType::f32, {256, 1}),
                                    .out = TensorView::column_major(nullptr, DType::f32, {4120, 1}),
                                    .math = Math::fast_tf32};
  CHECK(best_seconds(transposed) == Approx(list.front().predicted_seconds()));
}
