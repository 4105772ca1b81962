#include "lab/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

namespace quarry::lab {

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
  std::fprintf(stderr, "\r%.*s [%s] %zu/%zu\x1b[K", static_cast<int>(what_.size()), what_.data(), bar.c_str(),
               now_, total_);
  std::fflush(stderr);
}

}  // namespace quarry::lab
