#include "operations/gemm/lab/scales.hpp"

#include <cmath>
#include <initializer_list>

#include "lab/problems/matrices.hpp"
#include "lab/problems/operand_spec.hpp"

namespace quarry::lab {
namespace {

/// A granularity of scales that is one of these words.
Result<ScaleGranularity> parse_scale(std::string_view text, std::initializer_list<std::string_view> words) {
  const Result<std::size_t> word = parse_word("scales", text, words);
  if (!word) return word.status();
  return parse_scale_granularity(text);
}

/// Puts change(value) into the place of each value.
template <class Change>
void each_value(const TensorView& view, const Change& change) {
  const Matrices m(view);
  for (std::int64_t matrix = 0; matrix < m.count(); ++matrix) {
    void* const first = const_cast<void*>(m.first(matrix));
    for (std::int64_t row = 0; row < m.rows(); ++row) {
      for (std::int64_t column = 0; column < m.columns(); ++column) {
        const std::int64_t at = m.index(row, column);
        host::write_element(m.type(), first, at, change(host::read_element(m.type(), first, at)));
      }
    }
  }
}

}  // namespace

Result<ScaleGranularity> parse_a_scale(std::string_view text) {
  return parse_scale(text, {"tensor", "row", "1x128", "1x32", "1x64"});
}

Result<ScaleGranularity> parse_b_scale(std::string_view text) {
  return parse_scale(text, {"tensor", "column", "1x128", "128x128", "1x32", "1x64"});
}

Result<DType> parse_b_zero(std::string_view text) {
  const Result<std::size_t> word = parse_word("zero points", text, {"u8"});
  if (!word) return word.status();
  return DType::u8;
}

ScaleChoice draw_scale_choice(bool has_blocks, Dice& dice) {
  using enum ScaleGranularity;
  constexpr ScaleGranularity of_a[] = {tensor, row, block_1x128};
  constexpr ScaleGranularity of_b[] = {tensor, column, block_1x128, block_128x128};
  const std::int64_t which = dice.between(0, 3);
  ScaleChoice choice;
  if (which != 1) choice.a = of_a[dice.between(0, has_blocks ? 2 : 1)];
  if (which != 2) choice.b = of_b[dice.between(0, has_blocks ? 3 : 1)];
  return choice;
}

std::optional<TensorView> scale_view(Operand name, const std::optional<ScaleGranularity>& granularity,
                                     std::int64_t batch, const detail::MatrixExtents& of) {
  if (!granularity) return std::nullopt;
  const detail::MatrixExtents extents = detail::scale_extents(name, *granularity, of);
  const Layout layout = name == Operand::a_scale ? Layout::column : Layout::row;
  return view_of({.dtype = DType::f32, .layout = layout}, batch, extents.rows, extents.columns);
}

std::optional<TensorView> zero_view(bool is_given, const std::optional<ScaleGranularity>& granularity,
                                    std::int64_t batch, const detail::MatrixExtents& of) {
  if (!is_given) return std::nullopt;
  const detail::MatrixExtents extents =
      detail::scale_extents(Operand::b_zero, granularity.value_or(ScaleGranularity::tensor), of);
  return view_of({.dtype = DType::u8, .layout = Layout::row}, batch, extents.rows, extents.columns);
}

bool fill_scales(DType out, Operand operand, const TensorView& view, const FillOptions& options) {
  if (operand != Operand::a_scale && operand != Operand::b_scale) return false;
  fill_random(view, value_number(operand), options);
  // Whole outputs round ties, which sums that are a little off would take to another side: theirs are exact.
  const bool is_exact = options.values == Values::small_integers || is_integer(out);
  const auto scale = [&](double value) {
    if (is_exact) return value > 0 ? 2.0 : 1.0;
    return 1 + value / 2;
  };
  each_value(view, scale);
  return true;
}

bool fill_zeros(DType weights, Operand operand, const TensorView& view, const FillOptions& options) {
  if (operand != Operand::b_zero) return false;
  fill_random(view, value_number(operand), options);
  const Matrices m(view);
  const double least = m.rows() * m.columns() == 1 ? 1 : 0;
  const double numbers = (weights == DType::u4 ? 16 : 256) - least;
  each_value(view, [&](double value) { return least + std::fmod(value, numbers); });
  return true;
}

}  // namespace quarry::lab
