/// The kernel families of this build.
#pragma once

#include <span>

#include "config_text.hpp"
#include "operations/common/row.hpp"

namespace quarry::detail {

/// A family's two sides: its configs as text, and what it does with problems.
struct FamilySides {
  const ConfigSpace* space;
  FamilyHandle family;
};

/// All of them. Defined by a source that the build writes from its list of families (cmake/families.cmake).
std::span<const FamilySides> families();

}  // namespace quarry::detail
