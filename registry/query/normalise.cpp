#include "registry/query/normalise.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "registry/query/tensor_checks.hpp"

namespace quarry::detail {
namespace {

constexpr auto code = StatusCode::invalid_arguments;

/// A host value that is exactly zero, and so takes its term out of the problem.
bool is_zero(const Scalar& scalar) { return scalar.pointer == nullptr && scalar.value == 0; }

bool reads_c(const GemmArguments& args) { return !is_zero(args.epilogue.beta); }

std::int64_t rows(const TensorView& matrix) { return matrix.extents[matrix.rank - 2U]; }
std::int64_t columns(const TensorView& matrix) { return matrix.extents[matrix.rank - 1U]; }

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

Status check_matrices(const GemmArguments& args) {
  const TensorView& out = args.out;
  if (Status s = check_tensor(out, Operand::out, 2, 3); !s) return s;
  if (Status s = check_tensor(args.a, Operand::a, 2, out.rank); !s) return s;
  if (Status s = check_tensor(args.b, Operand::b, 2, out.rank); !s) return s;
  const std::int64_t k = columns(args.a);
  if (Status s = check_extents(args.a, Operand::a, rows(out), k, out); !s) return s;
  if (Status s = check_extents(args.b, Operand::b, k, columns(out), out); !s) return s;
  return check_output_strides(out);
}

Status check_c(const GemmArguments& args) {
  if (!reads_c(args)) return {};
  if (!args.c) return {code, Reason::missing, Operand::c};
  const TensorView& c = *args.c;
  if (Status s = check_tensor(c, Operand::c, 2, args.out.rank); !s) return s;
  if (c.dtype != args.out.dtype) {
    return {code, Reason::dtype, Operand::c, static_cast<int>(args.out.dtype), static_cast<int>(c.dtype)};
  }
  return check_extents(c, Operand::c, rows(args.out), columns(args.out), args.out);
}

Status check_bias(const GemmArguments& args) {
  if (!args.epilogue.bias) return {};
  const TensorView& bias = *args.epilogue.bias;
  if (Status s = check_tensor(bias, Operand::bias, 1, 1); !s) return s;
  if (bias.dtype != args.out.dtype) {
    return {code, Reason::dtype, Operand::bias, static_cast<int>(args.out.dtype),
            static_cast<int>(bias.dtype)};
  }
  const std::int64_t extent = args.epilogue.bias_axis == BiasAxis::row ? rows(args.out) : columns(args.out);
  if (bias.extents[0] != extent) return {code, Reason::extent, Operand::bias, extent, bias.extents[0]};
  if (extent > 1 && bias.strides[0] != 1) {
    return invalid("Operand `bias` is not contiguous: its stride is " + std::to_string(bias.strides[0]));
  }
  return {};
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// A host value that is computed with as s32 is one.
bool is_s32(double value) {
  return value == std::floor(value) && value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

Status check_scalar(const Scalar& scalar, Operand name, DType compute) {
  if (compute == DType::s32 && scalar.pointer == nullptr && !is_s32(scalar.value)) {
    return invalid("Operand `" + std::string(to_string(name)) + "` is " + number_text(scalar.value) +
                   ", and an s32 output is computed in s32, which takes whole numbers of 32 bits");
  }
  const auto bytes = static_cast<std::uintptr_t>(bytes_of(compute));
  if (reinterpret_cast<std::uintptr_t>(scalar.pointer) % bytes == 0) return {};
  return invalid("Operand `" + std::string(to_string(name)) +
                 "` is misaligned: its pointer is not a multiple of " + std::to_string(bytes) + " bytes");
}

Status check_epilogue(const Epilogue& epilogue, DType compute) {
  if (epilogue.activation > Activation::gelu_tanh) {
    return invalid("There is no activation of number " +
                   std::to_string(static_cast<int>(epilogue.activation)));
  }
  if (epilogue.bias_axis > BiasAxis::column) {
    return invalid("There is no bias axis of number " + std::to_string(static_cast<int>(epilogue.bias_axis)));
  }
  if (compute == DType::s32 && epilogue.activation > Activation::relu) {
    return invalid("Activation `" + std::string(to_string(epilogue.activation)) +
                   "` is unsupported: an s32 output is computed in s32, which takes identity and relu");
  }
  if (Status s = check_scalar(epilogue.alpha, Operand::alpha, compute); !s) return s;
  return check_scalar(epilogue.beta, Operand::beta, compute);
}

Status check_controls(const Controls& controls) {
  const int slices = controls.split_k_slices.value_or(1);
  if (controls.mode && *controls.mode > Mode::split_k_cluster) {
    return invalid("There is no mode of number " + std::to_string(static_cast<int>(*controls.mode)));
  }
  if (slices < 1) {
    return invalid("Control `split_k_slices` must be 1 or more, and is " + std::to_string(slices));
  }
  if (slices > 1 && controls.mode == Mode::gemm) {
    return invalid("Control `split_k_slices` is " + std::to_string(slices) +
                   ", which needs a mode of split_k_serial, split_k_parallel or split_k_cluster, not gemm");
  }
  const int swizzle = controls.swizzle.value_or(1);
  if (swizzle != 1 && swizzle != 2 && swizzle != 4 && swizzle != 8) {
    return {code, Reason::swizzle, Operand::none, 0, swizzle};
  }
  if (controls.raster && *controls.raster > Raster::along_m) {
    return invalid("There is no raster of number " + std::to_string(static_cast<int>(*controls.raster)));
  }
  if (const int most = controls.multiprocessors.value_or(1); most < 1) {
    return {code, Reason::multiprocessors, Operand::none, 1, most};
  }
  return {};
}

/// What earlier operands said of where the problem lies.
class Place {
 public:
  /// Whether this view can lie beside them.
  bool admits(const TensorView& view) {
    const MemoryKind kind = view.memory.kind;
    if (kind == MemoryKind::automatic) return true;
    const bool host = kind == MemoryKind::host;
    if (known_ && host != host_) return false;
    known_ = true;
    host_ = host;
    if (kind != MemoryKind::device) return true;  // managed and pinned memory goes with any device
    if (device_ >= 0 && device_ != view.memory.device) return false;
    device_ = view.memory.device;
    return true;
  }

 private:
  bool known_ = false;
  bool host_ = false;
  int device_ = -1;
};

Status check_memory(const GemmArguments& args) {
  Place place;
  const auto check = [&](const TensorView& view, Operand name) -> Status {
    if (view.memory.kind > MemoryKind::pinned || view.memory.device < 0) {
      return invalid("Operand `" + std::string(to_string(name)) +
                     "` lies in no kind of memory that there is");
    }
    if (place.admits(view)) return {};
    return {code, Reason::mixed_devices, name};
  };
  if (Status s = check(args.out, Operand::out); !s) return s;
  if (Status s = check(args.a, Operand::a); !s) return s;
  if (Status s = check(args.b, Operand::b); !s) return s;
  if (reads_c(args)) {
    if (Status s = check(*args.c, Operand::c); !s) return s;
  }
  return args.epilogue.bias ? check(*args.epilogue.bias, Operand::bias) : Status();
}

/// Whether `c` is `out` itself: every element of it is read by the thread that writes it.
bool is_in_place(const TensorView& c, const TensorView& out) {
  if (c.data != out.data || c.rank != out.rank) return false;
  for (std::size_t i = 0; i < c.rank; ++i) {
    if (c.extents[i] > 1 && c.strides[i] != out.strides[i]) return false;
  }
  return true;
}

Status check_overlap(const GemmArguments& args) {
  const TensorView& out = args.out;
  if (out.data == nullptr) return {};
  const auto overlap = [&](Operand name) -> Status { return {code, Reason::output_overlap, name}; };
  if (!is_zero(args.epilogue.alpha)) {
    if (may_overlap(args.a, out)) return overlap(Operand::a);
    if (may_overlap(args.b, out)) return overlap(Operand::b);
  }
  if (reads_c(args) && !is_in_place(*args.c, out) && may_overlap(*args.c, out)) return overlap(Operand::c);
  if (args.epilogue.bias && may_overlap(*args.epilogue.bias, out)) return overlap(Operand::bias);
  return {};
}

void fill(const GemmArguments& args, DType accumulator, GemmProblem& problem) {
  const Epilogue& e = args.epilogue;
  problem = {};
  problem.types = {args.a.dtype, args.b.dtype, accumulator, args.out.dtype};
  problem.math = args.math;
  problem.a = problem_operand(args.a);
  problem.b = problem_operand(args.b);
  problem.out = problem_operand(args.out);
  problem.has_c = reads_c(args);
  if (problem.has_c) problem.c = problem_operand(*args.c);
  problem.has_bias = e.bias.has_value();
  problem.epilogue = {.alpha = e.alpha.value,
                      .beta = e.beta.value,
                      .alpha_pointer = e.alpha.pointer,
                      .beta_pointer = e.beta.pointer,
                      .bias = e.bias ? e.bias->data : nullptr,
                      .bias_axis = e.bias_axis,
                      .activation = e.activation,
                      .leaky_slope = e.leaky_slope};
  problem.m = static_cast<int>(rows(args.out));
  problem.n = static_cast<int>(columns(args.out));
  problem.k = is_zero(e.alpha) ? 0 : static_cast<int>(columns(args.a));
  problem.batch = args.out.rank == 3 ? static_cast<int>(args.out.extents[0]) : 1;
  problem.controls = args.controls;
}

}  // namespace

Status normalise(const GemmArguments& args, GemmProblem& problem) {
  if (Status s = check_matrices(args); !s) return s;
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  if (bytes_of(accumulator) == 0) return invalid("The accumulator has no data type");
  if (args.math > Math::fast_bf16)
    return invalid("There is no math of number " + std::to_string(static_cast<int>(args.math)));
  if (Status s = check_c(args); !s) return s;
  if (Status s = check_bias(args); !s) return s;
  if (Status s = check_epilogue(args.epilogue, compute_type(accumulator, args.out.dtype)); !s) return s;
  if (Status s = check_controls(args.controls); !s) return s;
  if (Status s = check_memory(args); !s) return s;
  if (Status s = check_overlap(args); !s) return s;
  fill(args, accumulator, problem);
  return {};
}

}  // namespace quarry::detail
