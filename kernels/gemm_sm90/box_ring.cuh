/// A warp's buffers for boxes of the output: filled and handed to the bulk copy engine one after another,
/// and, where the epilogue reads a matrix that the engine can fetch, filled by it beforehand with what lies
/// there.
#pragma once

#include "gemm_sm90/params.hpp"
#include "gemm_sm90/shape.cuh"

namespace quarry::gemm_sm90 {

/// Where a box begins in the output, and which batch entry it is of.
struct BoxAt {
  int row;
  int column;
  int batch;
};

template <Config config>
class BoxRing {
  static constexpr OutputBox box = box_out(config);
  static constexpr unsigned buffers = output_buffers(config);

 public:
  /// @param warp among those that multiply
  QUARRY_DEVICE BoxRing(const TensorGemmParams& params, arch::SharedAddress memory, int warp)
      : params_(params), memory_(memory), warp_(warp) {}

  /// Makes the barriers of all warps; by one thread.
  QUARRY_DEVICE static void init(arch::SharedAddress memory) {
    QUARRY_UNROLL
    for (int i = 0; i < 4 * consumers(config) * output_buffers(config); ++i)
      arch::mbarrier_init(memory + (buffer_barriers_offset(config) + 8 * i), 1);
  }

  /// Boxes that are fetched before the first is filled.
  static constexpr int most_ahead = static_cast<int>(buffers);

  /// The warp whose buffers they are, among those that multiply.
  QUARRY_DEVICE int warp() const { return warp_; }

  /// The present buffer, when the engine has read it.
  QUARRY_DEVICE arch::SharedAddress acquire() const {
    if (arch::lane_index() == 0) arch::tensor_store_wait_read<output_buffers(config) - 1>();
    arch::warp_barrier();
    return buffer(turn_);
  }

  /// Waits until what `fetch` was asked to bring into the present buffer is there.
  QUARRY_DEVICE void wait() const {
    arch::mbarrier_wait(barrier(turn_), static_cast<int>(turn_ / buffers % 2));
  }

  /// Hands the present buffer to the engine, and goes on to the next one. @param out the output's map, where
  /// that is not the launch's
  QUARRY_DEVICE void store(const BoxAt& at) { store(at, params_.out); }
  QUARRY_DEVICE void store(const BoxAt& at, const TensorMap& out) {
    arch::async_proxy_fence();
    arch::warp_barrier();
    if (arch::lane_index() == 0) {
      arch::tensor_store(out, x(at), y(at), at.batch, buffer(turn_));
      arch::tensor_store_commit();
    }
    advance();
  }

  /// Goes on to the next buffer: the lanes have read the present one. The engine counts it as if it had.
  QUARRY_DEVICE void pass() {
    if (arch::lane_index() == 0) arch::tensor_store_commit();
    advance();
  }

  /// Goes on to the next buffer.
  QUARRY_DEVICE void advance() { ++turn_; }

  /// Fetches a box of the matrix that the epilogue reads, so many turns ahead of the present one.
  /// @param ahead less than the buffers; by the whole warp, of which one lane does it
  QUARRY_DEVICE void fetch(const BoxAt& at, unsigned ahead) const {
    if (arch::lane_index() != 0) return;
    arch::mbarrier_arrive_expect(barrier(turn_ + ahead), box.bytes());
    arch::tensor_load_once(buffer(turn_ + ahead), params_.source, x(at), y(at), at.batch,
                           barrier(turn_ + ahead));
  }

  /// Waits until the engine reads at most `pending` of the buffers: of those that were handed to it last.
  template <int pending>
  QUARRY_DEVICE void wait_read() const {
    if (arch::lane_index() == 0) arch::tensor_store_wait_read<pending>();
  }

 private:
  QUARRY_DEVICE static int x(const BoxAt& at) { return box.row_major ? at.column : at.row; }
  QUARRY_DEVICE static int y(const BoxAt& at) { return box.row_major ? at.row : at.column; }

  /// The buffer of a turn, and its barrier.
  QUARRY_DEVICE arch::SharedAddress buffer(unsigned turn) const {
    const int index = static_cast<int>(turn % buffers);
    return memory_ +
           (output_offset(config) + warp_ * warp_output_bytes(config) + index * output_buffer_bytes(config));
  }
  QUARRY_DEVICE arch::SharedAddress barrier(unsigned turn) const {
    return memory_ + (buffer_barriers_offset(config) +
                      8 * (warp_ * output_buffers(config) + static_cast<int>(turn % buffers)));
  }

  const TensorGemmParams& params_;
  arch::SharedAddress memory_;
  int warp_;
  unsigned turn_ = 0;
};

}  // namespace quarry::gemm_sm90
