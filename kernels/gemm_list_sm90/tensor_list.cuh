/// Which tiles of which problems a block computes, one after another, and where their matrices lie: what
/// gemm_sm90 has as WorkList, MatrixSources and MatricesOf.
#pragma once

#include "gemm_list_sm90/bands.hpp"
#include "gemm_list_sm90/maps.cuh"
#include "gemm_sm90/handed_list.cuh"
#include "gemm_sm90/tensor_producer.cuh"
#include "gemm_sm90/work_matrices.cuh"

namespace quarry::gemm_list_sm90 {

/// A problem whose matrices have maps of their own, each of one entry. @tparam gated the output has half of
/// B's columns
template <bool gated>
struct TensorEntry : ListEntry {
  static constexpr bool has_neighbours = false;

  const Params& params;
  bool by_boxes;  ///< the engine stores the output
  bool is_first;  ///< the block's tile before it, if any, is another problem's

  QUARRY_DEVICE OperandBase a() const { return {0, 0, 0}; }
  QUARRY_DEVICE OperandBase b() const { return {0, 0, 0}; }
  QUARRY_DEVICE ListExtents of_output() const { return output_extents<gated>(extents); }
};
template <bool gated>
using TensorWork = WorkOf<TensorEntry<gated>>;

/// The clusters of a grid.
template <gemm_sm90::Config config>
struct Clusters {
  static constexpr bool are_blocks = config.cluster.m * config.cluster.n == 1;

  QUARRY_DEVICE static unsigned index() { return are_blocks ? arch::block_index() : arch::cluster_index(); }
  QUARRY_DEVICE static unsigned count() { return are_blocks ? arch::grid_blocks() : arch::grid_clusters(); }
};

/// The work of a block: tiles problem by problem. Each warp that copies walks the same list on its own, all
/// lanes together. Those that multiply are told (handed_list.cuh).
/// @tparam unit what N counts in; 1 without gated pairs
template <gemm_sm90::Config config, int unit = 1>
class TensorList {
 public:
  using Work = TensorWork<(unit > 1)>;
  static constexpr bool needs_warp = true;

  QUARRY_DEVICE TensorList(const Params& params, const gemm_sm90::ClusterPlace& place)
      : params_(params), place_(place), walk_(params, together), has_more_(walk_.advance()) {}

  QUARRY_DEVICE bool has_more() const { return has_more_; }
  QUARRY_DEVICE void advance() {
    problem_before_ = walk_.problem();
    has_more_ = walk_.advance();
  }

  /// The tile of this block, which may lie outside of the problem where its cluster's does not.
  QUARRY_DEVICE Work current() const {
    const int problem = walk_.problem();
    const ListExtents own = walk_.extents();
    const ListExtents of_output = output_extents<(unit > 1)>(own);
    const bool by_boxes =
        has_boxes<Element<config.types.out>>(params_, of_output, output_of(params_, problem, of_output));
    Work work = {{{problem, own}, params_, by_boxes, problem != problem_before_}, 0, 0, 0, 0, 0};
    const TilePlace of_cluster = place_in_bands<band>(static_cast<unsigned>(walk_.tile(own)),
                                                      static_cast<unsigned>(walk_.parts(own.m, together.m)),
                                                      static_cast<unsigned>(walk_.parts(own.n, together.n)));
    work.tile_m = of_cluster.m * config.cluster.m + place_.m;
    work.tile_n = of_cluster.n * config.cluster.n + place_.n;
    work.k_tiles = walk_.parts(own.k, config.tile.k);
    return work;
  }

 private:
  static constexpr Tile together = cluster_tile(config);
  static constexpr unsigned band = band_rows / together.m;
  static_assert(band >= 1);

