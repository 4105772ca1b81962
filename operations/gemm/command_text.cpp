// A GEMM in the words of the command line.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "basic/words.hpp"
#include "operations/common/epilogue_checks.hpp"
#include "operations/common/epilogue_values.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/types.hpp"

namespace quarry::detail::gemm {
namespace {

constexpr std::size_t most_alignment = 16;  // bytes; more makes no difference to a kernel

std::string number_text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

/// Bytes that the view's pointer is known to be a multiple of, as far as it matters.
std::size_t alignment_of(const TensorView& view) {
  if (view.data == nullptr || view.is_pointer_array) return view.assumed_alignment;
  const auto address = reinterpret_cast<std::uintptr_t>(view.data);
  return static_cast<std::size_t>(address & (~address + 1));
}

/// Writes flags; `fits` turns false at the first thing that no flag says.
class Words {
 public:
  explicit Words(const GemmArguments& arguments) : arguments_(arguments) {}

  std::string text() {
    if (arguments_.expression) return "";
    const TensorView& out = arguments_.out;
    const Epilogue& e = arguments_.epilogue;
    text_ = std::to_string(rows(out)) + "x" + std::to_string(columns(out)) + "x" +
            std::to_string(columns(arguments_.a));
    operand("a", arguments_.a);
    operand("b", arguments_.b);
    if (arguments_.a_scale) flag("a-scale", to_string(arguments_.a_scale_granularity));
    if (arguments_.b_scale) flag("b-scale", to_string(arguments_.b_scale_granularity));
    if (arguments_.b_zero) flag("b-zero", to_string(arguments_.b_zero->dtype));
    const bool reads_c = arguments_.c && !is_zero(e.beta);
    if (reads_c) operand("c", *arguments_.c);
    operand("out", out);
    if (out.rank == 3) flag("batch", std::to_string(out.extents[0]));
    if (arguments_.accumulator) flag("accumulator", to_string(*arguments_.accumulator));
    if (arguments_.math != Math::exact) flag("math", word_of(math_words, arguments_.math));
    if (arguments_.accumulation != Accumulation::fast)
      flag("accumulation", word_of(accumulation_words, arguments_.accumulation));
    if (e.alpha.pointer == nullptr && e.alpha.value != 1) flag("alpha", number_text(e.alpha.value));
    if (reads_c && e.beta.pointer == nullptr && e.beta.value != 1) flag("beta", number_text(e.beta.value));
    epilogue(e);
    controls(arguments_.controls);
    return fits_ ? text_ : "";
  }

 private:
  void flag(std::string_view name, std::string_view value) {
    text_.append(" --").append(name).append(" ").append(value);
  }

  /// TYPE:LAYOUT[:ld=N][:align=N][:stride=N|:array|:shared], or `out` for the output's own memory.
  void operand(std::string_view name, const TensorView& view) {
    const TensorView& out = arguments_.out;
    if (&view != &out && view.data != nullptr && view.data == out.data) return flag(name, "out");
    const int last = view.rank - 1;
    const auto extent = [&](int i) { return view.extents[static_cast<std::size_t>(i)]; };
    const auto stride = [&](int i) { return view.strides[static_cast<std::size_t>(i)]; };
    std::string_view layout = "row";
    std::int64_t ld = stride(last - 1);
    std::int64_t packed = extent(last);
    std::int64_t lines = extent(last - 1);
    if (view.tag != LayoutTag::strided) {
      const bool by_rows = view.tag == LayoutTag::row_interleaved32;
      layout = by_rows ? "row32" : "col32";
      ld = by_rows ? stride(last - 1) : stride(last);
      packed = 32 * (by_rows ? extent(last) : extent(last - 1));
      lines = (by_rows ? extent(last - 1) : extent(last)) / 32;
    } else if (stride(last) != 1) {
      layout = "col";
      ld = stride(last);
      packed = extent(last - 1);
      lines = extent(last);
      fits_ = fits_ && stride(last - 1) == 1;
    }
    fits_ = fits_ && ld > 0 && (ld >= packed || lines <= 1);
    std::string spec = std::string(to_string(view.dtype)).append(":").append(layout);
    if (ld != packed) spec += ":ld=" + std::to_string(ld);
    if (const std::size_t alignment = alignment_of(view); alignment < most_alignment)
      spec += ":align=" + std::to_string(std::max<std::size_t>(
                              1, alignment * 8 / static_cast<std::size_t>(bits_of(view.dtype))));
    if (view.is_pointer_array) {
      spec += ":array";
    } else if (out.rank == 3 && view.rank == 2) {
      spec += ":shared";
    } else if (view.rank == 3 && stride(0) != ld * lines) {
      spec += ":stride=" + std::to_string(stride(0));
    }
    flag(name, spec);
  }

  void epilogue(const Epilogue& e) {
    const auto axis = [](BiasAxis of) { return of == BiasAxis::row ? "row" : "column"; };
    if (e.activation != Activation::identity) flag("activation", to_string(e.activation));
    if (e.activation == Activation::leaky_relu)
      flag("slope", number_text(static_cast<double>(e.leaky_slope)));
    if (e.bias) flag("bias", axis(e.bias_axis));
    if (e.scale) flag("scale", e.scale->extents[0] == 1 ? "tensor" : axis(e.scale_axis));
    if (e.residual) operand("residual", *e.residual);
    if (e.aux) operand("aux", *e.aux);
    if (e.clamp == Clamp{}) return;
    const auto bound = [](double value) { return std::isinf(value) ? std::string() : number_text(value); };
    flag("clamp", bound(e.clamp.low) + ":" + bound(e.clamp.high));
  }

  void controls(const Controls& c) {
    if (c.mode) flag("mode", to_string(*c.mode));
    if (c.split_k_slices) flag("split-k", std::to_string(*c.split_k_slices));
    if (c.swizzle) flag("swizzle", std::to_string(*c.swizzle));
    if (c.raster) flag("raster", to_string(*c.raster));
    if (c.multiprocessors) flag("multiprocessors", std::to_string(*c.multiprocessors));
  }

  const GemmArguments& arguments_;
  std::string text_;
  bool fits_ = true;
};

}  // namespace

std::string Rules::command_text(const GemmArguments& arguments) { return Words(arguments).text(); }

}  // namespace quarry::detail::gemm
