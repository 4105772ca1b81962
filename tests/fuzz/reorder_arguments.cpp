#include "fuzz/arguments.hpp"
#include "fuzz/harness_list.hpp"
#include "support/random_reorder.hpp"

namespace quarry::fuzz {

void reorder_arguments(Bytes input) {
  Input values(input);
  const auto rows = test::reorder_rows();
  const detail::Row& row = rows[values.raw<std::uint16_t>() % rows.size()];
  test::Random random(values.raw<std::uint16_t>());
  const std::uint16_t choice = values.raw<std::uint16_t>();
  constexpr int most_extent = 64;
  ReorderArguments arguments =
      test::random_reorder(random, row.metadata.operands.a.dtype, values.byte(), 1, most_extent);
  for (int changes = 0; changes < 16 && !values.empty(); ++changes)
    change(values.coin() ? arguments.from : arguments.to, values);
  try_arguments(arguments, row, choice, values);
}

}  // namespace quarry::fuzz
