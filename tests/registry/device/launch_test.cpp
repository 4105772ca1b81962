// The numbers of a launch, against their definitions.
#include <algorithm>
#include <string>

#include "gemm/host.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "reduce_split_k/params.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_rules.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using detail::Row;
using test::Random;

struct Resolved {
  const Row* row = nullptr;
  GemmProblem problem;
  ChosenControls controls;
  /// Fills a launch. Null: it has no step.
  const Step* launch(Launch& launch) const {
    detail::gemm::family_of(*row).launch(row->entry_config, problem, controls, launch);
    return kernel_step(launch);
  }
  /// The tile of the device code, of a whole cluster.
  Extent3 tile() const {
    const Extent3& t = row->metadata.design.tile;
    const Cluster c = row->metadata.design.cluster.value_or(Cluster{});
    return row->exchanged ? Extent3{t.n * c.n, t.m * c.m, t.k} : Extent3{t.m * c.m, t.n * c.n, t.k};
  }
  /// Blocks of the launch, by the rules of the schedule, and of a cluster.
  unsigned grid(unsigned work) const;
  /// The same where blocks share tiles: four K tiles each, or a tile.
  unsigned sharing_grid(unsigned tiles) const;
  unsigned cluster() const {
    if (simplified(controls).mode == Mode::split_k_cluster)
      return static_cast<unsigned>(controls.split_k_slices);
    return static_cast<unsigned>(test::cluster_blocks(row->metadata.design));
  }
};

unsigned Resolved::sharing_grid(unsigned tiles) const {
  const int k_tiles = controls.mode == Mode::gemm ? 0 : (problem.k + tile().k - 1) / tile().k;
  const auto at_once = static_cast<unsigned long long>(controls.multiprocessors * controls.resident);
  const unsigned long long by_work =
      std::max(tiles * 1ULL, tiles * 1ULL * static_cast<unsigned>(k_tiles) / 4);
  return static_cast<unsigned>(std::min(at_once, by_work));
}

unsigned Resolved::grid(unsigned work) const {
  const DesignMetadata& design = row->metadata.design;
  const auto blocks = static_cast<unsigned>(test::cluster_blocks(design));
  const auto all = static_cast<unsigned>(controls.multiprocessors);
  if (!test::is_persistent(design)) return work * blocks;
  if (design.schedule == Schedule::stream_k) return sharing_grid(work);
  // Of clusters of four, the remainder of each GPC holds no cluster: an eleventh of the multiprocessors stays
  // idle.
  REQUIRE((blocks <= 2 || blocks == 4));
  const unsigned at_once = blocks <= 2 ? all / blocks : (all - all / 11) / blocks;
  return std::min(work, std::max(at_once, 1U)) * blocks;
}

/// A problem that its row takes; nothing where it does not.
bool resolve(const Row& row, const GemmArguments& args, Resolved& resolved) {
  static const DeviceModel device = test::device_named("h200");
  resolved.row = &row;
  return static_cast<bool>(test::resolve(row, args, {}, device, resolved.problem, resolved.controls));
}

long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }

bool is_empty_output(const GemmProblem& p) { return p.m == 0 || p.n == 0 || p.batch == 0; }

}  // namespace

