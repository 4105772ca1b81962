#include "gemm_sm90/clusters.hpp"
#include "gemm_sm90/estimate.hpp"

namespace quarry::gemm_sm90 {

GemmTraits traits(const Config& c) {
  return {.tile = {c.tile.m * c.cluster.m, c.tile.n * c.cluster.n, c.tile.k},
          .layouts = c.layouts,
          .alignment = c.alignment,
          .accumulator = c.types.accumulator,
          .out = c.types.out,
          .threads = threads(c),
          .shared_memory = shared_memory_bytes(c),
          .cluster = static_cast<int>(blocks_of_cluster(c)),
          .cluster_n = c.cluster.n,
          .schedule = c.schedule,
          .maps_operands = c.copy == CopyEngine::tma,
          .cuts_by_cluster = adds_up_in_cluster(c),
          .scales = c.scales,
          .cuts_in_parallel = has_partials(c),
          .row_parts = c.cluster.n,
          .column_parts = c.cluster.m * c.tile.m / OutputBox::rows,
          .all_parts = c.cluster.m * c.cluster.n * storing_warps(c),
          .gated_columns = gated_columns(c),
          .eights_columns = eights_columns(c)};
}

}  // namespace quarry::gemm_sm90
