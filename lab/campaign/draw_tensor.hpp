/// Random tensors of a campaign: stored in whatever way a user could think of.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lab/problems/dice.hpp"
#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"
#include "quarry/tensor.hpp"

namespace quarry::lab {

/// The next multiple of a unit.
std::int64_t rounded_up(std::int64_t value, std::int64_t unit);

/// From 1 to `most`, small numbers as likely as large ones.
std::int64_t log_uniform(std::int64_t most, Dice& dice);

/// How a matrix may be stored.
struct Storage {
  bool plain = false;         ///< as most kernels like it: aligned to 16 bytes, contiguous, of its layout
  bool is_output = false;     ///< elements may not share memory
  bool may_be_array = false;  ///< of pointers, where there is a batch
  /// No stride of 0 along this axis, K's: 0 for rows, 1 for columns, -1 for neither. Where both operands
  /// repeat along K, all products are the same, and errors of rounding add up instead of cancelling.
  int distinct_along = -1;
  LayoutTag tag = LayoutTag::strided;
};

/// A fake matrix, or a batch of them: by rows or by columns, padded, spread, broadcast, misaligned, through
/// an array of pointers. @param batch 0: a matrix of rank 2
TensorView random_matrix(DType dtype, const Storage& storage, std::int64_t batch, std::int64_t rows,
                         std::int64_t columns, Dice& dice);

/// ", a f16 (7168,1024,1) align 8".
std::string described(std::string_view name, const TensorView& view);

/// ", out = sum + x with, x f16 (1) align 8"; empty where there is no expression.
std::string expression_described(const std::optional<Expression>& expression,
                                 std::span<const ExpressionTensor> tensors);

}  // namespace quarry::lab
