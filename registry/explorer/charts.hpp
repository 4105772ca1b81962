/// The charts of the explorer's page as data.
#pragma once

#include <string>

#include "quarry/explorer.hpp"

namespace quarry::detail {

/// `,"maps":[...],"times":[...]`.
std::string charts_json(const ExplorerCharts& charts);

}  // namespace quarry::detail
