#include "lab/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

namespace quarry::lab {

std::string duration_text(double seconds) {
  char text[32];
  if (seconds < 90) {
    std::snprintf(text, sizeof text, "%.0f s", seconds);
  } else if (seconds < 90 * 60) {
    std::snprintf(text, sizeof text, "%.0f min", seconds / 60);
  } else {
    std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
  }
  return text;
}

Progress::Progress(std::string_view what, std::size_t total)
    : what_(what), total_(total), shown_(isatty(STDERR_FILENO) == 1 && total > 0) {}

Progress::~Progress() { clear(); }

void Progress::advance(std::size_t steps) {
  now_ += steps;
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  draw();
}

void Progress::clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::draw() const {
  constexpr std::size_t width = 30;
  const std::size_t filled = now_ * width / total_;
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  const std::chrono::duration<double> taken = drawn_ - start_;
  const double left = taken.count() / static_cast<double>(now_) * static_cast<double>(total_ - now_);
  const std::string rest = taken.count() > 2 ? ", about " + duration_text(left) + " left" : "";
  std::fprintf(stderr, "\r%.*s [%s] %zu/%zu%s\x1b[K", static_cast<int>(what_.size()), what_.data(),
               bar.c_str(), now_, total_, rest.c_str());
  std::fflush(stderr);
}

}  // namespace quarry::lab
