/// Blocks of a cluster; see arch/ptx/cluster.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "arch/emulated/memory.hpp"
#include "emulator/device_sm90.hpp"

namespace quarry::arch {

QUARRY_DEVICE int cluster_rank() { return static_cast<int>(emulator::cluster_rank()); }
QUARRY_DEVICE int cluster_blocks() { return static_cast<int>(emulator::cluster_blocks()); }
QUARRY_DEVICE unsigned cluster_index() { return emulator::cluster_index(); }
QUARRY_DEVICE unsigned grid_clusters() { return emulator::grid_clusters(); }

QUARRY_DEVICE void cluster_arrive(const emulator::Site& site = emulator::Site::current()) {
  emulator::cluster_arrive(site);
}
QUARRY_DEVICE void cluster_arrive_relaxed(const emulator::Site& site = emulator::Site::current()) {
  emulator::cluster_arrive_relaxed(site);
}
QUARRY_DEVICE void cluster_wait(const emulator::Site& site = emulator::Site::current()) {
  emulator::cluster_wait(site);
}

template <class T>
QUARRY_DEVICE T peer_load(SharedAddress from, int rank,
                          const emulator::Site& site = emulator::Site::current());

template <>
QUARRY_DEVICE Vector<float, 4> peer_load<Vector<float, 4>>(SharedAddress from, int rank,
                                                           const emulator::Site& site) {
  Vector<float, 4> value;
  emulator::peer_read(from.value, rank, &value, sizeof value, sizeof value, site);
  return value;
}

}  // namespace quarry::arch
