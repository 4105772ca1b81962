#include "operations/common/epilogue_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {
namespace {

std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 9).ptr};
}

/// A host value that is computed with as s32 is one.
bool is_s32(double value) {
  return value == std::floor(value) && value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

/// Whether the type that is computed in can hold a host value; of f32, to its nearest number.
bool holds(DType compute, double value) {
  return compute != DType::f32 || !(std::abs(value) > std::numeric_limits<float>::max()) || std::isinf(value);
}

Status check_scalar(const Scalar& scalar, Operand name, DType compute) {
  if (scalar.pointer == nullptr && !holds(compute, scalar.value)) {
    return invalid("Operand `" + std::string(to_string(name)) + "` is " + number_text(scalar.value) +
                   ", and the output is computed in f32, which has no such number");
  }
  if (compute == DType::s32 && scalar.pointer == nullptr && !is_s32(scalar.value)) {
    return invalid("Operand `" + std::string(to_string(name)) + "` is " + number_text(scalar.value) +
                   ", and an s32 output is computed in s32, which takes whole numbers of 32 bits");
  }
  if (scalar.pointer == nullptr) return {};
  const auto bytes = static_cast<std::uintptr_t>(bytes_of(compute));
  if (reinterpret_cast<std::uintptr_t>(scalar.pointer) % bytes == 0) return {};
  return invalid("Operand `" + std::string(to_string(name)) +
                 "` is misaligned: its pointer is not a multiple of " + std::to_string(bytes) + " bytes");
}

Status check_clamp(const Clamp& clamp, DType compute) {
  if (!(clamp.low <= clamp.high)) {
    return invalid("The clamp has no numbers from " + number_text(clamp.low) + " to " +
                   number_text(clamp.high));
  }
  if (compute != DType::s32) return {};
  for (const double bound : {clamp.low, clamp.high}) {
    if (std::isinf(bound) || is_s32(bound)) continue;
    return invalid("A bound of the clamp is " + number_text(bound) +
                   ", and an s32 output is computed in s32, which takes whole numbers of 32 bits");
  }
  return {};
}

Status check_axis(BiasAxis axis, const char* name) {
  if (axis <= BiasAxis::column) return {};
  return invalid("There is no " + std::string(name) + " axis of number " +
                 std::to_string(static_cast<int>(axis)));
}

MatrixParams matrix_of(const std::optional<TensorView>& view) {
  return view ? problem_operand(*view).matrix : MatrixParams{};
}

/// A scale as the matrix of what it multiplies.
MatrixParams scale_of(const Epilogue& e) {
  if (!e.scale) return {};
  const bool varies = e.scale->extents[0] > 1;
  const bool by_row = e.scale_axis == BiasAxis::row;
  return {e.scale->data, varies && by_row ? 1 : 0, varies && !by_row ? 1 : 0, 0};
}

/// A bound as the type that is computed in can hold it.
double bound_in(DType compute, double bound) {
  if (compute != DType::s32) return bound;
  return std::clamp<double>(bound, std::numeric_limits<std::int32_t>::min(),
                            std::numeric_limits<std::int32_t>::max());
}

/// Whether the product is multiplied by alpha, and that is all.
bool only_multiplies(const Epilogue& e) {
  const bool adds = !is_zero(e.beta) || e.bias || e.residual;
  return !adds && !e.scale && !e.aux && e.activation == Activation::identity && e.clamp == Clamp{};
}

/// Whether check_epilogue has nothing to refuse, as in nearly all problems; every query and run asks.
bool is_plain(const Epilogue& e, DType compute) {
  return compute != DType::s32 && e.activation <= Activation::gelu_tanh && e.bias_axis <= BiasAxis::column &&
         e.scale_axis <= BiasAxis::column && e.clamp.low <= e.clamp.high && e.alpha.pointer == nullptr &&
         e.beta.pointer == nullptr && holds(compute, e.alpha.value) && holds(compute, e.beta.value);
}

}  // namespace

Status check_epilogue(const Epilogue& epilogue, DType compute) {
  if (is_plain(epilogue, compute)) return {};
  if (epilogue.activation > Activation::gelu_tanh) {
    return invalid("There is no activation of number " +
                   std::to_string(static_cast<int>(epilogue.activation)));
  }
  if (Status s = check_axis(epilogue.bias_axis, "bias"); !s) return s;
  if (Status s = check_axis(epilogue.scale_axis, "scale"); !s) return s;
  if (compute == DType::s32 && epilogue.activation > Activation::relu) {
    return invalid("Activation `" + std::string(to_string(epilogue.activation)) +
                   "` is unsupported: an s32 output is computed in s32, which takes identity and relu");
  }
  if (Status s = check_clamp(epilogue.clamp, compute); !s) return s;
  if (Status s = check_scalar(epilogue.alpha, Operand::alpha, compute); !s) return s;
  return check_scalar(epilogue.beta, Operand::beta, compute);
}

EpilogueParams epilogue_params(const Epilogue& e, DType compute) {
  const bool clamps = e.clamp != Clamp{};
  return {.alpha = e.alpha.value,
          .beta = e.beta.value,
          .clamp_low = clamps ? bound_in(compute, e.clamp.low) : 0,
          .clamp_high = clamps ? bound_in(compute, e.clamp.high) : 0,
          .alpha_pointer = e.alpha.pointer,
          .beta_pointer = e.beta.pointer,
          .bias = e.bias ? e.bias->data : nullptr,
          .scale = scale_of(e),
          .residual = matrix_of(e.residual),
          .aux = matrix_of(e.aux),
          .bias_axis = e.bias_axis,
          .activation = e.activation,
          .clamps = clamps,
          .only_alpha = only_multiplies(e),
          .leaky_slope = e.leaky_slope};
}

}  // namespace quarry::detail
