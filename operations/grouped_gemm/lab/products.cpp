#include "operations/grouped_gemm/lab/products.hpp"

#include <algorithm>

#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"

namespace quarry::lab::grouped_gemm {

std::vector<GroupProduct> products_of(const GroupParams& groups, std::int64_t m, std::int64_t k) {
  std::vector<GroupProduct> all;
  int begin = 0;
  for (int g = 0; g < groups.groups; ++g) {
    const GroupSpan span = group_span(groups, g, groups.sizes[g], begin);
    begin = span.first + span.count;
    switch (groups.form) {
      case GroupForm::contiguous:
        all.push_back({span, 0, g, 0, span.first, span.first, span.count, 0, 0, k});
        break;
      case GroupForm::masked: all.push_back({span, g, g, g, 0, 0, span.count, 0, 0, k}); break;
      case GroupForm::ragged_k:
        all.push_back({span, 0, 0, g, 0, 0, m, span.first, span.first, span.count});
        break;
    }
  }
  return all;
}

PlaceRange places_of(const GroupProduct& group, const std::vector<std::int64_t>& rows) {
  const auto place = [&](std::int64_t row) {
    return static_cast<std::size_t>(std::ranges::lower_bound(rows, row) - rows.begin());
  };
  return {place(group.first_row), place(group.first_row + group.rows)};
}

void set_outside(const TensorView& view, bool is_zero, const std::vector<GroupProduct>& groups,
                 Expected& expected) {
  const host::Matrix now(view);
  const std::size_t rows = expected.rows.size();
  std::vector<bool> is_inside(static_cast<std::size_t>(expected.matrices) * rows);
  for (const GroupProduct& group : groups) {
    const PlaceRange places = places_of(group, expected.rows);
    const std::size_t first = static_cast<std::size_t>(group.out_entry) * rows;
    for (std::size_t i = places.begin; i < places.end; ++i) is_inside[first + i] = true;
  }
  std::size_t line = 0;
  std::size_t next = 0;
  for (std::int64_t entry = 0; entry < expected.matrices; ++entry) {
    for (const std::int64_t row : expected.rows) {
      const bool keeps = is_inside[line++];
      for (std::int64_t column = 0; column < expected.columns; ++column, ++next) {
        if (keeps) continue;
        expected.values[next] =
            is_zero ? 0 : host::read_element(now.type, now.first(entry), now.index(row, column));
      }
    }
  }
}

}  // namespace quarry::lab::grouped_gemm
