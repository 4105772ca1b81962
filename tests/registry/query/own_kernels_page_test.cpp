/// docs/own_kernels.md against the families' lists of settings.
#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "config_text.hpp"
#include "quarry/tensor.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

/// A row of a table of keys.
struct PageRow {
  std::vector<std::string> keys;      ///< of a config as JSON
  std::vector<std::string> families;  ///< patterns, such as `*_sm90`
  std::string value;
  std::string unsaid;  ///< the default; empty where the key is required
};

/// The words of a text that are marked as code.
std::vector<std::string> code_words(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = text.find('`'); begin != text.npos;) {
    const std::size_t end = text.find('`', begin + 1);
    if (end == text.npos) break;
    words.push_back(text.substr(begin + 1, end - begin - 1));
    begin = text.find('`', end + 1);
  }
  return words;
}

std::vector<PageRow> page_rows() {
  std::ifstream page(QUARRY_SOURCE_DIR "/docs/own_kernels.md");
  std::vector<PageRow> rows;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::istringstream parts(line.substr(1));
    for (std::string cell; std::getline(parts, cell, '|');) cells.push_back(cell);
    REQUIRE((cells.size() == 3 || cells.size() == 4));
    const std::vector<std::string> unsaid = cells.size() == 4 ? code_words(cells[3]) : code_words("``");
    REQUIRE(unsaid.size() == 1);
    rows.push_back({code_words(cells[0]), code_words(cells[1]), cells[2], unsaid[0]});
  }
  return rows;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_of(const PageRow& row, std::string_view family) {
  const std::string name(family);
  return std::ranges::any_of(row.families, [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

/// The default of a setting as pages write it: a word, a number, or nothing.
std::string unsaid_text(const Setting& setting) {
  if (!setting.unsaid) return "";
  if (setting.kind == SettingKind::integer) return std::to_string(*setting.unsaid);
  return std::string(setting.words[static_cast<std::size_t>(*setting.unsaid)]);
}

}  // namespace

TEST_CASE("the page of own kernels has every key, word and default of every family, and no other key") {
  const std::vector<PageRow> rows = page_rows();
  REQUIRE(!rows.empty());
  std::set<const PageRow*> used;
  for (const ConfigSpace* space : config_spaces()) {
    for (const PageRow& row : rows) {
      if (row.keys == std::vector<std::string>{"family"}) {
        CHECK(contains(code_words(row.value), space->family));
        used.insert(&row);
      }
    }
    for (const Setting& setting : space->settings) {
      INFO("key " << setting.key << " of " << space->family);
      const auto row = std::ranges::find_if(rows, [&](const PageRow& one) {
        return contains(one.keys, setting.key) && is_of(one, space->family);
      });
      REQUIRE(row != rows.end());
      used.insert(&*row);
      CHECK(row->unsaid == unsaid_text(setting));
      for (const std::string_view word : setting.words) {
        INFO("word " << word);
        CHECK((word.empty() || contains(code_words(row->value), word)));
      }
    }
  }
  CHECK(used.size() == rows.size());
}

TEST_CASE("the page of own kernels has the letter of every layout") {
  const std::vector<PageRow> rows = page_rows();
  const auto row =
      std::ranges::find_if(rows, [](const PageRow& one) { return contains(one.keys, "layouts"); });
  REQUIRE(row != rows.end());
  for (const Layout layout :
       {Layout::row, Layout::column, Layout::row_interleaved32, Layout::column_interleaved32}) {
    const std::string letter = name_of(Layouts{layout, layout, layout}).substr(0, 1);
    CHECK(row->value.find("`" + letter + "` " + std::string(to_string(layout))) != std::string::npos);
  }
}
