/// Reads a family's space.json: axes, values and constraints, checked but not yet expanded.
///
///     {"family": "gemm_sm80",
///      "axes": {"types": [{"a": "f16", ..., "out": ["f16", "f32"]}], "layouts": ["rrr", "rcr"], ...},
///      "constraints": ["shared_memory <= 163 * 1024"],
///      "spaces": [{"axes": {...}, "constraints": [...]}, ...]}
///
/// An axis is a named list. Each of its values is an object of settings, or a plain value for the setting
/// that the axis is named after. A list where a setting takes one value stands for each of its elements.
/// `spaces` is optional: each of its blocks adds axes and constraints to the common ones, and is expanded by
/// itself. `"mirror": true`, of all blocks or of one, adds each config's mirrored one
/// (ConfigSpace::mirrored), to which the constraints apply as well.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config_text.hpp"
#include "quarry/filter.hpp"

namespace quarry::generator {

/// One setting made.
struct Assignment {
  std::size_t setting;  ///< index into the family's settings
  SettingValue value;
  friend auto operator<=>(const Assignment&, const Assignment&) = default;
};

/// One point of an axis: all the settings that it makes, in the same order for every point.
using AxisPoint = std::vector<Assignment>;

struct Axis {
  std::string name;
  std::vector<AxisPoint> points;
};

struct Constraint {
  std::string text;
  Filter filter;
};

/// Axes whose product is a list of configs. They make every setting of the family once. Only settings with a
/// default may be left out (Setting::unsaid).
struct SpaceBlock {
  /// Where it stands in the file, "" for the file as a whole, for messages.
  std::string path;
  std::vector<Axis> axes;
  std::vector<Constraint> constraints;
  /// Whether the mirrored configs follow.
  bool mirror = false;
};

struct SpaceFile {
  const ConfigSpace* space;
  std::filesystem::path file;
  std::vector<SpaceBlock> blocks;
};

/// Reads and checks. The failure's message names the file and the key, or line and column.
Result<SpaceFile> read_space_file(const ConfigSpace& space, const std::filesystem::path& file);

}  // namespace quarry::generator
