#include "fuzz/harness_list.hpp"
#include "operations/common/row.hpp"
#include "quarry/filter.hpp"

namespace quarry::fuzz {

void filters(Bytes input) {
  const Result<Filter> filter = Filter::parse(text_of(input));
  check_message(filter.status(), 3);
  if (!filter) return;
  const auto rows = detail::rows();
  constexpr std::size_t asked = 8;
  for (std::size_t i = 0; i < rows.size(); i += rows.size() / asked) {
    const bool first = (*filter)(rows[i].metadata);
    require((*filter)(rows[i].metadata) == first, "a filter gives the same answer twice");
  }
}

}  // namespace quarry::fuzz
