/// From what a user writes of a kernel to its config.
#pragma once

#include <string_view>

#include "quarry/status.hpp"
#include "registry/query/families.hpp"

namespace quarry::detail {

/// A config of any family.
struct FamilyConfig {
  const FamilySides* family;
  SettingValues values;
};

/// Whether a text is JSON rather than a name.
bool is_json(std::string_view text);

/// The config of a kernel's name, or of JSON with the keys of its family's settings: {"family": "gemm_sm80",
/// "a": "f16", ..., "tile": [128, 128, 32], ...}. Fails with parse_error, and says where, for any other text;
/// the config may be one that the family cannot do (ConfigSpace::fault).
Result<FamilyConfig> read_config(std::string_view text);

}  // namespace quarry::detail
