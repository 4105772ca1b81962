#include "lab/problems/matrices.hpp"
#include "operations/common/host/element.hpp"
#include "operations/gemm/lab/operation.hpp"

namespace quarry::lab::gemm {

bool Lab::fill(const GemmArguments& arguments, Operand operand, const TensorView& view,
               const FillOptions& options) {
  if (operand != Operand::a_scale && operand != Operand::b_scale) return false;
  fill_random(view, value_number(operand), options);
  // Whole outputs round ties, which sums that are a little off would take to another side: theirs are exact.
  const bool is_exact = options.values == Values::small_integers || is_integer(arguments.out.dtype);
  const auto scale = [&](double value) {
    if (is_exact) return value > 0 ? 2.0 : 1.0;
    return 1 + value / 2;
  };
  const Matrices m(view);
  for (std::int64_t matrix = 0; matrix < m.count(); ++matrix) {
    void* const first = const_cast<void*>(m.first(matrix));
    for (std::int64_t row = 0; row < m.rows(); ++row) {
      for (std::int64_t column = 0; column < m.columns(); ++column) {
        const std::int64_t at = m.index(row, column);
        host::write_element(m.type(), first, at, scale(host::read_element(m.type(), first, at)));
      }
    }
  }
  return true;
}

}  // namespace quarry::lab::gemm
