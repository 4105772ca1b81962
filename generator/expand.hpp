/// Expands spaces into configs.
#pragma once

#include <string>
#include <vector>

#include "space_file.hpp"

namespace quarry::generator {

struct Config {
  SettingValues values;
  std::string name;
};

/// A config of the axes that is not registered, and why.
struct Dropped {
  std::string name;
  std::string reason;
};

/// A family's configs, in the order of its space.
struct Expansion {
  const ConfigSpace* space;
  std::vector<Config> configs;
  std::vector<Dropped> dropped;
};

/// Every combination of each block's axes that can exist and that all constraints let pass, and, of a
/// mirrored block, every mirrored one behind them. Fails where a constraint rejects everything, where nothing
/// is left, and where one config comes twice.
Result<Expansion> expand(const SpaceFile& file);

}  // namespace quarry::generator
