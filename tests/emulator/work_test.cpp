/// Kernels with another epilogue than the standard one, and with a scheduler whose problems differ: neither
/// needs more than what a template parameter gives them.
#include <random>
#include <vector>

#include "arch/sm90.hpp"
#include "emulator/launch.hpp"
#include "gemm_simt/kernel.cuh"
#include "gemm_sm80/kernel.cuh"
#include "gemm_sm90/kernel.cuh"
#include "lab/problems/fresh_seed.hpp"
#include "reduce_split_k/kernel.cuh"
#include "support/catch_compat.hpp"

using namespace quarry;
using emulator::MemoryUse;

namespace {

/// An epilogue that tells places apart: sum + 1000 row + column, wherever the kernel has it from.
struct ByPlace {
  template <class Sum, class Out, EpilogueForm form>
  class For {
   public:
    static constexpr bool has_short_ways = false;

    template <class Params>
    For(const Params& params, int batch)
        : out_(matrix_of<Out>(form.by_columns ? transposed(params.out) : params.out, batch)) {}

    Quad<Out> outputs(int row, int column, int, const Quad<Sum>& sum) const {
      Quad<Out> result;
      for (int i = 0; i < 4; ++i) {
        const int along = column + i;
        result.v[i] =
            sum.v[i] + static_cast<float>(form.by_columns ? 1000 * along + row : 1000 * row + along);
      }
      return result;
    }
    void store(int row, int column, int count, const Quad<Out>& result) const {
      out_.store(row, column, count, result);
    }

   private:
    MatrixView<Out> out_;
  };
};

constexpr Types f16_types = {DType::f16, DType::f16, DType::f32, DType::f32};
constexpr Layouts rows = {Layout::row, Layout::row, Layout::row};
constexpr Layouts columns_out = {Layout::row, Layout::row, Layout::column};

constexpr gemm_simt::Config simt = {f16_types, rows, {32, 32, 16}, 2, 2};
constexpr gemm_sm80::Config sm80 = {f16_types, rows, {32, 32, 32}, {1, 1, 2}, 3, {8, 8}};
constexpr gemm_sm90::Config sm90_of(Layouts layouts) {
  return {f16_types,           layouts, {64, 64, 64}, {1, 1}, 4, Schedule::one_tile, CopyEngine::cp_async,
          Orientation::direct, {4, 4}};
}
constexpr gemm_sm90::Config sm90 = sm90_of(rows);
constexpr gemm_sm90::Config sm90_columns = sm90_of(columns_out);
constexpr reduce_split_k::Config reduction = {DType::f32, DType::f32, Layout::row};

/// Problems of one launch that share A, by its rows and columns, and the output, by its rows. Each has a
/// matrix of B, of which it reads rows that another problem may not.
struct Group {
  int batch;
  int first_row;
  int rows;
  int columns;
  int first_k;
  int depth;

  int m() const { return rows; }
  int n() const { return columns; }
  int k() const { return depth; }
  OperandBase a() const { return {0, first_row, first_k}; }
  OperandBase b() const { return {batch, first_k, 0}; }
  OperandBase out() const { return {0, first_row, 0}; }
};

constexpr int groups = 4;
struct GroupParams {
  GemmParams gemm;
  Group group[groups];
};

/// Tile `tile` of all groups, one group's after another's.
WorkOf<Group> group_work(const GroupParams& params, Tile shape, int tile) {
  const auto tiles_of = [](int extent, int of_tile) { return (extent + of_tile - 1) / of_tile; };
  int g = 0;
  int tiles_n = 0;
  for (;; ++g) {
    const Group& group = params.group[g];
    tiles_n = tiles_of(group.columns, shape.n);
    const int tiles = tiles_of(group.rows, shape.m) * tiles_n;
    if (tile < tiles) break;
    tile -= tiles;
  }
  const Group& group = params.group[g];
  return {group, 0, tile / tiles_n, tile % tiles_n, 0, tiles_of(group.depth, shape.k)};
}

template <gemm_sm80::Config config, class Epilogue>
void group_kernel(const GroupParams& params) {
  const auto work = group_work(params, config.tile, static_cast<int>(arch::block_index()));
  gemm_sm80::compute<config, Epilogue, TileWriter>(params.gemm, work, arch::shared_memory());
}

}  // namespace

