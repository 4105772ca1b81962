#include "lab/emulate/entries.hpp"

#include <set>

#include "operations/common/row.hpp"
#include "registry/operation.hpp"

namespace quarry::lab::emulate {

std::vector<std::string> entries_of(std::span<const Kernel> kernels) {
  std::set<std::string> names;
  for (const Kernel& kernel : kernels) {
    names.emplace(detail::entry_of(detail::row_of(kernel).entry).name);
    for (const std::uint32_t companion : detail::row_of(kernel).companions) {
      if (companion != detail::no_entry) names.emplace(detail::entry_of(companion).name);
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace quarry::lab::emulate
