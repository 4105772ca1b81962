/// A bar chart of ratios as SVG text. Knows nothing of what the bars are.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace quarry::lab {

/// A group of two bars that start at 1.
struct ChartBar {
  std::string label;
  double first = 1;
  /// Absent: one bar.
  std::optional<double> second = std::nullopt;
};

struct ChartTexts {
  std::string title;
  std::string axis;    ///< what the ratios are
  std::string first;   ///< what the first bar of each group is
  std::string second;  ///< what the second one is; "": no group has one
};

/// A whole SVG document. Texts may hold any characters; values that are no finite number are drawn as 1.
std::string svg_chart(const ChartTexts& texts, std::span<const ChartBar> bars);

}  // namespace quarry::lab
