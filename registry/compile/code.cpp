/// Questions about machine code (quarry/code.hpp), answered from the table.
#include "quarry/code.hpp"

#include "operations/common/row.hpp"
#include "registry/compile/known_resources.hpp"
#include "registry/operation.hpp"

namespace quarry {

std::string_view entry_name(const Kernel& kernel) {
  return detail::entry_of(detail::row_of(kernel).entry).name;
}

std::optional<CodeResources> known_resources(const Kernel& kernel, int target) {
  return detail::known_resources(detail::row_of(kernel).entry, target);
}

std::span<const int> precompiled_targets() { return detail::precompiled_targets(); }

PrecompiledCode precompiled_code() {
  PrecompiledCode code;
  for (const detail::Entry& entry : detail::entries()) {
    ++code.entries;
    if (entry.unit >= 0) ++code.precompiled;
  }
  for (const detail::Unit& unit : detail::units()) {
    ++code.units;
    code.bytes += static_cast<std::uint64_t>(unit.end - unit.begin);
  }
  return code;
}

}  // namespace quarry
