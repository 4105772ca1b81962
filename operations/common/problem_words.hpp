/// Problems in the words of the command line: flags that several operations have. What `parse` of the lab
/// reads gives a problem that kernels treat alike, not the same strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "quarry/controls.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail {

/// A problem in words, as logs have it, is read up to this length: lists of sizes and expressions may be
/// long.
inline constexpr std::size_t most_line_bytes = std::size_t{1} << 16;

/// The most groups of a grouped GEMM, or problems of a list, that words may say.
inline constexpr std::int64_t most_said_groups = 1 << 20;

/// Whether an operand beside the output is said as `out`. One without elements may have the output's address
/// and be of another type, or lie otherwise.
bool is_output(const TensorView& view, const TensorView& out);

/// Writes flags, and remembers whether there was anything that no flag says.
class ProblemWords {
 public:
  /// @param shape the first words, as "64x128x256"
  explicit ProblemWords(std::string shape) : text_(std::move(shape)) {}

  void flag(std::string_view name, std::string_view value);
  /// A flag for a number, unless it is `otherwise`.
  void number(std::string_view name, std::int64_t value, std::int64_t otherwise);
  /// A flag for a number that must be finite.
  void real(std::string_view name, double value);
  /// There is something that no flag says.
  void refuse() { fits_ = false; }

  /// TYPE:LAYOUT[:ld=N][:align=N][:stride=N|:array|:shared]. @pre the view has rank 2 or 3
  /// @param in_batch whether the problem has a batch, in which a view of rank 2 is shared
  void matrix(std::string_view name, const TensorView& view, bool in_batch);
  /// The same of a matrix of a list, which always says how it finds its entries. @pre the same
  void matrix_of_list(std::string_view name, const TensorView& view);
  /// As `matrix`, or `out` for the output's own memory.
  void matrix_beside(std::string_view name, const TensorView& view, const TensorView& out);
  /// ":align=N" of a view that is aligned to less than 16 bytes; otherwise nothing.
  static std::string alignment_text(const TensorView& view);

  /// `alpha` and `beta`, which are flags where they are values.
  void factors(const Epilogue& epilogue, bool reads_c);
  /// All of an epilogue but its factors.
  void epilogue(const Epilogue& epilogue, const TensorView& out);
  void controls(const Controls& controls);
  /// `batch`, where the output is one.
  void batch(const TensorView& out);

  /// All of it; empty where something does not fit, or the line would be longer than most_line_bytes.
  std::string text() const;

 private:
  /// TYPE:LAYOUT[:ld=N][:align=N] of a matrix whose lines lie so.
  std::string lines_text(const TensorView& view);

  std::string text_;
  bool fits_ = true;
};

}  // namespace quarry::detail