TEST_CASE("grid, slices and workspace of random launches", "[launch]") {
  const auto seed = GENERATE(1U, 2U, 3U);
  INFO("seed " << seed);
  Random random(seed);
  int checked = 0;
  int by_mode[5] = {};
  // Few kernels split K by cluster: problems are drawn until each mode has been seen often enough.
  const auto enough = [&] { return checked > 1000 && std::ranges::min(by_mode) > 20; };
  for (int i = 0; i < 50000 && !enough(); ++i) {
    const Row& row = test::any_row(random);
    GemmArguments args = test::problem_for(random, row);
    Resolved r;
    if (!resolve(row, args, r)) continue;
    ++checked;
    Launch launch;
    const Step& kernel = *r.launch(launch);
    const GemmParams& p = params_of<GemmParams>(launch.image, kernel);
    const Extent3 tile = r.tile();
    CAPTURE(row.metadata.name, p.m, p.n, p.k, p.batch, static_cast<int>(p.mode), p.slices);
    ++by_mode[static_cast<int>(p.mode)];

    REQUIRE(p.tiles_m == ceil_div(p.m, tile.m));
    REQUIRE(p.tiles_n == ceil_div(p.n, tile.n));
    REQUIRE(kernel.grid == r.grid(static_cast<unsigned>(p.batch * p.slices * p.tiles_m * p.tiles_n)));
    REQUIRE(kernel.cluster == r.cluster());
    REQUIRE(kernel.grid % kernel.cluster == 0);
    REQUIRE(kernel.blocks_wait == (p.mode == Mode::split_k_serial || p.mode == Mode::stream_k));
    // Hopper's kernels alone do: others would start before what they read is there.
    REQUIRE(kernel.waits_for_earlier == (row.metadata.family == "gemm_sm90"));
    REQUIRE(p.raster == r.controls.raster);
    REQUIRE(kernel.threads == static_cast<unsigned>(row.metadata.design.threads));
    REQUIRE(kernel.shared_memory == static_cast<unsigned>(row.metadata.design.shared_memory));
    REQUIRE(1 << p.swizzle_log2 == r.controls.swizzle);
    const long long k_tiles = ceil_div(p.k, tile.k);
    REQUIRE(static_cast<long long>(p.slices) * p.k_tiles_per_slice >= k_tiles);  // all of K is covered
    REQUIRE(p.slices >= 1);
    REQUIRE((p.slices == 1) == (p.mode == Mode::gemm || p.mode == Mode::stream_k));

    const std::size_t element = args.accumulator == DType::f64 ? 8 : 4;
    const auto outputs =
        static_cast<std::size_t>(p.batch) * static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n);
    const auto all_tiles = static_cast<std::size_t>(p.batch * p.tiles_m * p.tiles_n);
    REQUIRE(launch.workspace_bytes ==
            detail::gemm::family_of(row).workspace_size(row.entry_config, r.problem, r.controls));
    REQUIRE(launch.workspace_bytes % 256 == 0);
    const Step* const reduction = kernel_step(launch, 1);
    const WorkspacePart* const counters = find_part(launch, "counters");
    const WorkspacePart* const sums = find_part(launch, "partial sums");
    REQUIRE((reduction != nullptr) == (p.mode == Mode::split_k_parallel));
    REQUIRE((counters != nullptr) == (p.mode == Mode::split_k_serial || p.mode == Mode::stream_k));
    REQUIRE((sums != nullptr) == (launch.workspace_bytes > 0));
    REQUIRE(launch.steps[0].kind == (counters != nullptr ? Step::Kind::clear : Step::Kind::kernel));
    REQUIRE(launch.steps.count == 1 + (counters != nullptr) + (reduction != nullptr));
    if (counters != nullptr) {
      REQUIRE(launch.steps[0].clear_at == counters->offset);
      REQUIRE(launch.steps[0].clear_bytes == counters->bytes);
    }
    if (p.mode == Mode::gemm || p.mode == Mode::split_k_cluster) {
      REQUIRE(launch.workspace_bytes == 0);
    } else if (p.mode == Mode::stream_k) {
      REQUIRE(kernel.grid > 1);
      REQUIRE(all_tiles % kernel.grid != 0);
      const std::size_t partials = (kernel.grid - 1) * static_cast<std::size_t>(tile.m * tile.n) * element;
      REQUIRE(sums->bytes == partials);
      REQUIRE(counters->offset >= partials);
      REQUIRE(counters->bytes == 4 * kernel.grid);
      REQUIRE(counters->offset + counters->bytes <= launch.workspace_bytes);
      REQUIRE(launch.workspace_bytes < partials + counters->bytes + 512);
    } else if (p.mode == Mode::split_k_serial) {
      const std::size_t partials = all_tiles * static_cast<std::size_t>(tile.m * tile.n) * element;
      REQUIRE(sums->bytes == partials);
      REQUIRE(counters->offset >= partials);
      REQUIRE(counters->bytes == 4 * (all_tiles + 1));
      REQUIRE(counters->offset + counters->bytes <= launch.workspace_bytes);
      REQUIRE(launch.workspace_bytes < partials + counters->bytes + 512);
    } else {
      const std::size_t partials = outputs * static_cast<std::size_t>(p.slices) * element;
      REQUIRE(sums->bytes == partials);
      REQUIRE(launch.workspace_bytes >= partials);
      REQUIRE(launch.workspace_bytes < partials + 256);
      const ReduceParams& reduce = params_of<ReduceParams>(launch.image, *reduction);
      REQUIRE(reduce.slices == p.slices);
      // The reduction of device code that writes columns is the transposed output's.
      const bool transposed = !has_contiguous_rows(row.metadata.operands.out.layout) != row.exchanged;
      REQUIRE(reduce.m == (transposed ? p.n : p.m));
      REQUIRE(reduce.n == (transposed ? p.m : p.n));
      REQUIRE(reduce.out.row_stride == (transposed ? p.out.column_stride : p.out.row_stride));
      REQUIRE(reduce.out.column_stride == (transposed ? p.out.row_stride : p.out.column_stride));
      REQUIRE((reduce.epilogue.bias_axis == p.epilogue.bias_axis) == !transposed);
      using Matrices = std::pair<const MatrixParams&, const MatrixParams&>;
      const EpilogueParams& e = p.epilogue;
      const EpilogueParams& reduced = reduce.epilogue;
      for (const auto& [one, other] :
           {Matrices(e.scale, reduced.scale), Matrices(e.residual, reduced.residual),
            Matrices(e.aux, reduced.aux)}) {
        REQUIRE(other.data == one.data);
        REQUIRE(other.row_stride == (transposed ? one.column_stride : one.row_stride));
        REQUIRE(other.column_stride == (transposed ? one.row_stride : one.column_stride));
      }
      REQUIRE(reduce.batch == p.batch);
      REQUIRE(static_cast<std::size_t>(reduction->grid) * reduction->threads * 4 >= outputs);
      REQUIRE(detail::entry_of(row.companions[0]).name.starts_with("reduce_split_k_"));
    }
  }
  CHECK(enough());
}

