// Convolutions as remembered answers and tuning tables know them, and in the words of the command line.
#include <algorithm>
#include <optional>
#include <string>

#include "operations/common/epilogue_values.hpp"
#include "operations/common/expression/words.hpp"
#include "operations/common/problem_words.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/conv2d/operation.hpp"
#include "operations/conv2d/problem.hpp"

namespace quarry::detail::conv2d {
namespace {

TuningQuestion::Axis tuned_axis(const WindowAxis& axis) {
  return {axis.extent, axis.places.size, axis.stride.size, axis.padding, axis.dilation, axis.taps.size};
}

/// What kernels can copy at once: positions of a tensor are as far apart as its strides say.
gemm::Question::Access tuned_access(const ProblemOperand& operand) {
  return {operand.alignment[static_cast<int>(Layout::row)], 0};
}

std::string crossed_text(std::initializer_list<std::int64_t> sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

void write_axes(std::string_view name, const ImageAxes& axes, std::int64_t otherwise, ProblemWords& words) {
  if (axes.height == axes.width) return words.number(name, axes.height, otherwise);
  words.flag(name, crossed_text({axes.height, axes.width}));
}

/// Elements from one position to the next, if all positions lie at even distances.
std::optional<std::int64_t> even_distance(const TensorView& view) {
  std::int64_t positions = 1;
  std::optional<std::int64_t> distance;
  for (std::size_t i = 3; i-- > 0;) {
    if (view.extents[i] > 1) {
      if (!distance) distance = view.strides[i] / positions;
      if (*distance * positions != view.strides[i]) return std::nullopt;
    }
    positions *= std::max<std::int64_t>(view.extents[i], 1);
  }
  return distance.value_or(view.extents[3]);
}

/// Whether a tensor's groups of 32 channels lie as nc32hw32 has them, or c32rsk32.
bool is_grouped_packed(const TensorView& view) {
  return lies_as(view, nc32hw32(nullptr, view.dtype, view.extents)) ||
         lies_as(view, c32rsk32(nullptr, view.dtype, view.extents));
}

/// TYPE:row[:ld=N][:align=N]
void write_tensor(std::string_view name, const TensorView& view, ProblemWords& words) {
  std::string spec = std::string(to_string(view.dtype)) + ":row";
  if (view.tag != LayoutTag::strided) {
    if (!is_grouped_packed(view)) words.refuse();
  } else {
    const std::int64_t distance = even_distance(view).value_or(-1);
    if (distance < view.extents[3]) words.refuse();
    if (distance != view.extents[3]) spec += ":ld=" + std::to_string(distance);
  }
  words.flag(name, spec + ProblemWords::alignment_text(view));
}

/// As write_tensor, or `out` for the output's own memory.
void write_tensor_beside(std::string_view name, const TensorView& view, const TensorView& out,
                         ProblemWords& words) {
  if (is_output(view, out)) return words.flag(name, "out");
  write_tensor(name, view, words);
}

/// What becomes of the sums: an expression, or the standard epilogue.
void write_epilogue(const Conv2dArguments& args, bool reads_c, ProblemWords& words) {
  if (args.expression) return write_expression(*args.expression, args.tensors, args.out, false, words);
  words.factors(args.epilogue, reads_c);
  Epilogue rest = args.epilogue;
  rest.residual.reset(), rest.aux.reset();
  // Convolutions have one of each channel, whatever the axes say.
  rest.bias_axis = rest.scale_axis = BiasAxis::column;
  words.epilogue(rest, args.out);
  if (args.epilogue.residual) write_tensor_beside("residual", *args.epilogue.residual, args.out, words);
  if (args.epilogue.aux) write_tensor("aux", *args.epilogue.aux, words);
}

}  // namespace

Question Rules::question(const Conv2dProblem& problem) {
  const Windows& w = problem.windows;
  return {.product = gemm::whole_question(problem.product),
          .group_strides = {w.group_a, w.group_b},
          .rows = tuned_axis(w.rows),
          .columns = tuned_axis(w.columns),
          .channels = w.channels.size,
          .direction = problem.direction,
          .flips = static_cast<std::uint8_t>(w.flips),
          .interleaved = static_cast<std::uint8_t>(problem.interleaved),
          .whole_k = static_cast<std::uint8_t>(problem.whole_k)};
}

std::int64_t Rules::tuning_question(const Conv2dProblem& problem, TuningQuestion& question) {
  const GemmProblem& p = problem.product;
  const Windows& w = problem.windows;
  question = {.product = gemm::Rules::question(p),
              .rows = tuned_axis(w.rows),
              .columns = tuned_axis(w.columns),
              .channels = w.channels.size,
              .direction = problem.direction,
              .flips = static_cast<std::uint8_t>(w.flips),
              .interleaved = static_cast<std::uint8_t>(problem.interleaved)};
  question.product.a = tuned_access(p.a);
  question.product.b = tuned_access(p.b);
  question.product.out = tuned_access(p.out);
  return 0;
}

std::string Rules::command_text(const Conv2dArguments& args) {
  const Roles roles = roles_of(args);
  const auto& x = roles.activations.extents;
  const auto& w = roles.filters.extents;
  ProblemWords words(std::string(to_string(args.direction)) + " " + crossed_text({x[0], x[1], x[2], x[3]}) +
                     " " + crossed_text({w[0], w[1], w[2]}));
  write_axes("padding", args.padding, 0, words);
  write_axes("stride", args.stride, 1, words);
  write_axes("dilation", args.dilation, 1, words);
  words.number("groups", args.groups, 1);
  if (args.flips) words.flag("kind", "convolution");
  if (args.out.tag != LayoutTag::strided) words.flag("layout", "nc32hw32");
  write_tensor("a", args.a, words);
  write_tensor("b", args.b, words);
  const bool reads_c = args.c && !is_zero(args.epilogue.beta);
  if (reads_c) write_tensor_beside("c", *args.c, args.out, words);
  write_tensor("out", args.out, words);
  if (args.accumulator) words.flag("accumulator", to_string(*args.accumulator));
  if (args.math != Math::exact) words.flag("math", to_string(args.math));
  write_epilogue(args, reads_c, words);
  words.controls(args.controls);
  return words.text();
}

}  // namespace quarry::detail::conv2d
