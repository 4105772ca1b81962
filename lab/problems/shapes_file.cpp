#include "lab/problems/shapes_file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "basic/nearest.hpp"
#include "basic/read_file.hpp"
#include "basic/text.hpp"
#include "lab/operation.hpp"
#include "lab/problems/query.hpp"
#include "lab/text.hpp"

namespace quarry::lab {
namespace {

using nlohmann::json;

Status error(const std::string& message) { return Status(StatusCode::parse_error, message); }

/// The setting that a member of a problem makes ("split_k": --split-k); empty where there is none.
std::string setting_name(const OperationLab& lab, std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  const bool known = std::ranges::find(lab.settings(), key, &Setting::name) != lab.settings().end();
  return known ? key : "";
}

/// The member that holds the shape in the words of the command line.
constexpr std::string_view shape_member = "shape";

/// Members that are options of the problem's query.
constexpr std::string_view invariant_member = "batch_invariant";
constexpr std::string_view workspace_member = "max_workspace";

bool is_part_of_shape(const OperationLab& lab, const std::string& key) {
  const auto& sizes = lab.words.shape_members;
  return key == shape_member || std::ranges::find(sizes, key) != sizes.end();
}

Status unknown_member(const OperationLab& lab, const std::string& key) {
  std::vector<std::string_view> names(lab.words.shape_members.begin(), lab.words.shape_members.end());
  names.insert(names.end(), {shape_member, "from", invariant_member, workspace_member});
  for (const Setting& setting : lab.settings()) names.push_back(setting.name);
  return error("unknown member " + detail::quoted(key) + detail::did_you_mean(key, names));
}

/// "a list", "an object", ...
std::string noun_of(const json& value) {
  const std::string type = value.is_array() ? "list" : value.type_name();
  return (value.is_object() ? "an " : "a ") + type;
}

/// The shape in the words of the command line, from the member that holds it.
Result<std::string> read_shape_words(const OperationLab& lab, const json& problem, const json& words) {
  for (const std::string_view size : lab.words.shape_members) {
    if (problem.contains(size))
      return error("the members `shape` and `" + std::string(size) +
                   "` are both given: leave one of them out");
  }
  if (!words.is_string()) return error("shape: expected a text, got " + noun_of(words));
  return words.get<std::string>();
}

/// The shape as words, of the members that make it.
Result<std::string> read_shape(const OperationLab& lab, const json& problem) {
  if (const auto words = problem.find(shape_member); words != problem.end())
    return read_shape_words(lab, problem, *words);
  if (lab.words.shape_members.empty()) return error("member `shape` is missing");
  std::string shape;
  for (const std::string_view name : lab.words.shape_members) {
    const auto size = problem.find(name);
    if (size == problem.end()) return error("member `" + std::string(name) + "` is missing");
    // The text of a list could be as deep as the file is long.
    if (!size->is_number()) {
      return error(std::string(name) + ": expected a whole number from 0, got " + noun_of(*size));
    }
    // From text, so that sizes of any length, negative ones and fractions all meet the same check.
    const Result<std::int64_t> number =
        parse_integer(name, size->dump(), 0, std::numeric_limits<std::int64_t>::max());
    if (!number) return number.status();
    shape += (shape.empty() ? "" : "x") + std::to_string(*number);
  }
  return shape;
}

/// "members m, n and k, or the member shape"
std::string members_of_shape(const OperationLab& lab) {
  const std::vector<std::string_view> sizes(lab.words.shape_members.begin(), lab.words.shape_members.end());
  return sizes.empty() ? "member shape" : "members " + join(sizes, "and") + ", or the member shape";
}

/// "\"m\": 512, \"n\": 512, \"k\": 512"
std::string example_members(const OperationLab& lab) {
  std::string members;
  for (const std::string_view size : lab.words.shape_members)
    members += (members.empty() ? "\"" : ", \"") + std::string(size) + "\": 512";
  return members.empty() ? "\"shape\": \"...\"" : members;
}

/// Takes the options out of the members of a problem.
Status take_options(json& object, detail::QueryOptions& options) {
  if (const auto invariant = object.find(invariant_member); invariant != object.end()) {
    if (!invariant->is_boolean())
      return error("batch_invariant: expected true or false, got " + noun_of(*invariant));
    options.batch_invariant = invariant->get<bool>();
    object.erase(invariant);
  }
  if (const auto workspace = object.find(workspace_member); workspace != object.end()) {
    if (!workspace->is_string() && !workspace->is_number())
      return error("max_workspace: expected bytes such as 1024 or \"64M\", got " + noun_of(*workspace));
    const Result<std::size_t> bytes =
        parse_bytes(workspace->is_string() ? workspace->get<std::string>() : workspace->dump());
    if (!bytes) return error("max_workspace: " + bytes.status().message());
    options.max_workspace = *bytes;
    object.erase(workspace);
  }
  return {};
}

Result<Problem> read_problem(const OperationLab& lab, json object, SettingTexts settings,
                             detail::QueryOptions options) {
  if (!object.is_object()) return error("expected an object with the " + members_of_shape(lab));
  if (Status s = take_options(object, options); !s) return s;
  std::string label;
  for (const auto& [key, value] : object.items()) {
    if (is_part_of_shape(lab, key)) continue;
    if (!value.is_string() && !value.is_number())
      return error("member " + detail::quoted(key) + ": expected a text or a number, got " + noun_of(value));
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (key == "from") {
      label = text;
    } else if (const std::string name = setting_name(lab, key); !name.empty()) {
      settings[name] = text;
    } else {
      return unknown_member(lab, key);
    }
  }
  const Result<std::string> shape = read_shape(lab, object);
  if (!shape) return shape.status();
  Result<Problem> problem = parse_problem(lab.operation, *shape, settings);
  if (!problem) return problem;
  problem->label = label;
  problem->options = options;
  return problem;
}

Result<std::vector<Problem>> parse(const OperationLab& lab, const std::string& json_text,
                                   const SettingTexts& defaults, const detail::QueryOptions& options) {
  json document;
  // No member of a problem is a list: what lists hold is not kept, however deep they are.
  constexpr int members_depth = 3;
  const auto keep = [](int depth, json::parse_event_t, const json&) { return depth <= members_depth; };
  try {
    document = json::parse(json_text, keep);
  } catch (const json::exception& e) {
    // Without the library's own number of the error in front.
    const std::string text = one_ascii_line(e.what());
    return error("not JSON: " + text.substr(text.starts_with('[') ? text.find(']') + 2 : 0));
  }
  const auto problems = document.is_object() ? document.find("problems") : document.end();
  if (problems == document.end() || !problems->is_array() || problems->empty()) {
    return error("expected {\"problems\": [{" + example_members(lab) + "}, ...]}");
  }
  std::vector<Problem> read;
  for (const json& object : *problems) {
    Result<Problem> problem = read_problem(lab, object, defaults, options);
    if (!problem) {
      return Status(problem.status().code(),
                    "problem " + std::to_string(read.size() + 1) + ": " + problem.status().message());
    }
    read.push_back(*std::move(problem));
  }
  return read;
}

}  // namespace

Result<std::vector<Problem>> read_shapes_file(const std::string& path, Operation operation,
                                              const SettingTexts& defaults,
                                              const detail::QueryOptions& options) {
  const OperationLab& lab = lab_of(operation);
  const auto in_file = [&path](const Status& status) {
    return Status(status.code(), "shapes file " + detail::quoted(path) + ": " + status.message());
  };
  const Result<std::string> text = detail::read_file(path);
  if (!text) return in_file(text.status());
  Result<std::vector<Problem>> problems = parse(lab, *text, defaults, options);
  if (!problems) return in_file(problems.status());
  return problems;
}

}  // namespace quarry::lab
