/// Scales of operands in experiments: their text, fake tensors, random values, and how a reference reads
/// them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "lab/problems/dice.hpp"
#include "lab/problems/fill.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/gemm/scales.hpp"

namespace quarry::lab {

/// The granularity of scales of A, or of B, by its word. Fails with parse_error for another word.
Result<ScaleGranularity> parse_a_scale(std::string_view text);
Result<ScaleGranularity> parse_b_scale(std::string_view text);

/// The type of zero points of B, u8, by its word.
Result<DType> parse_b_zero(std::string_view text);

/// Granularities of the scales of A and of B; nothing: no scales.
struct ScaleChoice {
  std::optional<ScaleGranularity> a = {};
  std::optional<ScaleGranularity> b = {};
};

/// Scales of A, of B or of both, of any granularity that changes every 128 of K at most; without blocks, of
/// tensors, rows and columns.
ScaleChoice draw_scale_choice(bool has_blocks, Dice& dice);

/// Fake scales of A or B, packed. Scales of one block of K lie side by side, as bulk copies need them.
std::optional<TensorView> scale_view(Operand name, const std::optional<ScaleGranularity>& granularity,
                                     std::int64_t batch, const detail::MatrixExtents& of);

/// Fake zero points of B beside its scales, if it has some; 1 x 1 ones, to be refused, if it has no scales.
std::optional<TensorView> zero_view(bool is_given, const std::optional<ScaleGranularity>& granularity,
                                    std::int64_t batch, const detail::MatrixExtents& of);

/// Fills scales with values around 1, whose products with outputs that are whole numbers are exact; false for
/// any other operand. @param out type of the outputs
bool fill_scales(DType out, Operand operand, const TensorView& view, const FillOptions& options);

/// Fills zero points with numbers of weights of this type; one that all weights share is not 0, so that it
/// matters. False for any other operand.
bool fill_zeros(DType weights, Operand operand, const TensorView& view, const FillOptions& options);

/// Scales of A or B, read by rows and columns of the operand itself; 1 where it has none. Zero points of B in
/// the same way; 0 where there are none.
class Scales {
 public:
  static Scales of_a(const std::optional<TensorView>& view, ScaleGranularity granularity) {
    return {view, by_line(granularity), by_k(granularity)};
  }
  static Scales of_b(const std::optional<TensorView>& view, ScaleGranularity granularity) {
    return {view, by_k(granularity), by_line(granularity)};
  }
  static Scales zeros_of_b(const std::optional<TensorView>& view, ScaleGranularity granularity) {
    return {view, by_k(granularity), by_line(granularity), 0};
  }

  double at(std::int64_t entry, std::int64_t row, std::int64_t column) const {
    if (!is_given_) return otherwise_;
    return host::read_element(matrix_.type, matrix_.first(entry),
                              matrix_.index(row / rows_, column / columns_));
  }

 private:
  static constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

  Scales(const std::optional<TensorView>& view, std::int64_t rows, std::int64_t columns, double otherwise = 1)
      : matrix_(view.value_or(TensorView())),
        is_given_(view),
        rows_(rows),
        columns_(columns),
        otherwise_(otherwise) {}

  /// Rows of A or columns of B that share a scale; and positions of K.
  static std::int64_t by_line(ScaleGranularity granularity) {
    if (granularity == ScaleGranularity::tensor) return all;
    return granularity == ScaleGranularity::block_128x128 ? scale_block : 1;
  }
  static std::int64_t by_k(ScaleGranularity granularity) {
    return is_blocked(granularity) ? k_positions(granularity) : all;
  }

  host::Matrix matrix_;
  bool is_given_;
  std::int64_t rows_;
  std::int64_t columns_;
  double otherwise_;
};

}  // namespace quarry::lab
