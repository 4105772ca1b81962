#include "space_file.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "basic/nearest.hpp"
#include "basic/text.hpp"
#include "basic/words.hpp"
#include "json_file.hpp"

namespace quarry::generator {
namespace {

/// A place in a file, "axes.shapes[2].tile", that fails with a message.
struct JsonPlace {
  const std::filesystem::path& file;
  std::string path;

  JsonPlace key(std::string_view name) const {
    const std::string quote = detail::quoted(name);  // without bytes that no message can have
    const std::string shown = quote.substr(1, quote.size() - 2);
    return {file, path.empty() ? shown : path + "." + shown};
  }
  JsonPlace element(std::size_t index) const { return {file, path + "[" + std::to_string(index) + "]"}; }
  Status failure(const std::string& message) const {
    return {StatusCode::parse_error, file.string() + ": " + (path.empty() ? "" : path + ": ") + message};
  }
  Status expected(std::string_view what, const Json& got) const {
    return failure("expected " + std::string(what) + ", got " + std::string(type_of(got)));
  }
};

/// Fails on the first key that is not one of `known`.
Status check_keys(const JsonPlace& place, const Json& object, std::span<const std::string_view> known) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      return place.failure("unknown key " + detail::quoted(key) + detail::did_you_mean(key, known) +
                           "; known are " + detail::join(known, "and"));
    }
  }
  return {};
}

// ---- One value of one setting

Status read_number(const JsonPlace& place, const Json& json, int& number) {
  if (!json.is_number_integer()) return place.expected("a whole number", json);
  const bool in_range = json.is_number_unsigned() && json.get<std::uint64_t>() >= 1 &&
                        json.get<std::uint64_t>() <= static_cast<std::uint64_t>(max_setting);
  if (!in_range)
    return place.failure("expected 1 to " + std::to_string(max_setting) + ", got " + json.dump());
  number = json.get<int>();
  return {};
}

Status read_word(const JsonPlace& place, const Json& json, const Setting& setting, SettingValue& value) {
  if (!json.is_string()) return place.expected("a string", json);
  const auto& word = json.get_ref<const std::string&>();
  std::string why = read_text(setting, word, value);
  if (why.empty()) return {};
  if (setting.kind == SettingKind::layouts) why += ", got " + detail::quoted(word);
  return place.failure(why);
}

