#include "lab/bench/chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace quarry::lab {
namespace {

constexpr double left = 70;
constexpr double right = 20;
constexpr double top = 64;
constexpr double height = 300;
constexpr double bottom = 130;
constexpr double group_width = 56;
constexpr const char* first_colour = "#2f6f9f";
constexpr const char* second_colour = "#d08a2e";

/// The number with one digit behind the point: enough for a place on a screen.
std::string place(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

/// The text with XML's own characters written out, and blanks for control characters, which XML refuses.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

double sane(double value) { return std::isfinite(value) ? value : 1; }

/// The vertical axis: from `low` to `high`, both multiples of `step`.
struct Scale {
  double low = 0.9;
  double high = 1.1;
  double step = 0.05;

  double y(double value) const { return top + height * (high - value) / (high - low); }
};

/// A scale that holds all bars and some air, with 4 to 12 lines.
Scale scale_for(std::span<const ChartBar> bars) {
  double low = 0.95;
  double high = 1.05;
  for (const ChartBar& bar : bars) {
    for (const double value : {bar.first, bar.second.value_or(1)}) {
      low = std::min(low, sane(value));
      high = std::max(high, sane(value));
    }
  }
  Scale scale;
  for (const double factor : {2.0, 2.5, 2.0}) {  // 0.05, 0.1, 0.25, 0.5
    if ((high - low) / scale.step <= 10) break;
    scale.step *= factor;
  }
  while ((high - low) / scale.step > 10) scale.step *= 2;
  scale.low = std::floor(low / scale.step - 0.2) * scale.step;
  scale.high = std::ceil(high / scale.step + 0.2) * scale.step;
  return scale;
}

std::string text_at(double x, double y, const std::string& text, const std::string& more = "") {
  return "<text x=\"" + place(x) + "\" y=\"" + place(y) + "\"" + more + ">" + escaped(text) + "</text>\n";
}

/// A bar from 1 to the value, with the value at its end.
std::string bar_at(double x, double width, double value, const Scale& scale, const char* colour) {
  const double end = scale.y(sane(value));
  const double one = scale.y(1);
  const double upper = std::min(end, one);
  const double tall = std::max(std::abs(end - one), 1.0);
  std::string svg = "<rect x=\"" + place(x) + "\" y=\"" + place(upper) + "\" width=\"" + place(width) +
                    "\" height=\"" + place(tall) + "\" fill=\"" + colour + "\"/>\n";
  const double label = end <= one ? upper - 3 : upper + tall + 10;
  return svg +
         text_at(x + width / 2, label, two_digits(sane(value)), " text-anchor=\"middle\" font-size=\"9\"");
}

std::string axis_lines(const Scale& scale, double plot_right) {
  std::string svg;
  const int steps = static_cast<int>(std::lround((scale.high - scale.low) / scale.step));
  for (int i = 0; i <= steps; ++i) {
    const double value = scale.low + i * scale.step;
    const bool one = std::abs(value - 1) < 1e-9;
    const std::string y = place(scale.y(value));
    svg += "<line x1=\"" + place(left) + "\" x2=\"" + place(plot_right) + "\" y1=\"" + y + "\" y2=\"" + y +
           "\" stroke=\"" + (one ? "#333333" : "#dddddd") + "\"/>\n";
    svg += text_at(left - 6, scale.y(value) + 4, two_digits(value), " text-anchor=\"end\"");
  }
  return svg;
}

std::string legend(double x, const std::string& text, const char* colour) {
  return "<rect x=\"" + place(x) + "\" y=\"36\" width=\"10\" height=\"10\" fill=\"" + colour + "\"/>\n" +
         text_at(x + 15, 45, text);
}

}  // namespace

std::string svg_chart(const ChartTexts& texts, std::span<const ChartBar> bars) {
  const Scale scale = scale_for(bars);
  const double plot_right = left + group_width * std::max<double>(8, static_cast<double>(bars.size()));
  const std::string width = place(plot_right + right);
  const std::string tall = place(top + height + bottom);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + tall +
                    "\" viewBox=\"0 0 " + width + " " + tall +
                    "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222222\">\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  svg += text_at(left, 22, texts.title, " font-size=\"15\" font-weight=\"bold\"");
  svg += legend(left, texts.first, first_colour);
  if (!texts.second.empty()) svg += legend(left + 180, texts.second, second_colour);
  svg += axis_lines(scale, plot_right);
  svg += text_at(18, top + height / 2, texts.axis,
                 " text-anchor=\"middle\" transform=\"rotate(-90 18 " + place(top + height / 2) + ")\"");
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double x = left + group_width * static_cast<double>(i) + 4;
    const double half = group_width / 2 - 4;
    svg += bar_at(bars[i].second ? x : x + half / 2, half, bars[i].first, scale, first_colour);
    if (bars[i].second) svg += bar_at(x + half, half, *bars[i].second, scale, second_colour);
    const std::string at = place(x + half) + " " + place(top + height + 14);
    svg += text_at(x + half, top + height + 14, bars[i].label,
                   " text-anchor=\"end\" transform=\"rotate(-40 " + at + ")\"");
  }
  return svg + "</svg>\n";
}

}  // namespace quarry::lab
