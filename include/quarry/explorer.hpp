/// The kernels as a page to look through.
#pragma once

#include <span>
#include <string>

#include "quarry/kernel.hpp"

namespace quarry {

/// One HTML page of kernels, for any browser, that needs no network: a table with filters of the filter
/// language, sorting, a choice of columns, and all that is known of a kernel.
std::string explorer_page(std::span<const Kernel> kernels);

}  // namespace quarry
