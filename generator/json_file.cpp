#include "json_file.hpp"

#include <set>

#include "basic/read_file.hpp"
#include "basic/text.hpp"

namespace quarry::generator {
namespace {

/// What the parser says of a text, which it quotes as it is, with `?` for bytes that do not belong in a
/// message.
std::string printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

/// "[json.exception...] parse error at line 3, column 7: syntax error ..." as "FILE:3:7: syntax error ...".
Status parse_failure(const std::filesystem::path& file, const std::string& what) {
  constexpr std::string_view line_word = "at line ";
  constexpr std::string_view column_word = ", column ";
  const auto line = what.find(line_word);
  const auto column = what.find(column_word);
  const auto end = what.find(": ", column == std::string::npos ? 0 : column);
  if (line == std::string::npos || column == std::string::npos || end == std::string::npos) {
    return {StatusCode::parse_error, file.string() + ": " + what};
  }
  const auto line_begin = line + line_word.size();
  const auto column_begin = column + column_word.size();
  return {StatusCode::parse_error, file.string() + ":" + what.substr(line_begin, column - line_begin) + ":" +
                                       what.substr(column_begin, end - column_begin) + ": " +
                                       what.substr(end + 2)};
}

/// Watches a parse for keys that repeat within one object, which the parser itself lets pass.
class RepeatedKeys {
 public:
  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second &&
        first_.empty()) {
      first_ = detail::quoted(parsed.get<std::string>());
    }
    return true;
  }
  /// The first repeated key, quoted; "" where there is none.
  const std::string& first() const { return first_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string first_;
};

}  // namespace

Result<std::string> read_text(const std::filesystem::path& file) {
  Result<std::string> text = detail::read_file(file.string());
  if (!text) return Status(StatusCode::not_found, file.string() + ": " + text.status().message());
  return text;
}

Result<Json> read_json(const std::filesystem::path& file) {
  const Result<std::string> text = read_text(file);
  if (!text) return text.status();
  RepeatedKeys repeated;
  try {
    Json json = Json::parse(*text, std::ref(repeated));
    if (repeated.first().empty()) return json;
  } catch (const Json::exception& error) {
    return parse_failure(file, printable(error.what()));
  }
  return Status(StatusCode::parse_error,
                file.string() + ": key " + repeated.first() + " stands twice in one object");
}

std::string_view type_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "an array";
    case Json::value_t::string: return "a string";
    case Json::value_t::boolean: return "a boolean";
    case Json::value_t::null: return "null";
    case Json::value_t::number_float: return "a fraction";
    default: return "a number";
  }
}

}  // namespace quarry::generator
