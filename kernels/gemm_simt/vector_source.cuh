/// Asynchronous copies of f32 operands that lie along M or N, four neighbours at a time.
#pragma once

#include "arch/arch.hpp"
#include "common/element_pointer.cuh"
#include "common/operand_part.cuh"
#include "gemm_simt/config.hpp"

namespace quarry::gemm_simt {

/// One operand of a block, as WordSource, whose neighbours along M or N are neighbours in memory: pointer,
/// stride along K and batch stride are multiples of four elements. Neighbours keep their places.
///
/// @tparam extent of the tile along M or N
/// @tparam k the tile's extent along K
/// @tparam gated of gated pairs (gated_part_of_b): half a tile, then the other half
template <int extent, int k, int threads, bool gated>
class VectorSource {
 public:
  /// @param k_left elements of K in the block's work
  QUARRY_DEVICE VectorSource(const OperandPart& part, int k_left) {
    const int thread = arch::thread_index();
    const int along_extent = thread % vectors * width;
    const int along_k = thread / vectors;
    const bool is_second = gated && along_extent >= extent / 2;
    const int in_half = is_second ? along_extent - extent / 2 : along_extent;
    const int first = part.extent.first + in_half + (is_second ? part.extent.end : 0);
    const long long k_bytes = part.k.stride * word;
    next_ =
        reinterpret_cast<const char*>(element_at<float>(
            part.matrix, part.batch,
            (part.extent.base + first) * part.extent.stride + (part.k.base + part.k.first) * part.k.stride)) +
        along_k * k_bytes;
    round_bytes_ = round_k * k_bytes;
    shared_offset_ = (along_k * line_elements(extent) + along_extent) * word;
    const int left = part.extent.end - part.extent.first - in_half;
    valid_bytes_ = (left < 0 ? 0 : left < width ? left : width) * word;
    k_left_ = k_left - along_k;
  }

  /// Starts the copies of the next tile into a stage; behind the last one, zeros.
  QUARRY_DEVICE void copy(arch::SharedAddress stage) {
    QUARRY_UNROLL
    for (int round = 0; round < rounds; ++round) {
      const int to = shared_offset_ + round * round_k * line_elements(extent) * word;
      arch::copy_async<width * word>(stage + to, next_, round * round_k < k_left_ ? valid_bytes_ : 0);
      next_ = arch::opaque(next_ + round_bytes_);
    }
    k_left_ -= k;
  }

 private:
  static constexpr int word = 4;
  static constexpr int width = 4;
  static constexpr int vectors = extent / width;
  static constexpr int round_k = threads / vectors;  ///< steps along K from one round to the next
  static constexpr int rounds = k / round_k;
  static_assert(vectors * round_k == threads && round_k * rounds == k);
  static_assert(!gated || extent / 2 % width == 0, "a vector lies in one half");

  const char* next_;
  long long round_bytes_;
  int shared_offset_;
  int valid_bytes_;  ///< of the thread's vectors, which all lie at one place along the extent
  int k_left_;       ///< elements of K from the thread's next vector on
};

}  // namespace quarry::gemm_simt
