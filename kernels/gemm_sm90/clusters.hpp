/// How many blocks run at once, in clusters. Host only.
#pragma once

#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

constexpr unsigned blocks_of_cluster(const Config& c) {
  return static_cast<unsigned>(c.cluster.m) * static_cast<unsigned>(c.cluster.n);
}

/// Clusters of so many blocks, one a multiprocessor, that run at once. A cluster lies within a GPC, and those
/// have different numbers of multiprocessors, in pairs: pairs always fit, of larger clusters what is left
/// over in each GPC holds none. (On an H200 with 132, 30 clusters of four, 36 of three and 16 of six were
/// seen to run at once, but not 32 of four, 40 of three or 16 of eight. A grid with one cluster too many
/// takes twice as long, so rather too few.) At least 1.
constexpr unsigned clusters_at_once(unsigned cluster, int multiprocessors) {
  const auto all = static_cast<unsigned>(multiprocessors);
  const unsigned usable = cluster <= 2 ? all : all - all / 9;
  return usable < cluster ? 1 : usable / cluster;
}

}  // namespace quarry::gemm_sm90
