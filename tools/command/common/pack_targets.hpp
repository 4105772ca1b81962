/// --target: compute capabilities as a user writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quarry/status.hpp"

namespace quarry::command {

/// The targets of "80,90", each once, in this order; the default device model's for an empty text.
/// Which ones a compiler knows, it says itself.
Result<std::vector<int>> read_targets(const std::string& text);

/// "9.0"
std::string capability_text(int cc);

}  // namespace quarry::command