QUARRY_ENTRY(test_epilogue_simt, GemmParams, gemm_simt::kernel, (simt), ByPlace)
QUARRY_ENTRY(test_epilogue_sm80, GemmParams, gemm_sm80::kernel, (sm80), ByPlace)
QUARRY_ENTRY(test_epilogue_sm90, TensorGemmParams, gemm_sm90::kernel, (sm90), ByPlace)
QUARRY_ENTRY(test_epilogue_sm90_columns, TensorGemmParams, gemm_sm90::kernel, (sm90_columns), ByPlace)
QUARRY_ENTRY(test_epilogue_reduction, ReduceParams, reduce_split_k::kernel, (reduction), ByPlace)
QUARRY_ENTRY(test_groups, GroupParams, group_kernel, (sm80), ByPlace)

namespace {

/// Small whole numbers, whose sums are exact.
std::vector<arch::F16> numbers(int count, std::mt19937& random) {
  std::vector<arch::F16> made(static_cast<std::size_t>(count));
  for (arch::F16& x : made) x = arch::to_f16(static_cast<float>(static_cast<int>(random() % 9) - 4));
  return made;
}

template <class T>
std::size_t bytes(const std::vector<T>& v) {
  return v.size() * sizeof(T);
}

emulator::Launch launch_of(const emulator::Entry& entry, const void* params, int grid, int threads,
                           int shared) {
  return {.entry = &entry,
          .params = params,
          .grid = static_cast<unsigned>(grid),
          .threads = static_cast<unsigned>(threads),
          .shared_memory = static_cast<unsigned>(shared)};
}

}  // namespace

TEST_CASE("kernels of all families take another epilogue", "[epilogue]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  constexpr int m = 70, n = 88, k = 104;
  const auto a = numbers(m * k, random);
  const auto b = numbers(k * n, random);
  const auto run = [&](const emulator::Entry& entry, auto params, GemmParams& gemm, bool by_columns,
                       Tile tile, int threads, int shared) {
    std::vector<float> out(static_cast<std::size_t>(m * n), -1.0f);
    gemm.a = {a.data(), k, 1, 0};
    gemm.b = {b.data(), n, 1, 0};
    gemm.out = by_columns ? MatrixParams{out.data(), 1, m, 0} : MatrixParams{out.data(), n, 1, 0};
    gemm.m = m;
    gemm.n = n;
    gemm.k = k;
    gemm.batch = gemm.slices = 1;
    gemm.mode = Mode::gemm;
    gemm.tiles_m = (m + tile.m - 1) / tile.m;
    gemm.tiles_n = (n + tile.n - 1) / tile.n;
    gemm.k_tiles_per_slice = (k + tile.k - 1) / tile.k;
    emulator::GlobalMemory global;
    global.add(a.data(), bytes(a), MemoryUse::input, "a");
    global.add(b.data(), bytes(b), MemoryUse::input, "b");
    global.add(out.data(), bytes(out), MemoryUse::output, "out");
    const auto launch = launch_of(entry, params(), gemm.tiles_m * gemm.tiles_n, threads, shared);
    const emulator::Outcome outcome = emulator::run(launch, global, {.seed = seed});
    REQUIRE(outcome.fault == "");
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = static_cast<float>(1000 * i + j);
        for (int l = 0; l < k; ++l) sum += arch::to_f32(a[i * k + l]) * arch::to_f32(b[l * n + j]);
        REQUIRE(out[by_columns ? j * m + i : i * n + j] == sum);
      }
    }
  };
  GemmParams plain = {};
  const auto of_plain = [&] { return static_cast<const void*>(&plain); };
  TensorGemmParams tensor = {};
  const auto of_tensor = [&] {
    tensor.finder = tile_finder(tensor.gemm, sm90.tile.k);
    return static_cast<const void*>(&tensor);
  };
  run(test_epilogue_simt, of_plain, plain, false, simt.tile, threads(simt), shared_memory_bytes(simt));
  run(test_epilogue_sm80, of_plain, plain, false, sm80.tile, threads(sm80), shared_memory_bytes(sm80));
  run(test_epilogue_sm90, of_tensor, tensor.gemm, false, sm90.tile, threads(sm90), shared_memory_bytes(sm90));
  run(test_epilogue_sm90_columns, of_tensor, tensor.gemm, true, sm90.tile, threads(sm90_columns),
      shared_memory_bytes(sm90_columns));
}

