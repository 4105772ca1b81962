/// Tensor maps that a kernel makes; see arch/ptx/tensor_map.hpp. Here a map holds its fields themselves.
#pragma once

#include "arch/emulated/index.hpp"
#include "arch/emulated/memory.hpp"
#include "arch/emulated/warp.hpp"
#include "arch/tensor_map.hpp"
#include "arch/types_sm90.hpp"
#include "emulator/device_sm90.hpp"

namespace quarry::arch {

/// The words of a map that a lane moves: all lanes together move all.
struct MapWords {
  unsigned words[sizeof(TensorMap) / 4];
};

QUARRY_DEVICE void make_tensor_map(TensorMap* to, const TensorMap& like, const MatrixLines& matrix,
                                   SharedAddress scratch,
                                   const emulator::Site& site = emulator::Site::current()) {
  const int lane = lane_index();
  TensorMapFields fields;
  __builtin_memcpy(&fields, like.bytes, sizeof fields);
  fields.data = matrix.data;
  fields.extent[0] = static_cast<unsigned long long>(matrix.elements);
  fields.extent[1] = static_cast<unsigned long long>(matrix.lines);
  fields.stride[0] = static_cast<unsigned long long>(matrix.line_bytes);
  MapWords map = {};
  __builtin_memcpy(&map, &fields, sizeof fields);
  warp_barrier();
  shared_store(scratch + 4 * lane, map.words[lane], site);
  warp_barrier();
  global_store(reinterpret_cast<unsigned*>(to) + lane, shared_load<unsigned>(scratch + 4 * lane, site), site);
}

/// Reads the map as a thread does, so that one that another thread may still write is found.
QUARRY_DEVICE void acquire_tensor_map(const TensorMap& map,
                                      const emulator::Site& site = emulator::Site::current()) {
  for (int i = 0; i < static_cast<int>(sizeof map / 16); ++i)
    (void)global_load<Vector<unsigned, 4>>(map.bytes + 16 * i, site);
  emulator::acquire_tensor_map(&map);
}

}  // namespace quarry::arch