Status read_value(const JsonPlace& place, const Json& json, const Setting& setting, SettingValue& value) {
  if (is_text(setting.kind)) return read_word(place, json, setting, value);
  if (setting.kind == SettingKind::integer) return read_number(place, json, value[0]);
  const std::size_t count = width(setting.kind);
  if (!json.is_array()) return place.expected("an array of " + std::to_string(count) + " numbers", json);
  if (json.size() != count) {
    return place.failure("expected " + std::to_string(count) + " numbers, got " +
                         std::to_string(json.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (Status ok = read_number(place.element(i), json[i], value[i]); !ok) return ok;
  }
  return {};
}

/// Whether a list stands for its elements here: a list of lists where a value is itself a list.
bool is_choice(const Json& json, const Setting& setting) {
  if (!json.is_array()) return false;
  return width(setting.kind) == 1 || setting.kind == SettingKind::layouts ||
         std::ranges::any_of(json, [](const Json& element) { return element.is_array(); });
}

/// The values that one setting is given: one, or each of a list.
Result<std::vector<SettingValue>> read_values(const JsonPlace& place, const Json& json,
                                              const Setting& setting) {
  std::vector<SettingValue> values;
  if (!is_choice(json, setting)) {
    values.emplace_back();
    if (Status ok = read_value(place, json, setting, values.back()); !ok) return ok;
    return values;
  }
  if (json.empty()) return place.failure("an empty list of values");
  for (std::size_t i = 0; i < json.size(); ++i) {
    values.emplace_back();
    if (Status ok = read_value(place.element(i), json[i], setting, values.back()); !ok) return ok;
  }
  return values;
}

// ---- Axes

std::optional<std::size_t> setting_index(const ConfigSpace& space, std::string_view key) {
  const auto found = std::ranges::find(space.settings, key, &Setting::key);
  if (found == space.settings.end()) return std::nullopt;
  return static_cast<std::size_t>(found - space.settings.begin());
}

std::vector<std::string_view> setting_keys(const ConfigSpace& space) {
  std::vector<std::string_view> keys;
  for (const Setting& setting : space.settings) keys.push_back(setting.key);
  return keys;
}

/// The limit of what one axis, or one product of axes, may come to: more is a mistake that would not end.
constexpr std::size_t max_configs = 1'000'000;

/// Every point so far with every one of the values: the product of lists within one object.
Status multiply(const JsonPlace& place, std::vector<AxisPoint>& points, std::size_t setting,
                const std::vector<SettingValue>& values) {
  if (points.size() > max_configs / values.size()) return place.failure("more than 1000000 values");
  std::vector<AxisPoint> product;
  for (const AxisPoint& point : points) {
    for (const SettingValue& value : values) {
      product.push_back(point);
      product.back().push_back({setting, value});
    }
  }
  points = std::move(product);
  return {};
}

/// The points that one value of an axis stands for.
Result<std::vector<AxisPoint>> read_points(const JsonPlace& place, const Json& json, const ConfigSpace& space,
                                           std::string_view axis) {
  std::vector<AxisPoint> points(1);
  if (json.is_object()) {
    if (json.empty()) return place.failure("an object without settings");
    const std::vector<std::string_view> keys = setting_keys(space);
    if (Status ok = check_keys(place, json, keys); !ok) return ok;
  } else if (!setting_index(space, axis)) {
    const std::vector<std::string_view> keys = setting_keys(space);
    return place.failure("expected an object of settings, got " + std::string(type_of(json)) +
                         "; no setting is called " + detail::quoted(axis) + detail::did_you_mean(axis, keys));
  }
  // In the settings' own order, so that points of one axis compare.
  for (std::size_t i = 0; i < space.settings.size(); ++i) {
    const Setting& setting = space.settings[i];
    if (json.is_object() ? !json.contains(setting.key) : setting.key != axis) continue;
    const JsonPlace where = json.is_object() ? place.key(setting.key) : place;
    const auto values = read_values(where, json.is_object() ? json[std::string(setting.key)] : json, setting);
    if (!values) return values.status();
    if (Status ok = multiply(where, points, i, *values); !ok) return ok;
  }
  return points;
}

bool same_settings(const AxisPoint& a, const AxisPoint& b) {
  return std::ranges::equal(a, b, {}, &Assignment::setting, &Assignment::setting);
}

Result<Axis> read_axis(const JsonPlace& place, const Json& json, const ConfigSpace& space,
                       std::string_view name) {
  if (!json.is_array()) return place.expected("a list of values", json);
  if (json.empty()) return place.failure("an empty axis");
  Axis axis = {std::string(name), {}};
  std::set<AxisPoint> seen;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const JsonPlace element = place.element(i);
    const Result<std::vector<AxisPoint>> points = read_points(element, json[i], space, name);
    if (!points) return points.status();
    for (const AxisPoint& point : *points) {
      if (!seen.insert(point).second) {
        return element.failure("duplicate config: an earlier value of this axis makes the same settings");
      }
      if (!axis.points.empty() && !same_settings(axis.points.front(), point)) {
        return element.failure("does not make the same settings as the other values of this axis");
      }
      axis.points.push_back(point);
    }
  }
  return axis;
}

/// Adds the axes of one object to a block.
Status read_axes(const JsonPlace& place, const Json& json, const ConfigSpace& space, SpaceBlock& block) {
  if (!json.is_object()) return place.expected("an object of axes", json);
  for (const auto& [name, value] : json.items()) {
    Result<Axis> axis = read_axis(place.key(name), value, space, name);
    if (!axis) return axis.status();
    for (const Axis& other : block.axes) {
      for (const Assignment& a : axis->points.front()) {
        if (std::ranges::find(other.points.front(), a.setting, &Assignment::setting) ==
            other.points.front().end())
          continue;
        return place.key(name).failure("setting " + detail::quoted(space.settings[a.setting].key) +
                                       " is made by axis " + detail::quoted(other.name) + " too");
      }
    }
    block.axes.push_back(*std::move(axis));
  }
  return {};
}

/// Every setting that is not one to leave out must be made by some axis, and the product must be of a sane
/// size.
Status check_block(const JsonPlace& place, const ConfigSpace& space, const SpaceBlock& block) {
  std::vector<bool> made;
  for (const Setting& setting : space.settings) made.push_back(setting.unsaid.has_value());
  std::size_t configs = block.mirror ? 2 : 1;
  for (const Axis& axis : block.axes) {
    for (const Assignment& a : axis.points.front()) made[a.setting] = true;
    if (configs > max_configs / axis.points.size())
      return place.failure("the axes make more than 1000000 configs");
    configs *= axis.points.size();
  }
  const auto missing = std::ranges::find(made, false);
  if (missing == made.end()) return {};
  const auto index = static_cast<std::size_t>(missing - made.begin());
  return place.failure("no axis makes the setting " + detail::quoted(space.settings[index].key));
}

// ---- Constraints

Status read_constraints(const JsonPlace& place, const Json& json, SpaceBlock& block) {
  if (!json.is_array()) return place.expected("a list of filter expressions", json);
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_string()) return place.element(i).expected("a filter expression in a string", json[i]);
    const auto& text = json[i].get_ref<const std::string&>();
    Result<Filter> filter = Filter::parse(text);
    if (!filter) return place.element(i).failure(filter.status().message());
    block.constraints.push_back({text, *std::move(filter)});
  }
  return {};
}