TEST_CASE("the reduction takes another epilogue", "[epilogue]") {
  constexpr int m = 5, n = 7, slices = 3;
  std::vector<float> partials(m * n * slices);
  for (std::size_t i = 0; i < partials.size(); ++i) partials[i] = static_cast<float>(i);
  std::vector<float> out(m * n);
  ReduceParams params = {};
  params.partials = partials.data();
  params.out = {out.data(), n, 1, 0};
  params.m = m;
  params.n = n;
  params.batch = 1;
  params.slices = slices;
  emulator::GlobalMemory global;
  global.add(partials.data(), bytes(partials), MemoryUse::input, "partials");
  global.add(out.data(), bytes(out), MemoryUse::output, "out");
  const auto launch = launch_of(test_epilogue_reduction, &params, 1, threads(reduction), 0);
  REQUIRE(emulator::run(launch, global).fault == "");
  for (int i = 0; i < m * n; ++i) {
    const int sum = 3 * i + (0 + 1 + 2) * m * n;
    REQUIRE(out[static_cast<std::size_t>(i)] == static_cast<float>(sum + 1000 * (i / n) + i % n));
  }
}

TEST_CASE("a scheduler hands out tiles of problems that differ", "[work]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  constexpr int all_rows = 130, n = 56, all_k = 88;
  const auto a = numbers(all_rows * all_k, random);
  const auto b = numbers(groups * all_k * n, random);
  std::vector<float> out(all_rows * n, -1.0f);
  GroupParams params = {};
  params.gemm.a = {a.data(), all_k, 1, 0};
  params.gemm.b = {b.data(), n, 1, all_k * n};
  params.gemm.out = {out.data(), n, 1, 0};
  params.gemm.slices = 1;
  params.gemm.mode = Mode::gemm;
  // Rows 101 to 109 are of no problem; the second one is empty, the last one adds up nothing.
  const Group problems[groups] = {
      {0, 0, 37, n, 0, all_k}, {1, 37, 0, n, 0, all_k}, {2, 37, 64, n - 3, 8, 50}, {3, 110, 20, n, 0, 0}};
  int grid = 0;
  for (int g = 0; g < groups; ++g) {
    params.group[g] = problems[g];
    grid += (problems[g].rows + sm80.tile.m - 1) / sm80.tile.m * ((n + sm80.tile.n - 1) / sm80.tile.n);
  }
  emulator::GlobalMemory global;
  global.add(a.data(), bytes(a), MemoryUse::input, "a");
  global.add(b.data(), bytes(b), MemoryUse::input, "b");
  global.add(out.data(), bytes(out), MemoryUse::output, "out");
  const auto launch = launch_of(test_groups, &params, grid, threads(sm80), shared_memory_bytes(sm80));
  const emulator::Outcome outcome = emulator::run(launch, global, {.seed = seed});
  REQUIRE(outcome.fault == "");

  std::vector<float> expected(all_rows * n, -1.0f);
  for (const Group& g : problems) {
    for (int i = g.first_row; i < g.first_row + g.rows; ++i) {
      for (int j = 0; j < g.columns; ++j) {
        float sum = static_cast<float>(1000 * i + j);
        for (int l = g.first_k; l < g.first_k + g.depth; ++l) {
          sum += arch::to_f32(a[i * all_k + l]) * arch::to_f32(b[(g.batch * all_k + l) * n + j]);
        }
        expected[static_cast<std::size_t>(i * n + j)] = sum;
      }
    }
  }
  REQUIRE(out == expected);
}
