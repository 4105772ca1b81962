#include "fuzz/arguments.hpp"
#include "fuzz/expression_tensors.hpp"
#include "fuzz/harness_list.hpp"
#include "quarry/elementwise.hpp"
#include "support/operation_rows.hpp"

namespace quarry::fuzz {

void elementwise_arguments(Bytes input) {
  Input values(input);
  const auto rows = test::rows_of(Operation::elementwise);
  const detail::Row& row = rows[values.raw<std::uint16_t>() % rows.size()];
  const std::uint64_t seed = values.raw<std::uint16_t>();
  const std::uint16_t choice = values.raw<std::uint16_t>();
  const std::int64_t extents[] = {values.byte() % 3 + 1, values.byte() % 12, values.byte() % 40};
  const std::size_t rank = values.coin() ? 3 : 2;
  const Expression expression = some_expression(seed, DType::none, DType::none);
  ElementwiseArguments arguments = {.expression = expression,
                                    .tensors = tensors_for(expression, std::span(extents).last(rank), true)};
  for (int changes = 0; changes < 16 && !values.empty(); ++changes) change(arguments.tensors, values);
  try_arguments(arguments, row, choice, values);
}

}  // namespace quarry::fuzz
