#include "operations/common/problem_words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

#include "operations/common/operand_checks.hpp"
#include "quarry/types.hpp"

namespace quarry::detail {
namespace {

constexpr std::size_t most_alignment = 16;  // bytes; more makes no difference to a kernel

std::string number_word(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

/// Bytes that the view's pointer is known to be a multiple of, as far as it matters.
std::size_t alignment_of(const TensorView& view) {
  if (view.data == nullptr || view.is_pointer_array) return view.assumed_alignment;
  const auto address = reinterpret_cast<std::uintptr_t>(view.data);
  return static_cast<std::size_t>(address & (~address + 1));
}

/// How the lines of a matrix lie.
struct Lines {
  std::string_view layout = "row";
  std::int64_t ld = 0;
  std::int64_t packed = 0;
  std::int64_t count = 0;
  bool fits = true;
};

Lines interleaved_lines(const TensorView& view) {
  const std::size_t last = view.rank - 1U;
  const bool by_rows = view.tag == LayoutTag::row_interleaved32;
  return {.layout = by_rows ? "row32" : "col32",
          .ld = view.strides[by_rows ? last - 1 : last],
          .packed = 32 * view.extents[by_rows ? last : last - 1],
          .count = view.extents[by_rows ? last - 1 : last] / 32};
}

Lines lines_of(const TensorView& view) {
  if (view.tag != LayoutTag::strided) return interleaved_lines(view);
  const std::size_t last = view.rank - 1U;
  if (view.strides[last] == 1)
    return {.ld = view.strides[last - 1], .packed = view.extents[last], .count = view.extents[last - 1]};
  return {.layout = "col",
          .ld = view.strides[last],
          .packed = view.extents[last - 1],
          .count = view.extents[last],
          .fits = view.strides[last - 1] == 1};
}

/// A line begins with the operation's name and a blank, and ends with the options of a query.
constexpr std::size_t most_beside = 96;

}  // namespace

std::string ProblemWords::text() const {
  return fits_ && text_.size() + most_beside <= most_line_bytes ? text_ : "";
}

bool is_output(const TensorView& view, const TensorView& out) {
  return view.data != nullptr && view.dtype == out.dtype && is_in_place(view, out) &&
         (!view.is_pointer_array || view.assumed_alignment == out.assumed_alignment);
}

void ProblemWords::flag(std::string_view name, std::string_view value) {
  text_.append(" --").append(name).append(" ").append(value);
}

void ProblemWords::number(std::string_view name, std::int64_t value, std::int64_t otherwise) {
  if (value != otherwise) flag(name, std::to_string(value));
}

std::string ProblemWords::alignment_text(const TensorView& view) {
  const std::size_t bytes = alignment_of(view);
  if (bytes >= most_alignment) return "";
  const std::size_t elements = bytes * 8 / static_cast<std::size_t>(bits_of(view.dtype));
  return ":align=" + std::to_string(std::max<std::size_t>(1, elements));
}

std::string ProblemWords::lines_text(const TensorView& view) {
  const Lines lines = lines_of(view);
  if (!lines.fits || lines.ld <= 0 || (lines.ld < lines.packed && lines.count > 1)) refuse();
  std::string spec = std::string(to_string(view.dtype)).append(":").append(lines.layout);
  if (lines.ld != lines.packed) spec += ":ld=" + std::to_string(lines.ld);
  return spec + alignment_text(view);
}

void ProblemWords::matrix(std::string_view name, const TensorView& view, bool in_batch) {
  std::string spec = lines_text(view);
  const Lines lines = lines_of(view);
  if (view.is_pointer_array) {
    spec += ":array";
  } else if (in_batch && view.rank == 2) {
    spec += ":shared";
  } else if (view.rank == 3 && view.strides[0] != lines.ld * std::max<std::int64_t>(lines.count, 1)) {
    spec += ":stride=" + std::to_string(view.strides[0]);
  }
  flag(name, spec);
}

void ProblemWords::matrix_of_list(std::string_view name, const TensorView& view) {
  std::string spec = lines_text(view);
  if (view.is_pointer_array) {
    spec += ":array";
  } else {
    spec += view.rank == 2 ? ":shared" : ":stride=" + std::to_string(view.strides[0]);
  }
  flag(name, spec);
}

void ProblemWords::matrix_beside(std::string_view name, const TensorView& view, const TensorView& out) {
  if (is_output(view, out)) return flag(name, "out");
  matrix(name, view, out.rank == 3);
}

void ProblemWords::real(std::string_view name, double value) {
  if (!std::isfinite(value)) refuse();
  flag(name, number_word(value));
}

void ProblemWords::factors(const Epilogue& e, bool reads_c) {
  if (e.alpha.pointer == nullptr && e.alpha.value != 1) real("alpha", e.alpha.value);
  if (reads_c && e.beta.pointer == nullptr && e.beta.value != 1) real("beta", e.beta.value);
}

void ProblemWords::epilogue(const Epilogue& e, const TensorView& out) {
  const auto axis = [](BiasAxis of) { return of == BiasAxis::row ? "row" : "column"; };
  if (e.activation != Activation::identity) flag("activation", to_string(e.activation));
  if (e.activation == Activation::leaky_relu) real("slope", static_cast<double>(e.leaky_slope));
  if (e.bias) flag("bias", axis(e.bias_axis));
  if (e.scale) flag("scale", e.scale->extents[0] == 1 ? "tensor" : axis(e.scale_axis));
  if (e.residual) matrix_beside("residual", *e.residual, out);
  // No output is another one's memory, but those without elements may have the same address.
  if (e.aux) matrix("aux", *e.aux, out.rank == 3);
  if (e.clamp == Clamp{}) return;
  // An empty bound is read as the infinity that is no bound.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!(e.clamp.low < infinity) || !(e.clamp.high > -infinity)) refuse();
  const auto bound = [](double value) { return std::isinf(value) ? std::string() : number_word(value); };
  flag("clamp", bound(e.clamp.low) + ":" + bound(e.clamp.high));
}

void ProblemWords::controls(const Controls& c) {
  if (c.mode) flag("mode", to_string(*c.mode));
  if (c.split_k_slices) flag("split-k", std::to_string(*c.split_k_slices));
  if (c.swizzle) flag("swizzle", std::to_string(*c.swizzle));
  if (c.raster) flag("raster", to_string(*c.raster));
  if (c.multiprocessors) flag("multiprocessors", std::to_string(*c.multiprocessors));
}

void ProblemWords::batch(const TensorView& out) {
  if (out.rank != 3) return;
  if (out.extents[0] == 0) refuse();  // the flag says 1 or more
  flag("batch", std::to_string(out.extents[0]));
}

}  // namespace quarry::detail
