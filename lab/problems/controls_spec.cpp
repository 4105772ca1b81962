#include "lab/problems/controls_spec.hpp"

#include <limits>

namespace quarry::lab {

Controls read_controls(SettingReader& reader) {
  const auto as_int = [](std::optional<std::int64_t> value) {
    return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
  };
  constexpr std::int64_t int_max = std::numeric_limits<int>::max();
  Controls controls;
  controls.mode = reader.read("mode", parse_mode);
  controls.split_k_slices = as_int(reader.integer("split-k", int_max));
  controls.swizzle = as_int(reader.integer("swizzle", int_max));
  controls.raster = reader.read("raster", parse_raster);
  controls.multiprocessors = as_int(reader.integer("multiprocessors", int_max));
  return controls;
}

std::string controls_flags(const Controls& c) {
  std::string text;
  if (c.mode) text += flag_text("mode", std::string(to_string(*c.mode)));
  if (c.split_k_slices) text += flag_text("split-k", std::to_string(*c.split_k_slices));
  if (c.swizzle) text += flag_text("swizzle", std::to_string(*c.swizzle));
  if (c.raster) text += flag_text("raster", std::string(to_string(*c.raster)));
  if (c.multiprocessors) text += flag_text("multiprocessors", std::to_string(*c.multiprocessors));
  return text;
}

}  // namespace quarry::lab
