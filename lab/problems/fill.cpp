#include "lab/problems/fill.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "lab/problems/matrices.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/parallel.hpp"

namespace quarry::lab {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;

/// 64 random bits from a number (the finalizer of SplitMix64).
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

/// One of all numbers of an integer type, or one of its ends.
double integer_of(std::uint64_t bits, DType type) {
  const double largest = info_of(type).largest;
  const double lowest = lowest_of(type);
  if ((bits >> 28) % 16 == 0) return (bits >> 27 & 1) != 0 ? largest : lowest;
  const std::uint64_t codes = std::uint64_t{1} << bits_of(type);
  const auto code = static_cast<double>((bits >> 32) % codes);
  return code > largest ? code - static_cast<double>(codes) : code;
}

double value_of(std::uint64_t bits, DType type, Values values) {
  if (values == Values::small_integers) {
    const std::uint64_t choice = bits >> 32;
    return is_unsigned(type) ? static_cast<double>(choice % 3) : static_cast<double>(choice % 5) - 2;
  }
  if (is_integer(type)) return integer_of(bits, type);
  return static_cast<double>(static_cast<std::int64_t>(bits >> 40) - (1 << 23)) * 0x1p-23;
}

/// Elements that one thread fills in one piece, at least: far more work than starting a thread.
constexpr std::int64_t piece_elements = 1 << 15;
/// Rows of a piece, at least: rows of a column-major matrix share lines of the cache.
constexpr std::int64_t piece_rows = 64;

/// Whether no two elements, and no two rows, share a byte, so that rows may be written at the same time: by
/// their strides, each extent lies within one step of the next.
bool has_rows_apart(const TensorView& view) {
  if (view.tag != LayoutTag::strided || is_half_byte(view.dtype)) return false;
  std::array<std::pair<std::int64_t, std::int64_t>, TensorView::max_rank> axes = {};
  for (std::size_t i = view.is_pointer_array ? 1 : 0; i < view.rank; ++i)
    axes.at(i) = {view.strides[i], view.extents[i]};
  std::ranges::sort(axes);
  std::int64_t reach = 1;
  for (const auto& [stride, extent] : axes) {
    if (extent <= 1) continue;
    if (stride < reach) return false;
    reach = stride * extent;
  }
  return true;
}

/// Fills rows from `begin` to `end`, counted over all matrices.
template <class E>
void fill_rows(const Matrices& m, std::uint64_t base, Values values, std::int64_t begin, std::int64_t end) {
  for (std::int64_t line = begin; line < end; ++line) {
    void* const elements = const_cast<void*>(m.first(line / m.rows()));
    std::uint64_t state = mixed(base + golden * static_cast<std::uint64_t>(line));
    for (std::int64_t column = 0; column < m.columns(); ++column) {
      state += golden;
      host::write_element<E>(elements, m.index(line % m.rows(), column),
                             value_of(mixed(state), m.type(), values));
    }
  }
}

}  // namespace

void fill_random(const TensorView& tensor, std::uint64_t operand, const FillOptions& options) {
  const Matrices m(tensor);
  if (m.is_empty()) return;
  const std::uint64_t base = mixed(mixed(options.seed + golden) + operand);
  const std::int64_t lines = m.count() * m.rows();
  const bool is_one_piece = options.threads == 1 || !has_rows_apart(tensor);
  const std::int64_t height = is_one_piece ? lines : std::max(piece_rows, piece_elements / m.columns());
  host::with_element(m.type(), [&]<class E>(E) {
    host::parallel_for((lines + height - 1) / height, options.threads, [&](int, std::int64_t piece) {
      const std::int64_t begin = piece * height;
      fill_rows<E>(m, base, options.values, begin, std::min(lines, begin + height));
    });
  });
}

std::uint64_t value_number(Operand operand) {
  // Numbers as they have always been, so that a seed that was noted makes the same values; others have
  // theirs.
  switch (operand) {
    case Operand::bias: return 4;
    case Operand::scale: return 5;
    case Operand::residual: return 6;
    case Operand::partials: return 1;
    default: return static_cast<std::uint64_t>(operand);
  }
}

}  // namespace quarry::lab