// ---- Blocks

Status read_mirror(const JsonPlace& place, const Json& json, const ConfigSpace& space, SpaceBlock& block) {
  if (!json.is_boolean()) return place.expected("true or false", json);
  block.mirror = json.get<bool>();
  if (!block.mirror || space.mirrored != nullptr) return {};
  return place.failure("configs of " + detail::quoted(space.family) + " have no mirrored ones");
}

/// Adds the axes and constraints that an object holds to a block, and says whether it is mirrored.
Status read_parts(const JsonPlace& place, const Json& json, const ConfigSpace& space, SpaceBlock& block) {
  if (json.contains("axes")) {
    if (Status ok = read_axes(place.key("axes"), json["axes"], space, block); !ok) return ok;
  }
  if (json.contains("constraints")) {
    if (Status ok = read_constraints(place.key("constraints"), json["constraints"], block); !ok) return ok;
  }
  if (!json.contains("mirror")) return {};
  return read_mirror(place.key("mirror"), json["mirror"], space, block);
}

Status read_blocks(const JsonPlace& root, const Json& json, SpaceFile& result) {
  SpaceBlock common;
  if (Status ok = read_parts(root, json, *result.space, common); !ok) return ok;
  if (!json.contains("spaces")) {
    result.blocks.push_back(std::move(common));
    return check_block(root, *result.space, result.blocks.front());
  }
  const Json& spaces = json["spaces"];
  const JsonPlace place = root.key("spaces");
  if (!spaces.is_array()) return place.expected("a list of objects", spaces);
  if (spaces.empty()) return place.failure("an empty list");
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    const JsonPlace element = place.element(i);
    constexpr std::string_view keys[] = {"axes", "constraints", "mirror"};
    if (!spaces[i].is_object()) return element.expected("an object", spaces[i]);
    if (Status ok = check_keys(element, spaces[i], keys); !ok) return ok;
    SpaceBlock block = common;
    block.path = element.path;
    if (Status ok = read_parts(element, spaces[i], *result.space, block); !ok) return ok;
    if (Status ok = check_block(element, *result.space, block); !ok) return ok;
    result.blocks.push_back(std::move(block));
  }
  return {};
}

Status check_family(const JsonPlace& root, const Json& json, const ConfigSpace& space) {
  if (!json.contains("family")) return root.failure("key `family` is missing");
  const Json& family = json["family"];
  if (!family.is_string()) return root.key("family").expected("a string", family);
  const auto& name = family.get_ref<const std::string&>();
  if (name == space.family) return {};
  return root.key("family").failure("expected " + detail::quoted(space.family) + ", the folder's name, got " +
                                    detail::quoted(name));
}

}  // namespace

Result<SpaceFile> read_space_file(const ConfigSpace& space, const std::filesystem::path& file) {
  const Result<Json> json = read_json(file);
  if (!json) return json.status();
  const JsonPlace root = {file, ""};
  constexpr std::string_view keys[] = {"family", "axes", "constraints", "mirror", "spaces"};
  if (!json->is_object()) return root.expected("an object", *json);
  if (Status ok = check_keys(root, *json, keys); !ok) return ok;
  if (Status ok = check_family(root, *json, space); !ok) return ok;
  SpaceFile result = {&space, file, {}};
  if (Status ok = read_blocks(root, *json, result); !ok) return ok;
  return result;
}

}  // namespace quarry::generator
