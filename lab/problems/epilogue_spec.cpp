#include "lab/problems/epilogue_spec.hpp"

#include <cmath>
#include <limits>

namespace quarry::lab {
namespace {

std::string_view axis_text(BiasAxis axis) { return axis == BiasAxis::row ? "row" : "column"; }

Result<BiasAxis> parse_bias_axis(std::string_view text) {
  const Result<std::size_t> axis = parse_word("bias", text, {"row", "column"});
  if (!axis) return axis.status();
  return static_cast<BiasAxis>(*axis);
}

Result<ScaleAxis> parse_scale_axis(std::string_view text) {
  const Result<std::size_t> axis = parse_word("scale", text, {"row", "column", "tensor"});
  if (!axis) return axis.status();
  return static_cast<ScaleAxis>(*axis);
}

/// An operand that may be the output's own memory. @param in_place whether it is
std::optional<OperandSpec> read_matrix(SettingReader& reader, std::string_view name, const OutputSpec& output,
                                       bool* in_place) {
  if (in_place != nullptr) {
    *in_place = reader.text(name) == "out";
    if (*in_place) return std::nullopt;
  }
  const auto parts = reader.read(name, parse_operand);
  if (!parts) return std::nullopt;
  const std::optional<OperandSpec> spec = complete(parts, output.out.dtype);
  check_batch(reader, name, spec, output.batch, name == "aux");
  return spec;
}

std::string clamp_text(const Clamp& clamp) {
  const auto bound = [](double value) { return std::isinf(value) ? std::string() : number_text(value); };
  return bound(clamp.low) + ":" + bound(clamp.high);
}

TensorView matrix_of(const OperandSpec& spec, const OutputSpec& output) {
  return view_of(spec, output.batch, output.m, output.n);
}

}  // namespace

std::int64_t read_batch(SettingReader& reader) {
  return reader.integer("batch", std::numeric_limits<std::int64_t>::max()).value_or(0);
}

EpilogueSpec read_epilogue(SettingReader& reader, const OutputSpec& output) {
  EpilogueSpec spec;
  spec.c = read_matrix(reader, "c", output, &spec.in_place);
  spec.alpha = reader.number("alpha").value_or(1);
  spec.beta = reader.number("beta").value_or(spec.c || spec.in_place ? 1 : 0);
  spec.activation = reader.read("activation", parse_activation).value_or(Activation::identity);
  const double slope = reader.number("slope").value_or(0.01);
  spec.slope = static_cast<float>(slope);
  if (std::isinf(spec.slope))
    reader.fail("slope",
                Status(StatusCode::parse_error, "it is too large for f32, got " + number_text(slope)));
  spec.bias = reader.read("bias", parse_bias_axis);
  spec.scale = reader.read("scale", parse_scale_axis);
  spec.clamp = reader.read("clamp", parse_clamp).value_or(Clamp{});
  spec.residual = read_matrix(reader, "residual", output, &spec.residual_in_place);
  spec.aux = read_matrix(reader, "aux", output, nullptr);
  return spec;
}

std::string c_text(const EpilogueSpec& spec) {
  if (spec.in_place) return flag_text("c", "out");
  return spec.c ? flag_text("c", operand_text(*spec.c)) : "";
}

std::string epilogue_text(const EpilogueSpec& e) {
  std::string text;
  if (e.alpha != 1) text += flag_text("alpha", number_text(e.alpha));
  if (e.beta != (e.c || e.in_place ? 1 : 0)) text += flag_text("beta", number_text(e.beta));
  if (e.activation != Activation::identity)
    text += flag_text("activation", std::string(to_string(e.activation)));
  if (e.activation == Activation::leaky_relu)
    text += flag_text("slope", number_text(static_cast<double>(e.slope)));
  if (e.bias) text += flag_text("bias", std::string(axis_text(*e.bias)));
  if (e.scale == ScaleAxis::tensor) {
    text += flag_text("scale", "tensor");
  } else if (e.scale) {
    text += flag_text("scale", *e.scale == ScaleAxis::row ? "row" : "column");
  }
  if (e.residual) text += flag_text("residual", operand_text(*e.residual));
  if (e.residual_in_place) text += flag_text("residual", "out");
  if (e.aux) text += flag_text("aux", operand_text(*e.aux));
  if (e.clamp != Clamp{}) text += flag_text("clamp", clamp_text(e.clamp));
  return text;
}

Epilogue epilogue_of(const EpilogueSpec& spec, const OutputSpec& output, DType compute) {
  Epilogue e{.alpha = spec.alpha,
             .beta = spec.beta,
             .activation = spec.activation,
             .leaky_slope = spec.slope,
             .clamp = spec.clamp};
  if (spec.bias) {
    e.bias = TensorView::vector(nullptr, output.out.dtype, *spec.bias == BiasAxis::row ? output.m : output.n);
    e.bias_axis = *spec.bias;
  }
  if (spec.scale) {
    e.scale_axis = *spec.scale == ScaleAxis::row ? BiasAxis::row : BiasAxis::column;
    const std::int64_t extent = *spec.scale == ScaleAxis::row ? output.m : output.n;
    e.scale = TensorView::vector(nullptr, compute, *spec.scale == ScaleAxis::tensor ? 1 : extent);
  }
  if (spec.residual || spec.residual_in_place)
    e.residual = matrix_of(spec.residual_in_place ? output.out : *spec.residual, output);
  if (spec.aux) e.aux = matrix_of(*spec.aux, output);
  return e;
}

std::optional<TensorView> c_of(const EpilogueSpec& spec, const OutputSpec& output) {
  if (spec.beta == 0) return std::nullopt;
  return matrix_of(spec.c.value_or(output.out), output);
}

std::vector<Operand> in_place_of(const EpilogueSpec& spec) {
  std::vector<Operand> operands;
  if (spec.in_place) operands.push_back(Operand::c);
  if (spec.residual_in_place) operands.push_back(Operand::residual);
  return operands;
}

}  // namespace quarry::lab
