/// The bulk tensor copy engine, over the fields of a tensor map; see arch/ptx/tensor_copy.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "arch/tensor_map.hpp"
#include "arch/types_sm90.hpp"
#include "emulator/device.hpp"
#include "emulator/device_sm90.hpp"

namespace quarry::arch {

/// What the map was made of. Here a map holds its fields themselves.
inline emulator::Tensor tensor_of(const TensorMap& map) {
  static_assert(sizeof(TensorMapFields) <= sizeof map.bytes);
  TensorMapFields fields;
  __builtin_memcpy(&fields, map.bytes, sizeof fields);
  const PixelWalk& walk = fields.walk;
  return {.data = static_cast<const std::byte*>(fields.data),
          .element_bytes = static_cast<unsigned>(bytes_of(fields.dtype)),
          .rounds_to_tf32 = fields.rounds_to_tf32,
          .swizzle_bits = static_cast<unsigned>(fields.swizzle),
          .extent = {fields.extent[0], fields.extent[1], fields.extent[2], fields.extent[3]},
          .stride = {fields.stride[0], fields.stride[1], fields.stride[2]},
          .box = {fields.box[0], fields.box[1], fields.box[2]},
          .lower = {walk.lower[0], walk.lower[1]},
          .upper = {walk.upper[0], walk.upper[1]},
          .step = {walk.step[0], walk.step[1]}};
}

/// The same for a copy by it.
inline emulator::Tensor tensor_of(const TensorMap& map, const emulator::Site& site) {
  emulator::check_tensor_map(&map, site);
  return tensor_of(map);
}

inline emulator::BoxPlace box_place(int x, int y, int z) { return {{x, y, z, 0}, {0, 0}}; }
inline emulator::BoxPlace box_place(const PixelPlace& p) {
  return {{p.channel, p.column, p.row, p.image}, {p.columns_on, p.rows_on}};
}

QUARRY_DEVICE void prefetch_tensor_map(const TensorMap& map) { static_cast<void>(map); }

QUARRY_DEVICE void read_unwritten(SharedAddress first, int bytes,
                                  const emulator::Site& site = emulator::Site::current()) {
  emulator::shared_read_unwritten(first.value, static_cast<unsigned>(bytes), site);
}

QUARRY_DEVICE void tensor_load(SharedAddress to, const TensorMap& map, int x, int y, int z,
                               SharedAddress barrier,
                               const emulator::Site& site = emulator::Site::current()) {
  emulator::tensor_load(to.value, tensor_of(map, site), box_place(x, y, z), barrier.value,
                        1U << emulator::cluster_rank(), site);
}

/// There is no cache.
QUARRY_DEVICE void tensor_load_once(SharedAddress to, const TensorMap& map, int x, int y, int z,
                                    SharedAddress barrier,
                                    const emulator::Site& site = emulator::Site::current()) {
  tensor_load(to, map, x, y, z, barrier, site);
}

QUARRY_DEVICE void tensor_load_multicast(SharedAddress to, const TensorMap& map, int x, int y, int z,
                                         SharedAddress barrier, unsigned blocks,
                                         const emulator::Site& site = emulator::Site::current()) {
  emulator::tensor_load(to.value, tensor_of(map, site), box_place(x, y, z), barrier.value, blocks & 0xffffU,
                        site);
}

QUARRY_DEVICE void tensor_load_pixels(SharedAddress to, const TensorMap& map, const PixelPlace& place,
                                      SharedAddress barrier,
                                      const emulator::Site& site = emulator::Site::current()) {
  emulator::tensor_load_pixels(to.value, tensor_of(map, site), box_place(place), barrier.value,
                               1U << emulator::cluster_rank(), site);
}

QUARRY_DEVICE void tensor_load_pixels_multicast(SharedAddress to, const TensorMap& map,
                                                const PixelPlace& place, SharedAddress barrier,
                                                unsigned blocks,
                                                const emulator::Site& site = emulator::Site::current()) {
  emulator::tensor_load_pixels(to.value, tensor_of(map, site), box_place(place), barrier.value,
                               blocks & 0xffffU, site);
}

QUARRY_DEVICE void tensor_store(const TensorMap& map, int x, int y, int z, SharedAddress from,
                                const emulator::Site& site = emulator::Site::current()) {
  emulator::tensor_store(tensor_of(map, site), box_place(x, y, z), from.value, site);
}

QUARRY_DEVICE void tensor_store_commit() { emulator::tensor_store_commit(); }

template <int Pending>
QUARRY_DEVICE void tensor_store_wait_read() {
  emulator::tensor_store_wait_read(Pending);
}

QUARRY_DEVICE void async_proxy_fence(const emulator::Site& site = emulator::Site::current()) {
  emulator::async_proxy_fence(site);
}

}  // namespace quarry::arch
