#include <limits>

#include "lab/problems/controls_spec.hpp"
#include "operations/conv2d/lab/expression.hpp"
#include "operations/conv2d/lab/operation.hpp"
#include "operations/gemm/lab/expression.hpp"

namespace quarry::lab::conv2d {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

std::string crossed(std::initializer_list<std::int64_t> sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

/// Splits a word off the text, at a blank.
std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

/// "2", or "2x1": a number for each axis.
std::optional<ImageAxes> read_axes(SettingReader& reader, std::string_view name, std::int64_t least) {
  return reader.read(name, [&](std::string_view text) -> Result<ImageAxes> {
    const std::size_t cross = text.find('x');
    const bool is_one = cross == text.npos;
    const auto height = parse_integer(name, text.substr(0, cross), least, most);
    if (!height) return height.status();
    if (is_one) return ImageAxes{*height, *height};
    const auto width = parse_integer(name, text.substr(cross + 1), least, most);
    if (!width) return width.status();
    return ImageAxes{*height, *width};
  });
}

/// An operand's parts, of which these tensors have a type, a distance of positions and an alignment.
std::optional<OperandParts> read_operand(SettingReader& reader, std::string_view name) {
  const auto parts = reader.read(name, parse_operand);
  if (parts &&
      (parts->layout.value_or(Layout::row) != Layout::row || parts->array || parts->shared || parts->stride))
    reader.fail(name,
                Status(StatusCode::parse_error, "expected TYPE[:ld=N][:align=N]: channels are contiguous"));
  return parts;
}

/// The types of A, B and the output. One that is left out is the type of all operands, or else of A.
Status read_operands(SettingReader& reader, Problem& problem) {
  const auto type = reader.read("type", parse_dtype);
  const auto a = read_operand(reader, "a");
  const auto b = read_operand(reader, "b");
  const auto out = read_operand(reader, "out");
  if (!reader.status()) return reader.status();
  DType otherwise = type.value_or(DType::none);
  if (otherwise == DType::none && a) otherwise = a->dtype.value_or(DType::none);
  if (otherwise == DType::none) {
    return Status(StatusCode::parse_error,
                  "which type? Say it behind the shape (conv2d fprop 32x56x56x64 64x3x3 bf16) or with --a");
  }
  problem.a = complete(a, otherwise);
  problem.b = complete(b, otherwise);
  problem.out = complete(out, otherwise);
  return {};
}

void read_epilogue_of(SettingReader& reader, Problem& problem) {
  problem.epilogue = read_epilogue(reader, {problem.out, 0, 1, 1});
  const EpilogueSpec& e = problem.epilogue;
  if (e.c) read_operand(reader, "c");
  if (e.residual) read_operand(reader, "residual");
  if (e.aux) read_operand(reader, "aux");
  if (e.bias == BiasAxis::row)
    reader.fail("bias", Status(StatusCode::parse_error, "expected `column`: a value for each channel"));
  if (e.scale == ScaleAxis::row) {
    reader.fail("scale", Status(StatusCode::parse_error,
                                "expected `column` or `tensor`: a value for each channel, or one"));
  }
}

Result<bool> parse_kind(std::string_view text) {
  const auto kind = parse_word("kind", text, {"correlation", "convolution"});
  if (!kind) return kind.status();
  return *kind == 1;
}

/// The direction, where the shape begins with it, and the sizes.
Status read_shape(std::string_view shape, SettingReader& reader, Problem& problem) {
  const bool has_direction = !shape.empty() && (shape[0] < '0' || shape[0] > '9');
  const auto named = reader.read("direction", parse_direction);
  if (has_direction) {
    const Result<Direction> direction = parse_direction(next_word(shape));
    if (!direction) return direction.status();
    problem.direction = *direction;
    if (named && *named != *direction) {
      return Status(StatusCode::parse_error, "--direction " + std::string(to_string(*named)) +
                                                 " contradicts the shape, which begins with " +
                                                 std::string(to_string(*direction)));
    }
  } else if (named) {
    problem.direction = *named;
  } else if (reader.status()) {
    return Status(StatusCode::parse_error,
                  "which direction? Say fprop, dgrad or wgrad in front of the shape, or as --direction");
  }
  const auto images = parse_sizes(next_word(shape), "NHWC", "32x56x56x64");
  if (!images) return images.status();
  const auto filters = parse_sizes(shape, "KRS", "64x3x3");
  if (!filters) return filters.status();
  problem.n = (*images)[0], problem.h = (*images)[1], problem.w = (*images)[2], problem.c = (*images)[3];
  problem.k = (*filters)[0], problem.r = (*filters)[1], problem.s = (*filters)[2];
  return {};
}

/// Where channels lie.
Result<bool> parse_layout_of_channels(std::string_view text) {
  const auto layout = parse_word("layout", text, {"nhwc", "nc32hw32"});
  if (!layout) return layout.status();
  return *layout == 1;
}

/// Refuses what groups of 32 channels do not leave open.
void check_packed(SettingReader& reader, const Problem& p) {
  if (!p.interleaved) return;
  const EpilogueSpec& e = p.epilogue;
  const std::pair<std::optional<OperandSpec>, std::string_view> operands[] = {
      {p.a, "a"}, {p.b, "b"}, {p.out, "out"}, {e.c, "c"}, {e.residual, "residual"}, {e.aux, "aux"}};
  for (const auto& [spec, name] : operands) {
    if (spec && spec->ld > 0)
      reader.fail(name, Status(StatusCode::parse_error, "tensors of nc32hw32 are packed: leave out ld"));
  }
}

enum class Role : unsigned char { images, filters };

TensorView tensor_of(const Problem& problem, const OperandSpec& spec, const Extents& e,
                     Role role = Role::images) {
  if (problem.interleaved) {
    TensorView view =
        role == Role::images ? nc32hw32(nullptr, spec.dtype, e) : c32rsk32(nullptr, spec.dtype, e);
    align(view, spec);
    return view;
  }
  const std::int64_t ld = spec.ld > 0 ? spec.ld : e[3];
  const Extents strides = {detail::product_of_extents(e[1], e[2], ld), detail::product_of_extents(e[2], ld),
                           ld, 1};
  TensorView view = TensorView::strided(nullptr, spec.dtype, e, strides);
  align(view, spec);
  return view;
}

std::string axes_text(std::string_view name, const ImageAxes& axes, std::int64_t otherwise) {
  if (axes == ImageAxes{otherwise, otherwise}) return "";
  const bool is_one = axes.height == axes.width;
  return flag_text(name, is_one ? std::to_string(axes.height) : crossed({axes.height, axes.width}));
}

}  // namespace

Conv2dArguments Lab::arguments(const Problem& p) {
  const Extents out = p.out_extents();
  Conv2dArguments args = {.direction = p.direction,
                          .a = tensor_of(p, p.a, p.a_extents()),
                          .b = tensor_of(p, p.b, p.b_extents(), Role::filters),
                          .out = tensor_of(p, p.out, out),
                          .padding = p.padding,
                          .stride = p.stride,
                          .dilation = p.dilation,
                          .groups = p.groups,
                          .flips = p.flips,
                          .accumulator = p.accumulator,
                          .math = p.math,
                          .epilogue = epilogue_of(p.epilogue, {p.out, 0, 1, out[3]}, p.compute()),
                          .controls = p.controls};
  add_expression(p, args);
  const EpilogueSpec& e = p.epilogue;
  if (e.beta != 0) args.c = tensor_of(p, e.c.value_or(p.out), out);
  if (args.epilogue.residual) args.epilogue.residual = tensor_of(p, e.residual.value_or(p.out), out);
  if (e.aux) args.epilogue.aux = tensor_of(p, *e.aux, out);
  return args;
}

Result<Problem> Lab::parse(std::string_view shape, SettingReader& reader) {
  Problem problem;
  if (Status s = read_shape(shape, reader, problem); !s) return s;
  problem.padding = read_axes(reader, "padding", 0).value_or(problem.padding);
  problem.stride = read_axes(reader, "stride", 1).value_or(problem.stride);
  problem.dilation = read_axes(reader, "dilation", 1).value_or(problem.dilation);
  problem.groups = reader.integer("groups", most).value_or(1);
  problem.flips = reader.read("kind", parse_kind).value_or(false);
  problem.interleaved = reader.read("layout", parse_layout_of_channels).value_or(false);
  problem.accumulator = reader.read("accumulator", parse_dtype);
  problem.math = reader.read("math", parse_math).value_or(Math::exact);
  if (Status s = read_operands(reader, problem); !s) return s;
  read_epilogue_of(reader, problem);
  gemm::read_expression(reader, problem.sums(), problem.expression, problem.in_place);
  problem.controls = read_controls(reader);
  check_packed(reader, problem);
  return problem;
}

std::string Lab::shape_text(const Problem& p) {
  return std::string(to_string(p.direction)) + " " + crossed({p.n, p.h, p.w, p.c}) + " " +
         crossed({p.k, p.r, p.s});
}

std::string Lab::command_text(const Problem& p) {
  std::string text = shape_text(p);
  text += axes_text("padding", p.padding, 0);
  text += axes_text("stride", p.stride, 1);
  text += axes_text("dilation", p.dilation, 1);
  if (p.groups != 1) text += flag_text("groups", std::to_string(p.groups));
  if (p.flips) text += flag_text("kind", "convolution");
  if (p.interleaved) text += flag_text("layout", "nc32hw32");
  text += flag_text("a", operand_text(p.a));
  text += flag_text("b", operand_text(p.b));
  text += c_text(p.epilogue);
  text += flag_text("out", operand_text(p.out));
  if (p.accumulator) text += flag_text("accumulator", std::string(to_string(*p.accumulator)));
  if (p.math != Math::exact) text += flag_text("math", std::string(to_string(p.math)));
  return text + epilogue_text(p.epilogue) + gemm::expression_text(p.expression, p.in_place) +
         controls_flags(p.controls);
}

}  // namespace quarry::lab::conv2d
