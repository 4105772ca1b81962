#include "lab/problems/fill.hpp"

#include "lab/problems/matrices.hpp"
#include "operations/common/host/element.hpp"

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

}  // namespace

void fill_random(const TensorView& tensor, std::uint64_t operand, const FillOptions& options) {
  const Matrices m(tensor);
  const std::uint64_t base = mixed(mixed(options.seed + golden) + operand);
  host::with_element(m.type(), [&]<class E>(E) {
    for (std::int64_t matrix = 0; matrix < m.count(); ++matrix) {
      for (std::int64_t row = 0; row < m.rows(); ++row) {
        const auto line = static_cast<std::uint64_t>(matrix * m.rows() + row);
        std::uint64_t state = mixed(base + golden * line);
        for (std::int64_t column = 0; column < m.columns(); ++column) {
          state += golden;
          host::write_element<E>(const_cast<void*>(m.first(matrix)), m.index(row, column),
                                 value_of(mixed(state), m.type(), options.values));
        }
      }
    }
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