  const Params& params_;
  const gemm_sm90::ClusterPlace& place_;
  ListWalk<Params, Clusters<config>, unit> walk_;
  bool has_more_;
  int problem_before_ = -1;
};

/// A tile on its way to those that multiply.
template <bool gated>
struct TensorWorkWords {
  QUARRY_DEVICE static gemm_sm90::WorkWords pack(const TensorWork<gated>& work) {
    const int flags = (work.by_boxes ? 1 : 0) | (work.is_first ? 2 : 0);
    return {{work.batch, work.extents.m, work.extents.n, work.extents.k},
            {work.tile_m, work.tile_n, work.k_tiles, flags}};
  }
  QUARRY_DEVICE static TensorWork<gated> unpack(const Params& params, const gemm_sm90::WorkWords& words) {
    const auto& problem = words.first.v;
    const auto& tile = words.second.v;
    const ListEntry entry = {problem[0], {problem[1], problem[2], problem[3]}};
    TensorWork<gated> work = {{entry, params, (tile[3] & 1) != 0, (tile[3] & 2) != 0}, 0, 0, 0, 0, 0};
    work.tile_m = tile[0];
    work.tile_n = tile[1];
    work.k_tiles = tile[2];
    return work;
  }
};

/// The sources of a tile, by its problem's maps. These are acquired at the first of the problem's tiles: all
/// later copies of the thread come after that.
/// @tparam unit what N counts in @tparam halves as of gemm_sm90::PartOfB
template <gemm_sm90::Config config, int unit = 1, bool halves = false>
struct ListSources
    : gemm_sm90::TileSources<config, gemm_sm90::BoxSource<gemm_sm90::box_a(config)>,
                             typename gemm_sm90::PartOfB<gemm_sm90::box_b(config), halves>::Source> {
  using SourceA = gemm_sm90::BoxSource<gemm_sm90::box_a(config)>;
  using List = TensorList<config, unit>;
  using OfB = gemm_sm90::PartOfB<gemm_sm90::box_b(config), halves>;

  template <class Work>
  QUARRY_DEVICE ListSources(const Params& params, const Work& work, const gemm_sm90::ClusterPlace& place)
      : gemm_sm90::TileSources<config, SourceA, typename OfB::Source>{
            {map_of(params, work.batch, Map::a), part_of_a(params.gemm.a, work, config.tile), place.n,
             gemm_sm90::sharers_of_a<config>(place)},
            {map_of(params, work.batch, Map::b), OfB::of(params.gemm.b, work, config.tile), place.m,
             gemm_sm90::sharers_of_b<config>(place)}} {
    if (work.k_tiles == 0 || !work.is_first) return;
    arch::acquire_tensor_map(map_of(params, work.batch, Map::a));
    arch::acquire_tensor_map(map_of(params, work.batch, Map::b));
  }
};

}  // namespace quarry::gemm_list_sm90

namespace quarry::gemm_sm90 {

template <Config config>
struct WorkListOf<config, ListTensorGemmParams> {
  using Type = gemm_list_sm90::TensorList<config>;
};

template <Config config>
struct HandingOf<config, ListTensorGemmParams>
    : HandsOver<config, ListTensorGemmParams, gemm_list_sm90::TensorWorkWords<false>> {
  using HandsOver<config, ListTensorGemmParams, gemm_list_sm90::TensorWorkWords<false>>::HandsOver;
};

/// A problem's matrix is an entry of what the launch has: at a stride, or where an array says.
template <bool gated>
struct MatricesOf<gemm_list_sm90::TensorWork<gated>> {
  using Work = gemm_list_sm90::TensorWork<gated>;
  static constexpr bool are_own = true;

  QUARRY_DEVICE static const TensorMap& out_map(const Work& work) {
    return gemm_list_sm90::map_of(work.params, work.batch, gemm_list_sm90::Map::out);
  }
  QUARRY_DEVICE static MatrixParams out(const TensorGemmParams& /*params*/, const Work& work) {
    return beside(gemm_list_sm90::output_of(work.params, work.batch, work.of_output()), work);
  }
  QUARRY_DEVICE static MatrixParams c(const TensorGemmParams& params, const Work& work) {
    const ListParams& list = work.params.list;
    if (list.leading == nullptr) return beside(params.gemm.c, work);
    return beside(with_leading(params.gemm.c, is_by_columns(list, ListMatrix::c),
                               gemm_list_sm90::given_leading(work.params, work.batch, ListMatrix::c),
                               work.m(), work.n(), 1),
                  work);
  }
  QUARRY_DEVICE static int a_scales(const Work& work) { return work.batch; }
  QUARRY_DEVICE static int b_scales(const Work& work) { return work.batch; }
  QUARRY_DEVICE static MatrixParams beside(const MatrixParams& matrix, const Work& work) {
    if (!is_pointer_array(matrix)) return matrix;
    const auto* const entry = static_cast<const void* const*>(matrix.data) + work.batch;
    return {arch::global_load<const void*>(entry), matrix.row_stride, matrix.column_stride, 0};
  }
};

}  // namespace quarry::gemm_sm90
