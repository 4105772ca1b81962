#include "fuzz/arguments.hpp"
#include "fuzz/harness_list.hpp"
#include "support/random_reduction.hpp"

namespace quarry::fuzz {
namespace {

void change(ReduceSplitKArguments& arguments, Input& input) {
  switch (input.byte() % 4) {
    case 0: change(arguments.partials, input); break;
    case 1: change(arguments.out, input); break;
    case 2: change(arguments.c, arguments.out, input); break;
    default: change(arguments.epilogue, arguments.out, input); break;
  }
}

}  // namespace

void reduce_split_k_arguments(Bytes input) {
  Input values(input);
  const auto rows = test::reduction_rows();
  const detail::Row& row = rows[values.raw<std::uint16_t>() % rows.size()];
  test::Random random(values.raw<std::uint16_t>());
  const std::uint16_t choice = values.raw<std::uint16_t>();
  constexpr int most_extent = 20;
  ReduceSplitKArguments arguments = test::random_reduction(random, row, most_extent);
  for (int changes = 0; changes < 16 && !values.empty(); ++changes) change(arguments, values);
  try_arguments(arguments, row, choice, values);
}

}  // namespace quarry::fuzz
