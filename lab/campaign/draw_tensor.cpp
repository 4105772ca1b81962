#include "lab/campaign/draw_tensor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "common/config_parts.hpp"

namespace quarry::lab {
namespace {

struct Strides {
  std::int64_t along;   ///< within a line
  std::int64_t across;  ///< from line to line
};

/// Strides of lines of this length: usual ones, with padding, or by chance what hardly any kernel takes.
Strides random_strides(std::int64_t line, std::int64_t lines, std::int64_t unit, const Storage& storage,
                       bool may_repeat_along, bool may_repeat_across, Dice& dice) {
  const auto padded = [&](std::int64_t elements) {
    const std::int64_t padding = dice.one_in(2) ? 0 : dice.between(1, dice.one_in(6) ? 100 : 9);
    return rounded_up(elements + padding, unit);
  };
  const Strides usual = {1, padded(line)};
  if (storage.plain || !dice.one_in(7)) return usual;
  const std::int64_t apart = dice.between(2, 3);
  const Strides spread = {apart, padded(apart * line)};
  if (storage.is_output) return spread;
  switch (dice.between(0, 4)) {
    case 0: return spread;
    case 1: return may_repeat_across ? Strides{1, 0} : usual;
    case 2: return may_repeat_along ? Strides{0, 1} : spread;
    case 3: return may_repeat_along && may_repeat_across ? Strides{0, 0} : usual;
    default: return {1, lines > 1 ? dice.between(1, line) : 1};  // lines overlap
  }
}

/// @param batch 0: a matrix of rank 2
TensorView random_interleaved(DType dtype, const Storage& storage, std::int64_t batch, std::int64_t rows,
                              std::int64_t columns, Dice& dice) {
  constexpr int alignments[] = {1, 4, 16, 16, 16};
  const bool by_rows = storage.tag == LayoutTag::row_interleaved32;
  const int bytes = std::max(storage.plain ? 16 : dice.one_of(alignments), unit_bytes(dtype));
  const std::int64_t unit = bytes * 8 / bits_of(dtype);
  const auto padded = [&](std::int64_t elements) {
    return rounded_up(elements + (dice.one_in(2) ? 0 : dice.between(1, 100)), unit);
  };
  const std::int64_t ld = padded((by_rows ? columns : rows) * interleave);
  std::int64_t batch_stride = padded(rounded_up(by_rows ? rows : columns, interleave) / interleave * ld);
  if (!storage.is_output && dice.one_in(6)) batch_stride = 0;
  const std::array<std::int64_t, 3> extents = {batch, rows, columns};
  const std::array<std::int64_t, 3> strides = {batch_stride, by_rows ? ld : interleave,
                                               by_rows ? interleave : ld};
  const std::size_t first = batch == 0 ? 1 : 0;
  TensorView view = TensorView::strided(nullptr, dtype, std::span(extents).subspan(first),
                                        std::span(strides).subspan(first));
  view.tag = storage.tag;
  view.assumed_alignment = static_cast<std::uint16_t>(bytes);
  return view;
}

}  // namespace

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

std::int64_t log_uniform(std::int64_t most, Dice& dice) {
  const double power = dice.fraction() * std::log(static_cast<double>(most) + 1);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::exp(power)), 1, most);
}

TensorView random_matrix(DType dtype, const Storage& storage, std::int64_t batch, std::int64_t rows,
                         std::int64_t columns, Dice& dice) {
  if (storage.tag != LayoutTag::strided)
    return random_interleaved(dtype, storage, batch, rows, columns, dice);
  constexpr int alignments[] = {1, 2, 4, 8, 16, 16};
  const bool row_major = dice.one_in(2);
  const int bytes = std::max(storage.plain ? 16 : dice.one_of(alignments), unit_bytes(dtype));
  const std::int64_t unit = bytes * 8 / bits_of(dtype);
  // Without rows or columns, strides are as with one.
  const std::int64_t line = std::max<std::int64_t>(1, row_major ? columns : rows);
  const std::int64_t lines = std::max<std::int64_t>(1, row_major ? rows : columns);
  const int line_axis = row_major ? 1 : 0;
  const bool may_repeat_along = storage.distinct_along != line_axis;
  const bool may_repeat_across = storage.distinct_along != 1 - line_axis;
  Storage stored = storage;
  stored.plain |= is_half_byte(dtype);  // whose other strides than 1 are even
  const Strides strides =
      random_strides(line, lines, unit, stored, may_repeat_along, may_repeat_across, dice);

  const std::int64_t span = (line - 1) * strides.along + (lines - 1) * strides.across + 1;
  std::int64_t batch_stride = rounded_up(span + (dice.one_in(2) ? 0 : dice.between(1, 40)), unit);
  if (!storage.plain && !storage.is_output && dice.one_in(6)) batch_stride = 0;
  const std::array<std::int64_t, 3> extents = {batch, rows, columns};
  const std::array<std::int64_t, 3> all = {batch_stride, row_major ? strides.across : strides.along,
                                           row_major ? strides.along : strides.across};
  const std::size_t first = batch == 0 ? 1 : 0;
  TensorView view =
      TensorView::strided(nullptr, dtype, std::span(extents).subspan(first), std::span(all).subspan(first));
  const bool misaligned = !storage.plain && dice.one_in(8);
  view.assumed_alignment = static_cast<std::uint16_t>(misaligned ? unit_bytes(dtype) : bytes);
  view.overlapping = strides.along == 1 && strides.across > 0 && strides.across < line;
  if (batch == 0 || !storage.may_be_array || dice.one_in(2)) return view;
  view.is_pointer_array = true;
  if (dice.one_in(64)) view.assumed_alignment = 24;  // which is to be refused
  return view;
}

std::string described(std::string_view name, const TensorView& view) {
  std::string text = ", " + std::string(name) + " " + std::string(to_string(view.dtype)) + " (";
  for (std::size_t i = 0; i < view.rank; ++i) {
    const bool is_array = i == 0 && view.is_pointer_array;
    text += (i == 0 ? "" : ",") + (is_array ? "array" : std::to_string(view.strides[i]));
  }
  if (view.tag != LayoutTag::strided) text.append(") ").append(to_string(view.tag)).append(" (");
  return text + ") align " + std::to_string(view.assumed_alignment * 8 / std::max(bits_of(view.dtype), 1));
}

std::string expression_described(const std::optional<Expression>& expression,
                                 std::span<const ExpressionTensor> tensors) {
  if (!expression) return "";
  std::string text = ", " + expression->text() + " with";
  for (const ExpressionTensor& tensor : tensors) text += described(tensor.name, tensor.view);
  return text;
}

}  // namespace quarry::lab
