/// Probes of arch/.../tensor_copy.hpp.
#pragma once

#include "tests/kernels/arch/probes/cluster.cuh"

namespace quarry::probes {

/// Where shared memory holds boxes, behind barriers.
inline constexpr int boxes_at = 1024;

/// The box number `i` of a probe: `in` has coordinates behind `first`, three words each.
struct BoxPlace {
  int x, y, z;
};
QUARRY_DEVICE BoxPlace place_of(const ProbeParams& params, int first, int i) {
  const auto word = [&](int j) { return arch::global_load<int>(params.in + first + 3 * i + j); };
  return {word(0), word(1), word(2)};
}

/// Stores the words of shared memory from the boxes on at `out`.
template <Block block>
QUARRY_DEVICE void show_boxes(unsigned* out, int words) {
  for (int i = arch::thread_index(); i < words; i += block.threads) {
    arch::global_store(out + i, arch::shared_load<unsigned>(arch::shared_memory() + (boxes_at + 4 * i)));
  }
}

/// Loads the boxes of a probe one after another, each by a copy of thread 0 that arrives at `base`, and shows
/// them.
template <Block block, class Copy>
QUARRY_DEVICE void load_boxes(const ProbeParams& params, arch::SharedAddress base, const Copy& copy) {
  make_barriers(base, 1, 1);
  QUARRY_ROLLED
  for (int i = 0; i < params.count; ++i) {
    if (arch::thread_index() == 0) {
      arch::mbarrier_arrive_expect(base, 4 * params.box_words);
      copy(base + (boxes_at + 4 * params.box_words * i), i);
    }
    arch::mbarrier_wait(base, i % 2);
    arch::block_barrier();  // who is two phases late does not see that
  }
  show_boxes<block>(params.out, params.box_words * params.count);
}

/// The words of `in` as a tensor, then places of boxes: each box is loaded and shown as it lies. It begins at
/// a multiple of 128 bytes, another one each time.
template <Block block>
QUARRY_DEVICE void tensor_load(const ProbeParams& params) {
  const arch::SharedAddress base = arch::shared_memory();
  if (arch::thread_index() == 0) {
    arch::prefetch_tensor_map(params.map);
    arch::read_unwritten(base + boxes_at, 4);
  }
  load_boxes<block>(params, base, [&](arch::SharedAddress to, int i) {
    const BoxPlace place = place_of(params, params.tensor_words, i);
    if (i % 2 == 0) {
      arch::tensor_load(to, params.map, place.x, place.y, place.z, base);
    } else {
      arch::tensor_load_once(to, params.map, place.x, place.y, place.z, base);
    }
  });
}

/// The words of `in` as lines of 40, then matrices within them: first word, elements and lines, three words
/// each. A map is made of each, like the probe's, and the box at line 1 is loaded and shown. The maps lie in
/// `out` behind the boxes, and are wiped at the end.
template <Block block>
QUARRY_DEVICE void tensor_map(const ProbeParams& params) {
  constexpr int line_bytes = 160;
  constexpr int scratch_at = 512;  // between barriers and boxes
  const arch::SharedAddress base = arch::shared_memory();
  unsigned* const behind = params.out + params.count * params.box_words;
  const auto aligned = (reinterpret_cast<unsigned long long>(behind) + 127) / 128 * 128;
  auto* const maps = reinterpret_cast<TensorMap*>(aligned);
  if (arch::thread_index() < 32) {
    QUARRY_ROLLED
    for (int i = 0; i < params.count; ++i) {
      const BoxPlace matrix = place_of(params, params.tensor_words, i);
      arch::make_tensor_map(maps + i, params.map, {params.in + matrix.x, matrix.y, matrix.z, line_bytes},
                            base + scratch_at);
    }
  }
  arch::block_barrier();
  load_boxes<block>(params, base, [&](arch::SharedAddress to, int i) {
    arch::acquire_tensor_map(maps[i]);
    arch::tensor_load(to, maps[i], 0, 1, 0, base);
  });
  const int words = map_words(params.count);
  for (int i = arch::thread_index(); i < words; i += block.threads) arch::global_store(behind + i, 0U);
}

/// Each block of a cluster loads one box for the blocks whose bits stand in `in` behind the places.
template <Block block>
QUARRY_DEVICE void tensor_load_multicast(const ProbeParams& params) {
  const arch::SharedAddress base = arch::shared_memory();
  const int blocks = arch::cluster_blocks();
  const int rank = arch::cluster_rank();
  const int masks = params.tensor_words + 3 * blocks;
  for (int i = arch::thread_index(); i < blocks * params.box_words; i += block.threads) {
    arch::shared_store(base + (boxes_at + 4 * i), ~0u);
  }
  arch::async_proxy_fence();
  arch::cluster_arrive();
  arch::cluster_wait();
  make_barriers(base, 1, 1);
  if (arch::thread_index() == 0) {
    int loads = 0;
    for (int i = 0; i < blocks; ++i) loads += arch::global_load<int>(params.in + masks + i) >> rank & 1;
    arch::mbarrier_arrive_expect(base, 4 * params.box_words * loads);
    const BoxPlace place = place_of(params, params.tensor_words, rank);
    arch::tensor_load_multicast(base + (boxes_at + 4 * params.box_words * rank), params.map, place.x, place.y,
                                place.z, base, arch::global_load<unsigned>(params.in + masks + rank));
  }
  arch::mbarrier_wait(base, 0);
  show_boxes<block>(params.out + blocks * params.box_words * static_cast<int>(arch::block_index()),
                    blocks * params.box_words);
  arch::cluster_arrive();
  arch::cluster_wait();
}

/// The place number `i` of pixels: `in` has those behind the tensor, six words each.
QUARRY_DEVICE arch::PixelPlace pixels_of(const ProbeParams& params, int i) {
  const auto word = [&](int j) {
    return arch::global_load<int>(params.in + params.tensor_words + 6 * i + j);
  };
  return {word(0), word(1), word(2), word(3), word(4), word(5)};
}

/// The words of `in` as images, then places of pixels, which are loaded and shown as they lie.
template <Block block>
QUARRY_DEVICE void tensor_load_pixels(const ProbeParams& params) {
  const arch::SharedAddress base = arch::shared_memory();
  load_boxes<block>(params, base, [&](arch::SharedAddress to, int i) {
    arch::tensor_load_pixels(to, params.map, pixels_of(params, i), base);
  });
}

/// Each block of a cluster loads pixels for all of them.
template <Block block>
QUARRY_DEVICE void tensor_load_pixels_multicast(const ProbeParams& params) {
  const arch::SharedAddress base = arch::shared_memory();
  const int blocks = arch::cluster_blocks();
  const int rank = arch::cluster_rank();
  make_barriers(base, 1, 1);
  arch::cluster_arrive();
  arch::cluster_wait();
  if (arch::thread_index() == 0) {
    arch::mbarrier_arrive_expect(base, 4 * params.box_words * blocks);
    arch::tensor_load_pixels_multicast(base + (boxes_at + 4 * params.box_words * rank), params.map,
                                       pixels_of(params, rank), base, (1U << blocks) - 1);
  }
  arch::mbarrier_wait(base, 0);
  show_boxes<block>(params.out + blocks * params.box_words * static_cast<int>(arch::block_index()),
                    blocks * params.box_words);
  arch::cluster_arrive();
  arch::cluster_wait();
}

/// Stores boxes that cover `out`, from two buffers that are filled in turn as they lie in `in`.
template <Block block>
QUARRY_DEVICE void tensor_store(const ProbeParams& params) {
  const int t = arch::thread_index();
  const int places = params.count * params.box_words;
  QUARRY_ROLLED
  for (int i = 0; i < params.count; ++i) {
    const arch::SharedAddress buffer = arch::shared_memory() + (boxes_at + i % 2 * 4 * params.box_words);
    if (t == 0) arch::tensor_store_wait_read<1>();
    arch::block_barrier();
    for (int word = t; word < params.box_words; word += block.threads) {
      arch::shared_store(buffer + 4 * word,
                         arch::global_load<unsigned>(params.in + i * params.box_words + word));
    }
    arch::async_proxy_fence();
    arch::block_barrier();
    if (t == 0) {
      const BoxPlace place = place_of(params, places, i);
      arch::tensor_store(params.map, place.x, place.y, place.z, buffer);
      arch::tensor_store_commit();
    }
  }
  if (t == 0) arch::tensor_store_wait_read<0>();
}

}  // namespace quarry::probes
