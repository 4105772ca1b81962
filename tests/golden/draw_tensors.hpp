/// Drawing operands.
#pragma once

#include <cstdint>

#include "dice.hpp"
#include "quarry/tensor.hpp"

namespace quarry::golden {

/// What a drawn matrix is to be.
struct MatrixWish {
  DType dtype = DType::none;
  Layout layout = Layout::row;
  std::int64_t batch = 0;  ///< 0: rank 2
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool plain = false;         ///< as most kernels like it: aligned to 16 bytes, contiguous
  bool is_output = false;     ///< elements share no memory
  bool may_be_array = false;  ///< of pointers
};

/// A fake matrix of that kind: packed, padded, strided, broadcast, interleaved, or an array of pointers.
TensorView draw_matrix(const MatrixWish& wish, Dice& dice);

/// The layout of a view that draw_matrix made.
Layout layout_of_view(const TensorView& view);

}  // namespace quarry::golden
