/// GEMM with wgmma: one warpgroup copies operands through a pipeline of stages in shared memory, the others
/// multiply them from there, and the sums leave as boxes or line by line.
#pragma once

#include "gemm_sm90/box_store.cuh"
#include "gemm_sm90/cluster_sum.cuh"
#include "gemm_sm90/line_writer.cuh"
#include "gemm_sm90/mainloop.cuh"
#include "gemm_sm90/tensor_producer.cuh"
#include "gemm_sm90/thread_producer.cuh"

namespace quarry::gemm_sm90 {

/// What the block needs before its warpgroups part.
template <Config config>
QUARRY_DEVICE void set_up(const TensorGemmParams& params, arch::SharedAddress memory) {
  if (arch::thread_index() == 0) {
    if (config.copy == CopyEngine::tma) {
      arch::prefetch_tensor_map(params.a);
      arch::prefetch_tensor_map(params.b);
    }
    if (params.stores_boxes) arch::prefetch_tensor_map(params.out);
    Pipeline<config>::init(memory);
    arch::mbarrier_init_fence();
  }
  if constexpr (config.cluster.m * config.cluster.n == 1) {
    arch::block_barrier();
  } else {
    arch::cluster_arrive_relaxed();  // the fence has made the barriers known, and there is nothing else to
                                     // tell
    arch::cluster_wait();
  }
}

/// The warpgroup that copies.
template <Config config>
QUARRY_DEVICE void producer(const TensorGemmParams& params, arch::SharedAddress memory,
                            const ClusterPlace& place) {
  if constexpr (moves_registers(config)) arch::give_registers<producer_registers>();
  if constexpr (config.copy == CopyEngine::tma) {
    produce<config>(params, memory, place);
  } else {
    produce_by_threads<config>(params.gemm, memory, place);
  }
  arch::warp_barrier();  // the lanes that had nothing to do catch up
}

/// The order in which the two warpgroups of a ping_pong block multiply: in turns, a tile each. It must be
/// kept, as a barrier's parity tells only the last two phases apart: who waits for a stage must not be more
/// than a round ahead.
class Turns {
 public:
  QUARRY_DEVICE explicit Turns(int group) : group_(group) {}

  /// Waits until the other warpgroup has passed the turn on.
  QUARRY_DEVICE void wait() const { arch::named_barrier(2 + group_, 2 * warpgroup_threads); }

  QUARRY_DEVICE void pass_on() const { arch::named_barrier_arrive(3 - group_, 2 * warpgroup_threads); }

 private:
  int group_;
};

/// A warpgroup that multiplies. @param group its number among these
template <Config config, class Epilogue>
QUARRY_DEVICE void consumer(const TensorGemmParams& params, arch::SharedAddress memory,
                            const ClusterPlace& place, int group) {
  if constexpr (moves_registers(config)) arch::take_registers<consumer_registers(config)>();
  constexpr bool alone = config.schedule == Schedule::ping_pong;  // with a tile
  const GemmParams& gemm = params.gemm;
  const int group_in_tile = alone ? 0 : group;
  const int first_row = group_in_tile * blocks_m(config) * instruction_m;
  const arch::SharedAddress staging =
      memory + (output_offset(config) + (group * 4 + warp_of_group()) * warp_output_bytes(config));
  BoxStore<config, Epilogue> box_store(params, staging);
  const bool stores_boxes = box_store.serves();

  Pipeline<config> pipeline(memory);
  WorkList<config> list(gemm, place);
  const Turns turns(group);
  bool is_first = true;    // tile of the block
  const auto skip = [&] {  // a tile of the other warpgroup
    if (!list.has_more()) return;
    pipeline.advance(list.current().k_tiles);
    list.advance();
    is_first = false;
  };
  if (alone && group == 1) skip();
  QUARRY_ROLLED
  while (list.has_more()) {
    const TileWork work = list.current();
    Sums<config> sums;
    list.advance();
    if (alone && !is_first) turns.wait();
    mainloop<config>(sums, pipeline, work.k_tiles, group_in_tile, place, [&] {
      if (alone && list.has_more()) turns.pass_on();
    });
    if (adds_up_in_cluster(config) && gemm.mode == Mode::split_k_cluster) {
      if constexpr (adds_up_in_cluster(config)) leave_sums<config>(sums, memory, first_row);
    } else if (stores_boxes) {
      box_store.store(sums, work, first_row);
    } else {
      write_lines<config>(LineWriter<config, Epilogue>(gemm, work), sums, staging, first_row);
    }
    if (alone) skip();
  }
  box_store.finish();
}

/// The kernel: sets up, then each warpgroup plays its part.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const TensorGemmParams& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  const ClusterPlace place = cluster_place<config>();
  set_up<config>(params, memory);
  arch::wait_for_earlier_kernels();
  arch::let_later_kernels_start();

  const int group = warpgroup_index() - 1;
  if (group < 0) {
    producer<config>(params, memory, place);
  } else {
    consumer<config, Epilogue>(params, memory, place, group);
  }
  if constexpr (adds_up_in_cluster(config)) {
    if (params.gemm.mode == Mode::split_k_cluster) {
      finish_in_cluster<config, Epilogue>(params.gemm, memory, place, group);
    }
  }
}

}  // namespace quarry::gemm_sm90
