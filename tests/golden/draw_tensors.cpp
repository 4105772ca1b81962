#include "draw_tensors.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace quarry::golden {
namespace {

using std::int64_t;

int64_t rounded_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// Strides along the two extents of a matrix, and from one matrix of a batch to the next.
struct Strides {
  int64_t along = 1;
  int64_t across = 0;
  int64_t batch = 0;
};

/// @param line elements of a line, of which there are `lines`
Strides draw_strides(const MatrixWish& wish, int64_t line, int64_t lines, int64_t unit, Dice& dice) {
  const auto padded = [&](int64_t elements) {
    return rounded_up(elements + (dice.one_in(2) ? 0 : dice.between(1, dice.one_in(6) ? 100 : 9)), unit);
  };
  Strides s{1, padded(line), 0};
  if (!wish.plain && dice.one_in(7)) {
    s.along = dice.between(2, 3);
    s.across = padded(s.along * line);
    if (!wish.is_output) {
      const int kind = static_cast<int>(dice.between(0, 3));
      if (kind == 0) s = {1, 0, 0};
      if (kind == 1) s = {0, 1, 0};
      if (kind == 2) s = {1, std::max<int64_t>(1, line / 2), 0};
    }
  }
  const int64_t reach =
      std::max<int64_t>(line - 1, 0) * s.along + std::max<int64_t>(lines - 1, 0) * s.across + 1;
  s.batch = padded(reach);
  if (!wish.plain && !wish.is_output && dice.one_in(6)) s.batch = 0;
  return s;
}

/// A view with a batch in front where there is one.
TensorView view_of(const MatrixWish& wish, int64_t batch_stride, int64_t row_stride, int64_t column_stride) {
  const std::array<int64_t, 3> extents = {wish.batch, wish.rows, wish.columns};
  const std::array<int64_t, 3> strides = {batch_stride, row_stride, column_stride};
  const std::size_t first = wish.batch == 0 ? 1 : 0;
  return TensorView::strided(nullptr, wish.dtype, std::span(extents).subspan(first),
                             std::span(strides).subspan(first));
}

TensorView draw_interleaved(const MatrixWish& wish, int64_t unit, Dice& dice) {
  const auto padded = [&](int64_t elements) {
    return rounded_up(elements + (dice.one_in(2) ? 0 : dice.between(1, 100)), unit);
  };
  const bool by_rows = wish.layout == Layout::row_interleaved32;
  const int64_t ld = padded((by_rows ? wish.columns : wish.rows) * interleave);
  const int64_t groups = rounded_up(by_rows ? wish.rows : wish.columns, interleave) / interleave;
  const int64_t batch = !wish.is_output && dice.one_in(6) ? 0 : padded(groups * ld);
  TensorView view = view_of(wish, batch, by_rows ? ld : interleave, by_rows ? interleave : ld);
  view.tag = by_rows ? LayoutTag::row_interleaved32 : LayoutTag::column_interleaved32;
  return view;
}

}  // namespace

TensorView draw_matrix(const MatrixWish& wish, Dice& dice) {
  constexpr int alignments[] = {1, 2, 4, 8, 16, 16, 16, 32};
  const int element = std::max(bytes_of(wish.dtype), 1);
  const int bytes = std::max(wish.plain ? 16 : dice.one_of(alignments), element);
  const int64_t unit = bytes / element;
  const auto assumed = static_cast<std::uint16_t>(!wish.plain && dice.one_in(8) ? element : bytes);
  TensorView view;
  if (is_interleaved(wish.layout)) {
    view = draw_interleaved(wish, unit, dice);
  } else {
    const bool by_row = wish.layout == Layout::row;
    const int64_t line = by_row ? wish.columns : wish.rows;
    const Strides s = draw_strides(wish, line, by_row ? wish.rows : wish.columns, unit, dice);
    view = by_row ? view_of(wish, s.batch, s.across, s.along) : view_of(wish, s.batch, s.along, s.across);
    view.overlapping = s.along == 1 && s.across > 0 && s.across < line;
    view.is_pointer_array = wish.batch > 0 && wish.may_be_array && dice.one_in(2);
  }
  view.assumed_alignment = assumed;
  return view;
}

Layout layout_of_view(const TensorView& view) {
  if (view.tag != LayoutTag::strided) return layout_of(view.tag);
  return view.rank >= 2 && view.strides[view.rank - 1U] <= view.strides[view.rank - 2U] ? Layout::row
                                                                                        : Layout::column;
}

}  // namespace quarry::golden