TEST_CASE("operands reach the launch in the orientation of its code", "[launch]") {
  Random random(9);
  for (int i = 0; i < 500; ++i) {
    const Row& row = test::any_row(random);
    GemmArguments args = test::problem_for(random, row);
    alignas(256) static char memory[1024];  // only its address counts
    args.a.data = memory;
    args.b.data = memory + 256;
    args.epilogue.alpha = 1.0;
    Resolved r;
    if (!resolve(row, args, r)) continue;
    Launch launch;
    const GemmParams& p = params_of<GemmParams>(launch.image, *r.launch(launch));
    CAPTURE(row.metadata.name);
    REQUIRE(p.a.data == (row.exchanged ? args.b.data : args.a.data));
    REQUIRE(p.b.data == (row.exchanged ? args.a.data : args.b.data));
    const std::size_t rows = args.out.rank - 2U;
    REQUIRE(p.m == args.out.extents[row.exchanged ? rows + 1 : rows]);
    REQUIRE(p.out.row_stride == args.out.strides[row.exchanged ? rows + 1 : rows]);
    const std::size_t a_rows = args.a.rank - 2U;
    const MatrixParams& callers_a = row.exchanged ? p.b : p.a;
    REQUIRE((row.exchanged ? callers_a.column_stride : callers_a.row_stride) == args.a.strides[a_rows]);
    if (args.epilogue.beta.value == 0) REQUIRE(p.c.data == nullptr);
  }
}

TEST_CASE("an output without elements launches nothing, a K of zero does", "[launch]") {
  const auto all = test::gemm_rows();
  const auto last = std::find_if(all.rbegin(), all.rend(), [](const Row& row) {
    return row.metadata.operands.a.alignment == 1 && row.metadata.operands.b.alignment == 1 &&
           !is_interleaved(test::layouts_of(row)) && test::takes_unscaled(row);
  });
  for (const Row& row : {std::cref(all.front()), std::cref(*last)}) {
    const Types types = test::types_of(row);
    const Layouts layouts = test::layouts_of(row);
    const auto matrix = [](DType type, Layout layout, std::int64_t m, std::int64_t n) {
      return layout == Layout::row ? TensorView::row_major(nullptr, type, {m, n})
                                   : TensorView::column_major(nullptr, type, {m, n});
    };
    for (const auto& [m, n, k] : {std::array{0, 64, 64}, std::array{64, 0, 64}, std::array{64, 64, 0}}) {
      const GemmArguments args = {.a = matrix(types.a, layouts.a, m, k),
                                  .b = matrix(types.b, layouts.b, k, n),
                                  .out = matrix(types.out, layouts.out, m, n),
                                  .accumulator = types.accumulator,
                                  .math = row.metadata.design.math};
      Resolved r;
      REQUIRE(resolve(row, args, r));
      Launch launch;
      const Step* const kernel = r.launch(launch);
      CHECK(launch.is_empty() == is_empty_output(r.problem));
      CHECK(launch.steps.count <= 1);
      CHECK(launch.workspace_bytes == 0);
      if (k == 0) CHECK(params_of<GemmParams>(launch.image, *kernel).k == 0);
    }
  }
}

TEST_CASE("one slice is no split", "[launch]") {
  Random random(3);
  const Row& row = detail::rows().front();
  GemmArguments args = test::problem_for(random, row);
  for (const Mode mode : {Mode::split_k_serial, Mode::split_k_parallel, Mode::split_k_cluster}) {
    args.controls = {.mode = mode, .split_k_slices = 1, .swizzle = 1};
    Resolved r;
    if (!resolve(row, args, r)) continue;
    Launch launch;
    CHECK(params_of<GemmParams>(launch.image, *r.launch(launch)).mode == Mode::gemm);
    CHECK(launch.workspace_bytes == 0);
  }
}
