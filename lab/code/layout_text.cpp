#include "lab/code/layout_text.hpp"

#include <algorithm>
#include <map>

#include "layout/text.hpp"

namespace quarry::lab {
namespace {

/// "row +8", "column +2", or both; "the same sum" where a step leads nowhere.
std::string distance_text(int stride, int rows) {
  const int row = stride % rows;
  const int column = stride / rows;
  std::string text;
  if (row > 0) text = "row +" + std::to_string(row);
  if (column > 0) text += (text.empty() ? "column +" : ", column +") + std::to_string(column);
  return text.empty() ? "the same place" : text;
}

/// The steps of one mode.
std::string steps_of(const layout::Layout& mode, std::string_view what, int rows) {
  std::string text;
  int step = 1;
  for (int i = 0; i < mode.leaves; ++i) {
    const auto [extent, stride] = mode.leaf[i];
    if (extent > 1) {
      text += "  " + std::string(what) + " +" + std::to_string(step) + ", " + std::to_string(extent) +
              " times: " + distance_text(stride, rows) + "\n";
    }
    step *= extent;
  }
  return text;
}

}  // namespace

std::string text_of(const layout::Layout& l) {
  std::string text;
  write(l, [&](char c) { text += c; });
  return text;
}

std::string text_of(const layout::Swizzle& swizzle) {
  if (swizzle.bits == 0) return "no swizzle";
  std::string text;
  write(swizzle, [&](char c) { text += c; });
  return text;
}

std::string text_of(const layout::SwizzledLayout& l) {
  const std::string swizzle = l.swizzle.bits > 0 ? text_of(l.swizzle) + " o " : "";
  return swizzle + text_of(l.layout);
}

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    text += " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += " " + std::string(widths[i] - row[i].size(), ' ') + row[i];
    }
    text += "\n";
  }
  return text;
}

std::string steps_text(const layout::Layout& sums, int rows) {
  return steps_of(mode(sums, 0), "thread", rows) + steps_of(mode(sums, 1), "value", rows);
}

std::string holders_text(const layout::Layout& sums, int rows, int columns, int first_thread) {
  std::map<int, std::string> holders;
  for (int thread = 0; thread < size(mode(sums, 0)); ++thread) {
    for (int value = 0; value < size(mode(sums, 1)); ++value) {
      holders.try_emplace(sums(thread, value),
                          std::to_string(first_thread + thread) + ":" + std::to_string(value));
    }
  }
  std::vector<std::vector<std::string>> cells(1);
  cells[0].push_back("row \\ column");
  for (int column = 0; column < std::min(columns, 8); ++column) cells[0].push_back(std::to_string(column));
  for (int row = 0; row < std::min(rows, 16); ++row) {
    auto& line = cells.emplace_back();
    line.push_back(std::to_string(row));
    for (int column = 0; column < std::min(columns, 8); ++column)
      line.push_back(holders[row + rows * column]);
  }
  return table_text(cells);
}

}  // namespace quarry::lab
