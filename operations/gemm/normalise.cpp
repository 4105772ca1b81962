#include "operations/gemm/normalise.hpp"

#include <array>
#include <string>
#include <utility>

#include "operations/common/epilogue_values.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {
namespace {

constexpr auto code = StatusCode::invalid_arguments;

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

Status check_matrices_of_epilogue(const GemmArguments& args) {
  const Epilogue& e = args.epilogue;
  const TensorView& out = args.out;
  if (reads_c(args)) {
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

Status check_bias(const GemmArguments& args) {
  if (!args.epilogue.bias) return {};
  const TensorView& bias = *args.epilogue.bias;
  if (Status s = check_no_array(bias, Operand::bias); !s) return s;
  if (Status s = check_tensor(bias, Operand::bias, 1, 1); !s) return s;
  if (Status s = check_dtype(bias, Operand::bias, args.out.dtype); !s) return s;
  const std::int64_t extent = extent_along(args.epilogue.bias_axis, args.out);
  if (bias.extents[0] != extent) return {code, Reason::extent, Operand::bias, extent, bias.extents[0]};
  return check_contiguous(bias, Operand::bias);
}

Status check_scale(const GemmArguments& args, DType compute) {
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

Status check_controls(const Controls& controls) {
  const int slices = controls.split_k_slices.value_or(1);
  if (controls.mode && *controls.mode > Mode::stream_k) {
    return invalid("There is no mode of number " + std::to_string(static_cast<int>(*controls.mode)));
  }
  if (slices < 1) {
    return invalid("Control `split_k_slices` must be 1 or more, and is " + std::to_string(slices));
  }
  if (slices > 1 && (controls.mode == Mode::gemm || controls.mode == Mode::stream_k)) {
    return invalid("Control `split_k_slices` is " + std::to_string(slices) +
                   ", which needs a mode of split_k_serial, split_k_parallel or split_k_cluster, not " +
                   std::string(to_string(*controls.mode)));
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

/// @param a what the first input is called
Status check_memory(const GemmArguments& args, Operand a) {
  Place place;
  Placing placing;
  const auto check = [&](const TensorView& view, Operand name) -> Status {
    if (view.memory.kind > MemoryKind::pinned || view.memory.device < 0) {
      return invalid("Operand `" + std::string(to_string(name)) +
                     "` lies in no kind of memory that there is");
    }
    if (!place.admits(view)) return placing.elsewhere(view, view.memory.kind, name);
    placing.note(view, view.memory.kind, name);
    return {};
  };
  if (Status s = check(args.out, Operand::out); !s) return s;
  if (Status s = check(args.a, a); !s) return s;
  if (Status s = check(args.b, Operand::b); !s) return s;
  if (reads_c(args)) {
    if (Status s = check(*args.c, Operand::c); !s) return s;
  }
  const Epilogue& e = args.epilogue;
  for (const auto& [view, name] :
       {std::pair(&e.bias, Operand::bias), std::pair(&e.scale, Operand::scale),
        std::pair(&e.residual, Operand::residual), std::pair(&e.aux, Operand::aux)}) {
    if (!*view) continue;
    if (Status s = check(**view, name); !s) return s;
  }
  return {};
}

/// Whether `c` (or the residual) is `out` itself: every element of it is read by the thread that writes it.
bool is_in_place(const TensorView& c, const TensorView& out) {
  if (c.data != out.data || c.rank != out.rank || c.tag != out.tag) return false;
  if (c.is_pointer_array != out.is_pointer_array) return false;
  for (std::size_t i = 0; i < c.rank; ++i) {
    const bool is_strided = i > 0 || !c.is_pointer_array;
    if (is_strided && c.extents[i] > 1 && c.strides[i] != out.strides[i]) return false;
  }
  return true;
}

/// An input of the problem; null where it has none, or does not read it.
struct Input {
  const TensorView* view;
  Operand name;
  bool may_be_out;
};

std::array<Input, 6> inputs_of(const GemmArguments& args, Operand a) {
  const Epilogue& e = args.epilogue;
  const bool multiplies = !is_zero(e.alpha);
  const auto given = [](const std::optional<TensorView>& view) { return view ? &*view : nullptr; };
  return {Input{multiplies ? &args.a : nullptr, a, false},
          Input{multiplies ? &args.b : nullptr, Operand::b, false},
          Input{reads_c(args) ? given(args.c) : nullptr, Operand::c, true},
          Input{given(e.bias), Operand::bias, false},
          Input{given(e.scale), Operand::scale, false},
          Input{given(e.residual), Operand::residual, true}};
}

Status check_overlap(const GemmArguments& args, Operand a) {
  const TensorView& out = args.out;
  const std::optional<TensorView>& aux = args.epilogue.aux;
  const bool writes_aux = aux && aux->data != nullptr;
  if (out.data == nullptr && !writes_aux) return {};
  for (const Input& input : inputs_of(args, a)) {
    if (input.view == nullptr) continue;
    const bool in_place = input.may_be_out && is_in_place(*input.view, out);
    if (!in_place && may_overlap(*input.view, out)) return {code, Reason::output_overlap, input.name};
    if (writes_aux && may_overlap(*input.view, *aux)) return {code, Reason::aux_overlap, input.name};
  }
  if (writes_aux && may_overlap(out, *aux)) return {code, Reason::aux_overlap, Operand::out};
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
  problem.has_scale = e.scale.has_value();
  problem.has_residual = e.residual.has_value();
  problem.has_aux = e.aux.has_value();
  problem.epilogue = epilogue_params(e, compute_type(accumulator, args.out.dtype));
  problem.m = static_cast<int>(rows(args.out));
  problem.n = static_cast<int>(columns(args.out));
  problem.k = is_zero(e.alpha) ? 0 : static_cast<int>(columns(args.a));
  problem.batch = args.out.rank == 3 ? static_cast<int>(args.out.extents[0]) : 1;
  problem.controls = args.controls;
  problem.has_arrays = array_operand(problem) != Operand::none;
}

}  // namespace

Status check_beside_inputs(const GemmArguments& args, DType compute, Operand a) {
  if (Status s = check_matrices_of_epilogue(args); !s) return s;
  if (Status s = check_bias(args); !s) return s;
  if (Status s = check_epilogue(args.epilogue, compute); !s) return s;
  if (Status s = check_scale(args, compute); !s) return s;
  if (Status s = check_controls(args.controls); !s) return s;
  if (Status s = check_memory(args, a); !s) return s;
  return check_overlap(args, a);
}

Status normalise(const GemmArguments& args, GemmProblem& problem) {
  if (Status s = check_matrices(args); !s) return s;
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  if (bytes_of(accumulator) == 0) return invalid("The accumulator has no data type");
  if (args.math > Math::fast_bf16)
    return invalid("There is no math of number " + std::to_string(static_cast<int>(args.math)));
  const DType compute = compute_type(accumulator, args.out.dtype);
  if (Status s = check_beside_inputs(args, compute, Operand::a); !s) return s;
  fill(args, accumulator, problem);
  return {};
}

}  // namespace quarry::detail
