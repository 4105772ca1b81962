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
#include "registry/explorer/charts.hpp"
#include "registry/explorer/json_text.hpp"
#include "registry/explorer/page_text.hpp"

namespace quarry {
namespace {

using namespace std::string_view_literals;
using detail::charts_json;
using detail::page_list;
using detail::page_quoted;

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string json_of(const FieldValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* word = std::get_if<std::string_view>(&value)) return page_quoted(*word);
  return "null";
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
  return page_list("values", values) + ",\"width\":" + std::to_string(width) +
         ",\"rows\":" + page_quoted(text);
}

std::string field_json(const MetadataField& field, std::span<const Kernel> kernels) {
  std::vector<std::string> words;
  for (const std::string_view word : field.words) words.push_back(page_quoted(word));
  std::string json = "{\"name\":" + page_quoted(field.name) + ",\"path\":" + page_quoted(field.path) +
                     ",\"type\":" + page_quoted(to_string(field.type)) +
                     ",\"help\":" + page_quoted(field.help) + page_list("words", words);
  if (field.path == "name"sv) return json + ",\"names\":" + page_quoted(names_text(kernels)) + "}";
  return json + column(field, kernels) + "}";
}

std::string data_json(std::span<const Kernel> kernels, const ExplorerCharts& charts) {
  std::vector<std::string> fields;
  for (const MetadataField& field : metadata_fields()) fields.push_back(field_json(field, kernels));
  return "{\"version\":" + page_quoted(QUARRY_VERSION) + ",\"count\":" + std::to_string(kernels.size()) +
         page_list("fields", fields) + charts_json(charts) + "}";
}

}  // namespace

std::string explorer_page(std::span<const Kernel> kernels, const ExplorerCharts& charts) {
  std::string page(detail::page_text);
  return page.replace(page.find(detail::page_data_mark), detail::page_data_mark.size(),
                      data_json(kernels, charts));
}

}  // namespace quarry
