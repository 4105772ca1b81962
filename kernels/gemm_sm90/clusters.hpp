/// How many blocks run at once, in clusters. Host only.
#pragma once

#include <cstdint>

#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

constexpr unsigned blocks_of_cluster(const Config& c) {
  return static_cast<unsigned>(c.cluster.m) * static_cast<unsigned>(c.cluster.n);
}

/// Multiprocessors on which clusters of so many blocks run, one block each. A cluster lies within a GPC, and
/// those have different numbers of multiprocessors, in pairs: pairs always fit, the remainder of
/// each GPC holds no larger cluster. (On an H200 and an H100 with 132, 30 clusters of four were seen to run
/// at once, and on an H200 36 of three and 16 of six, but not 32 of four, 40 of three, 18 of six or 16 of
/// eight. A grid with one cluster too many takes twice as long, so rather too few.) A GPC of 16 or 17
/// multiprocessors holds two clusters of six.
constexpr unsigned usable_multiprocessors(unsigned cluster, int multiprocessors) {
  constexpr unsigned gpcs = 8;
  const auto all = static_cast<unsigned>(multiprocessors);
  if (cluster <= 2) return all;
  if (cluster == 4) return all - all / 11;
  if (cluster == 6) return all / gpcs / 6 * 6 * gpcs;
  return all - all / 9;
}

/// Clusters that run at once there. At least 1.
constexpr unsigned clusters_at_once(unsigned cluster, int multiprocessors) {
  const unsigned usable = usable_multiprocessors(cluster, multiprocessors);
  return usable < cluster ? 1 : usable / cluster;
}

/// count <= clusters_at_once(cluster, multiprocessors), without its division. @pre count >= 0
constexpr bool run_at_once(int count, unsigned cluster, int multiprocessors) {
  return count <= 1 ||
         static_cast<std::uint64_t>(count) * cluster <= usable_multiprocessors(cluster, multiprocessors);
}

}  // namespace quarry::gemm_sm90
