/// The standard epilogue over tensors of rank 4: outputs of a convolution.
#pragma once

#include "common/epilogue.cuh"
#include "conv2d/places.hpp"

namespace quarry {

/// Whether the columns of each group, and of each tap, are whole quads.
template <Direction direction>
QUARRY_DEVICE bool has_whole_quads(const Conv2dParams& params) {
  if (direction == Direction::wgrad) return params.windows.channels.size % 4 == 0;
  return params.batch == 1 || params.n % 4 == 0;
}

/// A tensor with the output's extents, seen as the matrix of the product. Quads of a row move in one access
/// where memory allows.
template <class T, Direction direction, bool interleaved>
class OutputView {
 public:
  QUARRY_DEVICE OutputView(const Conv2dParams& params, const MatrixParams& tensor)
      : params_(params), tensor_(tensor) {
    const auto strides =
        static_cast<unsigned long long>(tensor.batch_stride | tensor.row_stride | tensor.column_stride);
    const auto bytes = reinterpret_cast<unsigned long long>(tensor.data) | strides * sizeof(T);
    quads_aligned = bytes % sizeof(Quad<T>) == 0 && has_whole_quads<direction>(params);
  }

  bool quads_aligned;

  /// The quad that starts at (row, column), of which only the first `count` exist; the others become
  /// `otherwise`.
  QUARRY_DEVICE Quad<T> load(int row, int column, int count, T otherwise = {}) const {
    if (quads_aligned && count == 4) return arch::global_load<Quad<T>>(at(row, column));
    Quad<T> quad;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      quad.v[i] = otherwise;
      if (i < count) quad.v[i] = arch::global_load<T>(at(row, column + i));
    }
    return quad;
  }

  /// Writes the first `count` of a quad to (row, column) and on.
  QUARRY_DEVICE void store(int row, int column, int count, const Quad<T>& quad) const {
    if (quads_aligned && count == 4) {
      arch::global_store(const_cast<T*>(at(row, column)), quad);
      return;
    }
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < count) arch::global_store(const_cast<T*>(at(row, column + i)), quad.v[i]);
    }
  }

 private:
  QUARRY_DEVICE const T* at(int row, int column) const {
    return static_cast<const T*>(tensor_.data) +
           output_place<direction, interleaved>(params_.windows, tensor_, row, column);
  }

  const Conv2dParams& params_;
  const MatrixParams& tensor_;
};

/// What takes the place of a batch's matrices (common/epilogue.cuh).
template <Direction direction, bool interleaved = false>
class OutputTensors {
 public:
  template <class T>
  using View = OutputView<T, direction, interleaved>;
  static constexpr bool has_short_ways = false;

  QUARRY_DEVICE OutputTensors(const GemmParams& params, int)
      : params_(static_cast<const Conv2dParams&>(params)) {}

  template <class T>
  QUARRY_DEVICE View<T> of(const MatrixParams& tensor) const {
    return {params_, tensor};
  }
  /// Vectors are for all groups.
  QUARRY_DEVICE static int batch() { return 0; }
  QUARRY_DEVICE bool has_whole_quads() const { return quarry::has_whole_quads<direction>(params_); }

 private:
  const Conv2dParams& params_;
};

/// The epilogue of convolutions: everything is chosen at run time. Rows and columns are counted over all
/// groups. @tparam interleaved outputs have channels in groups of 32
template <Direction direction, bool interleaved = false>
struct ConvolutionChain {
  template <class Sum, class Out, EpilogueForm form>
  using For = StandardEpilogue<Sum, Out, form, OutputTensors<direction, interleaved>>;
};

}  // namespace quarry
