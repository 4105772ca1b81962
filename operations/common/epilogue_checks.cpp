#include "operations/common/epilogue_checks.hpp"

#include <string>

#include "operations/common/epilogue_values.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {
namespace {

constexpr auto code = StatusCode::invalid_arguments;

/// What is checked.
struct Given {
  const TensorView& out;
  const std::optional<TensorView>& c;
  const Epilogue& epilogue;
};

Status check_dtype(const TensorView& view, Operand name, DType type) {
  if (view.dtype == type) return {};
  return {code, Reason::dtype, name, static_cast<int>(type), static_cast<int>(view.dtype)};
}

/// Checks a matrix that is read or written as the output is: of its type, and interleaved as it is.
Status check_like_out(const TensorView& view, Operand name, int least_rank, const TensorView& out) {
  if (Status s = check_tensor(view, name, least_rank, out.rank); !s) return s;
  if (Status s = check_dtype(view, name, out.dtype); !s) return s;
  if (view.tag != out.tag)
    return {code, Reason::tag, name, static_cast<int>(out.tag), static_cast<int>(view.tag)};
  return check_extents(view, name, rows(out), columns(out), out);
}

Status check_matrices_of_epilogue(const Given& args) {
  const Epilogue& e = args.epilogue;
  const TensorView& out = args.out;
  if (!is_zero(args.epilogue.beta)) {
    if (!args.c) return {code, Reason::missing, Operand::c};
    if (Status s = check_like_out(*args.c, Operand::c, 2, out); !s) return s;
  }
  if (e.residual) {
    if (Status s = check_like_out(*e.residual, Operand::residual, 2, out); !s) return s;
  }
  if (!e.aux) return {};
  if (Status s = check_like_out(*e.aux, Operand::aux, out.rank, out); !s) return s;
  return check_output_strides(*e.aux, Operand::aux);
}

Status check_contiguous(const TensorView& vector, Operand name) {
  if (vector.extents[0] <= 1 || vector.strides[0] == 1) return {};
  return invalid("Operand `" + std::string(to_string(name)) + "` is not contiguous: its stride is " +
                 std::to_string(vector.strides[0]));
}

/// Values that a vector along this axis has.
std::int64_t extent_along(BiasAxis axis, const TensorView& out) {
  return axis == BiasAxis::row ? rows(out) : columns(out);
}

/// Refuses an array where there is one vector for all of the batch.
Status check_no_array(const TensorView& vector, Operand name) {
  if (!vector.is_pointer_array) return {};
  return invalid("Operand `" + std::string(to_string(name)) +
                 "` is an array of pointers: it is one vector for the whole batch");
}

Status check_bias(const Given& args) {
  if (!args.epilogue.bias) return {};
  const TensorView& bias = *args.epilogue.bias;
  if (Status s = check_no_array(bias, Operand::bias); !s) return s;
  if (Status s = check_tensor(bias, Operand::bias, 1, 1); !s) return s;
  if (Status s = check_dtype(bias, Operand::bias, args.out.dtype); !s) return s;
  const std::int64_t extent = extent_along(args.epilogue.bias_axis, args.out);
  if (bias.extents[0] != extent) return {code, Reason::extent, Operand::bias, extent, bias.extents[0]};
  return check_contiguous(bias, Operand::bias);
}

Status check_scale(const Given& args, DType compute) {
  if (!args.epilogue.scale) return {};
  const TensorView& scale = *args.epilogue.scale;
  if (compute == DType::s32) {
    return invalid("Operand `scale` is unsupported: an s32 output is computed in s32, which is not scaled");
  }
  if (Status s = check_no_array(scale, Operand::scale); !s) return s;
  if (Status s = check_tensor(scale, Operand::scale, 1, 1); !s) return s;
  if (Status s = check_dtype(scale, Operand::scale, compute); !s) return s;
  const std::int64_t extent = extent_along(args.epilogue.scale_axis, args.out);
  if (scale.extents[0] != extent && scale.extents[0] != 1) {
    return {code, Reason::extent, Operand::scale, extent, scale.extents[0]};
  }
  return check_contiguous(scale, Operand::scale);
}

}  // namespace

/// Checks an input against the shape that `out` and `a` give it.
Status check_extents(const TensorView& input, Operand name, std::int64_t m, std::int64_t n,
                     const TensorView& out) {
  if (rows(input) != m) return {code, Reason::rows, name, m, rows(input)};
  if (columns(input) != n) return {code, Reason::columns, name, n, columns(input)};
  if (input.rank == 3 && input.extents[0] != out.extents[0]) {
    return {code, Reason::batch, name, out.extents[0], input.extents[0]};
  }
  return {};
}

Status check_epilogue_operands(const TensorView& out, const std::optional<TensorView>& c,
                               const Epilogue& epilogue, DType compute) {
  const bool has_operands =
      !is_zero(epilogue.beta) || epilogue.residual || epilogue.aux || epilogue.bias || epilogue.scale;
  if (!has_operands) return check_epilogue(epilogue, compute);
  const Given args = {out, c, epilogue};
  if (Status s = check_matrices_of_epilogue(args); !s) return s;
  if (Status s = check_bias(args); !s) return s;
  if (Status s = check_epilogue(epilogue, compute); !s) return s;
  return check_scale(args, compute);
}

}  // namespace quarry::detail
