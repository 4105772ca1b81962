#include "lab/expression/indices.hpp"

#include <cstdint>
#include <optional>

#include "lab/problems/matrices.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/host/element.hpp"

namespace quarry::lab {
namespace {

/// Rows of the tensor that an input chooses from; nothing for other inputs.
std::optional<std::int64_t> chosen_rows(const Expression& expression,
                                        std::span<const ExpressionTensor> tensors, Operand operand) {
  const auto inputs = expression.inputs();
  for (std::size_t table = 0; table < inputs.size(); ++table) {
    const int index = detail::index_of(expression.graph(), table);
    if (index < 0) continue;
    const auto* const given = detail::find_tensor(tensors, inputs[static_cast<std::size_t>(index)].name);
    if (given == nullptr || tensor_operand(static_cast<int>(given - tensors.data())) != operand) continue;
    return detail::rows_of(detail::find_tensor(tensors, inputs[table].name)->view);
  }
  return std::nullopt;
}

/// The index at a place of a vector, of a number that is any of 32 bits, or the least or the greatest: a row
/// of so many, or what lies outside. Some places have always that.
std::int64_t index_at(std::int64_t place, std::int64_t bits, std::int64_t rows) {
  switch (place % 16) {
    case 3: return -1;
    case 6: return rows;
    case 9: return INT32_MIN;
    case 12: return INT32_MAX;
    default: break;
  }
  const bool is_extreme = bits == INT32_MIN || bits == INT32_MAX;
  return is_extreme || rows == 0 ? bits : (bits - INT32_MIN) / 32 % rows;
}

}  // namespace

bool fill_indices(const Expression& expression, std::span<const ExpressionTensor> tensors, Operand operand,
                  const TensorView& view, const FillOptions& options) {
  const std::optional<std::int64_t> rows = chosen_rows(expression, tensors, operand);
  if (!rows) return false;
  fill_random(view, value_number(operand), {.seed = options.seed});
  const Matrices m(view);
  for (std::int64_t matrix = 0; matrix < m.count(); ++matrix) {
    for (std::int64_t row = 0; row < m.rows(); ++row) {
      for (std::int64_t column = 0; column < m.columns(); ++column) {
        void* const first = const_cast<void*>(m.first(matrix));
        const std::int64_t at = m.index(row, column);
        const auto bits = static_cast<std::int64_t>(host::read_element(view.dtype, first, at));
        host::write_element(view.dtype, first, at, static_cast<double>(index_at(row + column, bits, *rows)));
      }
    }
  }
  return true;
}

}  // namespace quarry::lab
