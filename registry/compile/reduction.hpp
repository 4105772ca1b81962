/// Which reduction follows a parallel split-K of a kernel.
#pragma once

#include <string_view>

#include "operations/common/row.hpp"

namespace quarry::detail {

/// Name of the reduction's entry; "" where the kernel has no such mode.
std::string_view reduction_of(const Row& row);

}  // namespace quarry::detail
