// The data of the explorer's page: columns of numbers, each the place of a value among the field's different
// values.
#include "quarry/explorer.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <variant>
#include <vector>

#include "quarry/fields.hpp"
#include "quarry/version.hpp"
#include "registry/explorer/page_text.hpp"

namespace quarry {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A text of JSON that may stand in a script of HTML.
std::string quoted(std::string_view text) {
  static constexpr std::string_view hex = "0123456789abcdef";
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || c == '"' || c == '\\' || c == '<') {
      json += "\\u00";
      json += hex[byte >> 4];
      json += hex[byte & 15];
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::string json_of(const FieldValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* word = std::get_if<std::string_view>(&value)) return quoted(*word);
  return "null";
}

/// `"key":[...]` of texts that are JSON already.
std::string list(std::string_view key, const std::vector<std::string>& items) {
  std::string json = ",\"" + std::string(key) + "\":[";
  for (const std::string& item : items) json += (&item == items.data() ? "" : ",") + item;
  return json + "]";
}

/// Names, each as what it has in common with the name before, and the rest.
std::string names_text(std::span<const Kernel> kernels) {
  std::string text;
  std::string_view before;
  for (const Kernel& kernel : kernels) {
    const std::string_view name = kernel.name();
    const auto common = static_cast<std::size_t>(std::ranges::mismatch(before, name).in2 - name.begin());
    if (&kernel != kernels.data()) text += '\n';
    text += std::to_string(common) + " ";
    text += name.substr(common);
    before = name;
  }
  return text;
}

/// A field's different values, in the order in which they are met, and each row's place among them.
std::string column(const MetadataField& field, std::span<const Kernel> kernels) {
  std::map<FieldValue, std::size_t> places;
  std::vector<std::string> values;
  std::vector<std::size_t> rows;
  for (const Kernel& kernel : kernels) {
    const FieldValue value = field_value(field, kernel.metadata());
    const auto [known, added] = places.try_emplace(value, values.size());
    if (added) values.push_back(json_of(value));
    rows.push_back(known->second);
  }
  int width = 1;
  for (std::size_t reach = digits.size(); reach < values.size(); reach *= digits.size()) ++width;
  std::string text;
  for (const std::size_t row : rows) {
    for (int shift = 6 * (width - 1); shift >= 0; shift -= 6) text += digits[(row >> shift) & 63];
  }
  return list("values", values) + ",\"width\":" + std::to_string(width) + ",\"rows\":" + quoted(text);
}

std::string field_json(const MetadataField& field, std::span<const Kernel> kernels) {
  std::vector<std::string> words;
  for (const std::string_view word : field.words) words.push_back(quoted(word));
  std::string json = "{\"name\":" + quoted(field.name) + ",\"path\":" + quoted(field.path) +
                     ",\"type\":" + quoted(to_string(field.type)) + ",\"help\":" + quoted(field.help) +
                     list("words", words);
  if (field.path == "name"sv) return json + ",\"names\":" + quoted(names_text(kernels)) + "}";
  return json + column(field, kernels) + "}";
}

std::string data_json(std::span<const Kernel> kernels) {
  std::vector<std::string> fields;
  for (const MetadataField& field : metadata_fields()) fields.push_back(field_json(field, kernels));
  return "{\"version\":" + quoted(QUARRY_VERSION) + ",\"count\":" + std::to_string(kernels.size()) +
         list("fields", fields) + "}";
}

}  // namespace

std::string explorer_page(std::span<const Kernel> kernels) {
  std::string page(detail::page_text);
  return page.replace(page.find(detail::page_data_mark), detail::page_data_mark.size(), data_json(kernels));
}

}  // namespace quarry
