/// Blocks of a cluster, which run at the same time and reach each other's shared memory.
#pragma once

#include "arch/ptx/entry.hpp"
#include "arch/ptx/memory.hpp"

namespace quarry::arch {

/// Number of the block in its one-dimensional cluster; 0 in a launch without clusters.
QUARRY_DEVICE int cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
}

/// Blocks of the cluster; 1 in a launch without clusters.
QUARRY_DEVICE int cluster_blocks() {
  unsigned blocks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return static_cast<int>(blocks);
}

/// Number of the cluster in its grid; the block's number in a launch without clusters.
QUARRY_DEVICE unsigned cluster_index() {
  unsigned index;
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(index));
  return index;
}

/// Clusters of the grid.
QUARRY_DEVICE unsigned grid_clusters() {
  unsigned count;
  asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(count));
  return count;
}

/// Counts as having come to the cluster's barrier, and goes on; every thread of the cluster calls it, then
/// cluster_wait. What threads did before they arrive is seen by all after they waited (PTX ISA,
/// barrier.cluster).
QUARRY_DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }

/// The same without that promise, which takes a fence of the whole device.
QUARRY_DEVICE void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

/// Waits until all threads of the cluster have arrived.
QUARRY_DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

/// Reads a value from the shared memory of the cluster's block `rank`, where it lies as `from` does in the
/// own block's.
template <class T>
QUARRY_DEVICE T peer_load(SharedAddress from, int rank);

template <>
QUARRY_DEVICE Vector<float, 4> peer_load<Vector<float, 4>>(SharedAddress from, int rank) {
  Vector<float, 4> value;
  unsigned address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(from.value), "r"(rank));
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.v[0]), "=f"(value.v[1]), "=f"(value.v[2]), "=f"(value.v[3])
               : "r"(address)
               : "memory");
  return value;
}

}  // namespace quarry::arch
