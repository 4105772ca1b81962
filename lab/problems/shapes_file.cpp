#include "lab/problems/shapes_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "basic/nearest.hpp"
#include "basic/text.hpp"
#include "lab/text.hpp"

namespace quarry::lab {
namespace {

using nlohmann::json;

Status error(const std::string& message) { return Status(StatusCode::parse_error, message); }

/// The setting that a member of a problem makes ("split_k": --split-k); empty where there is none.
std::string setting_name(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  const auto settings = problem_settings();
  const bool known =
      std::any_of(settings.begin(), settings.end(), [&](const Setting& s) { return s.name == key; });
  return known ? key : "";
}

Status unknown_member(const std::string& key) {
  std::vector<std::string_view> names = {"m", "n", "k", "from"};
  for (const Setting& setting : problem_settings()) names.push_back(setting.name);
  return error("unknown member " + detail::quoted(key) + detail::did_you_mean(key, names));
}

Result<std::int64_t> read_size(const json& problem, const char* key) {
  const auto size = problem.find(key);
  if (size == problem.end()) return error(std::string("member `") + key + "` is missing");
  // From text, so that sizes of any length, negative ones and fractions all meet the same check.
  return parse_integer(key, size->is_string() ? "a string" : size->dump(), 0,
                       std::numeric_limits<std::int64_t>::max());
}

Result<Problem> read_problem(const json& object, SettingTexts settings) {
  if (!object.is_object()) return error("expected an object with the members m, n and k");
  std::string label;
  for (const auto& [key, value] : object.items()) {
    if (key == "m" || key == "n" || key == "k") continue;
    if (!value.is_string() && !value.is_number())
      return error("member " + detail::quoted(key) + " is no text or number");
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (key == "from") {
      label = text;
    } else if (const std::string name = setting_name(key); !name.empty()) {
      settings[name] = text;
    } else {
      return unknown_member(key);
    }
  }
  const Result<std::int64_t> m = read_size(object, "m");
  const Result<std::int64_t> n = read_size(object, "n");
  const Result<std::int64_t> k = read_size(object, "k");
  for (const auto* size : {&m, &n, &k}) {
    if (!*size) return size->status();
  }
  Result<Problem> problem = make_problem({*m, *n, *k}, settings);
  if (problem) problem->label = label;
  return problem;
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  // A folder opens, but gives nothing.
  if (!file || !text) return error("cannot read it: " + std::string(std::strerror(errno)));
  return text.str();
}

Result<std::vector<Problem>> parse(const std::string& json_text, const SettingTexts& defaults) {
  json document;
  try {
    document = json::parse(json_text);
  } catch (const json::exception& e) {
    // Without the library's own number of the error in front.
    const std::string text = one_ascii_line(e.what());
    return error("not JSON: " + text.substr(text.starts_with('[') ? text.find(']') + 2 : 0));
  }
  const auto problems = document.is_object() ? document.find("problems") : document.end();
  if (problems == document.end() || !problems->is_array() || problems->empty()) {
    return error("expected {\"problems\": [{\"m\": 512, \"n\": 512, \"k\": 512}, ...]}");
  }
  std::vector<Problem> read;
  for (const json& object : *problems) {
    Result<Problem> problem = read_problem(object, defaults);
    if (!problem) {
      return Status(problem.status().code(),
                    "problem " + std::to_string(read.size() + 1) + ": " + problem.status().message());
    }
    read.push_back(*std::move(problem));
  }
  return read;
}

}  // namespace

Result<std::vector<Problem>> read_shapes_file(const std::string& path, const SettingTexts& defaults) {
  const auto in_file = [&path](const Status& status) {
    return Status(status.code(), "shapes file " + detail::quoted(path) + ": " + status.message());
  };
  const Result<std::string> text = read_text(path);
  if (!text) return in_file(text.status());
  Result<std::vector<Problem>> problems = parse(*text, defaults);
  if (!problems) return in_file(problems.status());
  return problems;
}

}  // namespace quarry::lab
