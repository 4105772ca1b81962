/// A progress bar on standard error, drawn only when people look at it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace quarry::lab {

/// "40 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// Says how long the rest may take. Not safe from several threads at once.
class Progress {
 public:
  /// @param total steps until the end
  Progress(std::string_view what, std::size_t total);
  /// Takes the bar away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Goes on by `steps`; draws a few times a second at most.
  void advance(std::size_t steps);

  /// Takes the bar away, so that a message can be printed; the next step draws it again.
  void clear();

 private:
  void draw() const;

  std::string_view what_;
  std::size_t total_;
  std::size_t now_ = 0;
  bool shown_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_ = {};
};

}  // namespace quarry::lab
