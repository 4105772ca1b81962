/// --target: compute capabilities as a user writes them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry::command {

/// The targets of "80,90", each once, in this order; the default device model's for an empty text.
/// Which ones a compiler knows, it says itself.
Result<std::vector<int>> read_targets(const std::string& text);

/// Whether a kernel can run on a target.
bool runs_on(const Kernel& kernel, int target);

/// The kernels that can run on a target. Says how many others there are, if any.
std::vector<Kernel> runnable_on(std::span<const Kernel> kernels, int target);

/// "9.0"
std::string capability_text(int cc);

}  // namespace quarry::command
