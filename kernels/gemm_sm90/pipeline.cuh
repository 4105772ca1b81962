/// The ring of stages between the warpgroup that copies and those that multiply: for each stage a barrier
/// that says that it is full, and one that says that it is empty.
#pragma once

#include "gemm_sm90/shape.cuh"

namespace quarry::gemm_sm90 {

/// Arrivals that make a stage empty: of each warp that reads it, in each block whose copies it holds up.
template <Config config>
constexpr int readers() {
  const int groups = config.schedule == Schedule::ping_pong ? 1 : consumers(config);
  return 4 * groups * (config.cluster.m + config.cluster.n - 1);
}

/// Arrivals that make it full: of the thread that starts its copies, or of every thread that copies; and of
/// the warp that copies its scales.
template <Config config>
constexpr int writers() {
  return config.copy == CopyEngine::tma ? (promotes(config) ? 33 : 1) : warpgroup_threads;
}

/// One side's walk around the ring.
template <Config config>
class Pipeline {
 public:
  /// @param done stages that this side has been through before
  QUARRY_DEVICE explicit Pipeline(arch::SharedAddress memory, unsigned done = 0)
      : memory_(memory),
        stage_(static_cast<int>(done % config.stages)),
        parity_(static_cast<int>(done / config.stages % 2)) {}

  /// Makes the barriers; by one thread.
  QUARRY_DEVICE static void init(arch::SharedAddress memory) {
    QUARRY_UNROLL
    for (int stage = 0; stage < config.stages; ++stage) {
      arch::mbarrier_init(full(memory, stage), writers<config>());
      arch::mbarrier_init(empty(memory, stage), readers<config>());
    }
  }

  /// First byte of the current stage, and its barriers.
  QUARRY_DEVICE arch::SharedAddress stage() const { return memory_ + stage_ * stage_bytes(config); }
  /// The scales of its block of K: of the tile's rows, then of its columns.
  QUARRY_DEVICE arch::SharedAddress scales() const {
    return memory_ + (scales_offset(config) + stage_ * scale_bytes(config));
  }
  QUARRY_DEVICE arch::SharedAddress full() const { return full(memory_, stage_); }
  QUARRY_DEVICE arch::SharedAddress empty() const { return empty(memory_, stage_); }

  /// For the side that copies: waits until the current stage may be written. The first round finds all empty:
  /// a barrier's phase before its first counts as ended.
  QUARRY_DEVICE void acquire() const { arch::mbarrier_wait(empty(), parity_ ^ 1); }

  /// For the side that multiplies: waits until the current stage has landed.
  QUARRY_DEVICE void wait() const { arch::mbarrier_wait(full(), parity_); }

  QUARRY_DEVICE void advance() {
    if (++stage_ == config.stages) {
      stage_ = 0;
      parity_ ^= 1;
    }
  }

  /// Number of the current stage in the ring.
  QUARRY_DEVICE int index() const { return stage_; }

  /// The walk at another stage of the same round.
  QUARRY_DEVICE Pipeline at(int index) const {
    Pipeline there = *this;
    there.stage_ = index;
    return there;
  }

  /// Goes on to the first stage of the next round.
  QUARRY_DEVICE void next_round() {
    stage_ = 0;
    parity_ ^= 1;
  }

  /// Goes on by so many stages, a divisor of all.
  template <int stages>
  QUARRY_DEVICE void advance_by() {
    if constexpr (stages == 1) {
      advance();
    } else {
      stage_ += stages;
      if (stage_ < config.stages) return;
      stage_ -= config.stages;
      parity_ ^= 1;
    }
  }

 private:
  QUARRY_DEVICE static arch::SharedAddress full(arch::SharedAddress memory, int stage) {
    return memory + barriers_offset(config) + 8 * stage;
  }
  QUARRY_DEVICE static arch::SharedAddress empty(arch::SharedAddress memory, int stage) {
    return memory + barriers_offset(config) + 8 * (config.stages + stage);
  }

  arch::SharedAddress memory_;
  int stage_;
  int parity_;
};

/// Calls `each(pipeline at the stage)` for the next `count` stages. Rounds are
/// unrolled: what follows from a stage's number is constant, and descriptors of operands are computed once a
/// warp, not once a lane. For loops that wait for the products of each stage, where such instructions add up.
template <Config config, class Each>
QUARRY_DEVICE void for_each_stage(Pipeline<config> pipeline, int count, const Each& each) {
  int left = count;
  QUARRY_ROLLED
  while (left > 0) {
    const int first = pipeline.index();
    QUARRY_UNROLL
    for (int stage = 0; stage < config.stages; ++stage) {
      if (stage < first) continue;
      if (left == 0) break;
      --left;
      each(pipeline.at(stage));
    }
    pipeline.next_round();
  }
}

/// Says that this warp has read a stage: to all blocks whose copies fill it, a lane each.
template <Config config>
QUARRY_DEVICE void release(arch::SharedAddress empty_barrier, const ClusterPlace& place) {
  if constexpr (config.cluster.m * config.cluster.n == 1) {
    if (arch::lane_index() == 0) arch::mbarrier_arrive(empty_barrier);
  } else {
    const int lane = arch::lane_index();
    const unsigned blocks = sharers_of_a<config>(place) | sharers_of_b<config>(place);
    // Scales are written by ordinary instructions of the own block, which a local arrival holds up.
    const bool is_local = promotes(config) && lane == place.rank;
    if (is_local) arch::mbarrier_arrive(empty_barrier);
    if (!is_local && lane < config.cluster.m * config.cluster.n && (blocks >> lane & 1) != 0) {
      arch::mbarrier_arrive_at(empty_barrier, lane);
    }
  }
}

}  // namespace quarry::gemm_sm90
