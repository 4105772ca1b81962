#include "lab/problems/problem.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "common/config_parts.hpp"
#include "lab/problems/problem_text.hpp"

namespace quarry::lab {
namespace {

TensorView view_of(const OperandSpec& spec, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  constexpr decltype(&TensorView::row_major) makers[] = {&TensorView::row_major, &TensorView::column_major,
                                                         &TensorView::row_interleaved32,
                                                         &TensorView::column_interleaved32};
  static_assert(std::size(makers) == layout_count);
  const auto make = makers[static_cast<std::size_t>(spec.layout)];
  const auto make_array =
      spec.layout == Layout::row ? &PointerArrayView::row_major : &PointerArrayView::column_major;
  TensorView view = spec.array  ? make_array(nullptr, spec.dtype, batch, {rows, columns}, spec.ld)
                    : batch > 0 ? make(nullptr, spec.dtype, {batch, rows, columns}, spec.ld)
                                : make(nullptr, spec.dtype, {rows, columns}, spec.ld);
  constexpr long long allocated = 256;     // what allocators of device memory give
  constexpr long long greatest = 1 << 15;  // of assumed_alignment, in bytes
  view.assumed_alignment = static_cast<std::uint16_t>(
      spec.alignment > 0 ? std::min(greatest, bytes_for(spec.dtype, spec.alignment)) : allocated);
  return view;
}

std::string number(double value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), error == std::errc() ? end : buffer.data()};
}

/// Of an operand that is packed.
std::string typed_text(const OperandSpec& spec) {
  const std::string type(to_string(spec.dtype));
  return spec.alignment > 0 ? type + ":align=" + std::to_string(spec.alignment) : type;
}

std::string operand_text(const OperandSpec& spec) {
  std::string text(to_string(spec.dtype));
  text.append(":").append(layout_word(spec.layout));
  if (spec.ld > 0) text += ":ld=" + std::to_string(spec.ld);
  if (spec.alignment > 0) text += ":align=" + std::to_string(spec.alignment);
  if (spec.array) text += ":array";
  return text;
}

/// The sizes: M, N and K, or slices, M and N.
std::string sizes_text(const Problem& p) {
  const bool reduces = p.operation == Operation::reduce_split_k;
  const std::int64_t sizes[] = {reduces ? p.k : p.m, reduces ? p.m : p.n, reduces ? p.n : p.k};
  return std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) + "x" + std::to_string(sizes[2]);
}

std::string_view axis_text(BiasAxis axis) { return axis == BiasAxis::row ? "row" : "column"; }

std::string clamp_text(const Clamp& clamp) {
  const auto bound = [](double value) { return std::isinf(value) ? std::string() : number(value); };
  return bound(clamp.low) + ":" + bound(clamp.high);
}

/// What the epilogue has beside C.
void add_epilogue(const Problem& p, Epilogue& e) {
  const DType type = p.out.dtype;
  if (p.bias) {
    e.bias = TensorView::vector(nullptr, type, *p.bias == BiasAxis::row ? p.m : p.n);
    e.bias_axis = *p.bias;
  }
  if (p.scale) {
    const DType compute =
        compute_type(p.accumulator.value_or(default_accumulator(p.a.dtype, p.b.dtype)), type);
    e.scale_axis = *p.scale == ScaleAxis::row ? BiasAxis::row : BiasAxis::column;
    const std::int64_t extent = *p.scale == ScaleAxis::row ? p.m : p.n;
    e.scale = TensorView::vector(nullptr, compute, *p.scale == ScaleAxis::tensor ? 1 : extent);
  }
  if (p.residual || p.residual_in_place) {
    e.residual = view_of(p.residual_in_place ? p.out : *p.residual, p.batch, p.m, p.n);
  }
  if (p.aux) e.aux = view_of(*p.aux, p.batch, p.m, p.n);
  e.clamp = p.clamp;
}

GemmArguments gemm_arguments(const Problem& p) {
  GemmArguments arguments{
      .a = view_of(p.a, p.batch, p.m, p.k),
      .b = view_of(p.b, p.batch, p.k, p.n),
      .out = view_of(p.out, p.batch, p.m, p.n),
      .accumulator = p.accumulator,
      .math = p.math,
      .epilogue = {.alpha = p.alpha, .beta = p.beta, .activation = p.activation, .leaky_slope = p.slope},
      .controls = p.controls};
  if (p.beta != 0) arguments.c = view_of(p.c.value_or(p.out), p.batch, p.m, p.n);
  add_epilogue(p, arguments.epilogue);
  return arguments;
}

}  // namespace

double stored_bytes(const OperandSpec& spec, std::int64_t rows, std::int64_t columns) {
  const bool by_rows = has_contiguous_rows(spec.layout) != is_interleaved(spec.layout);
  const auto across = static_cast<double>(by_rows ? rows : columns);
  const std::int64_t unit = is_interleaved(spec.layout) ? interleave : 1;
  const auto ld = static_cast<double>(spec.ld) / static_cast<double>(unit);
  constexpr double an_entry = 2048;  // pointers, and what lies between the matrices of an array
  return across * std::max(static_cast<double>(by_rows ? columns : rows), ld) * bits_of(spec.dtype) / 8 +
         (spec.array ? an_entry : 0);
}

Arguments arguments_of(const Problem& p) {
  const GemmArguments arguments = gemm_arguments(p);
  if (p.operation == Operation::gemm) return arguments;
  return detail::reduction_of(arguments, p.k);
}

host::RandomOptions random_options(const Problem& p, std::uint64_t seed) {
  return {.seed = seed, .in_place = p.in_place, .residual_in_place = p.residual_in_place};
}

std::string shape_text(const Problem& p) {
  std::string text = sizes_text(p);
  if (p.batch > 0) text = std::to_string(p.batch) + "*" + text;
  return text;
}

std::string command_text(const Problem& p) {
  const bool reduces = p.operation == Operation::reduce_split_k;
  std::string text = std::string(to_string(p.operation)) + " " + sizes_text(p);
  const auto flag = [&text](std::string_view name, const std::string& value) {
    text += " --";
    text += name;
    text += ' ';
    text += value;
  };
  if (reduces) {
    flag("partials", typed_text(p.a));
  } else {
    flag("a", operand_text(p.a));
    flag("b", operand_text(p.b));
  }
  if (p.c) flag("c", operand_text(*p.c));
  if (p.in_place) flag("c", "out");
  flag("out", operand_text(p.out));
  if (p.batch > 0) flag("batch", std::to_string(p.batch));
  if (p.accumulator && !reduces) flag("accumulator", std::string(to_string(*p.accumulator)));
  if (p.math != Math::exact) flag("math", std::string(to_string(p.math)));
  if (p.alpha != 1) flag("alpha", number(p.alpha));
  if (p.beta != (p.c || p.in_place ? 1 : 0)) flag("beta", number(p.beta));
  if (p.activation != Activation::identity) flag("activation", std::string(to_string(p.activation)));
  if (p.activation == Activation::leaky_relu) flag("slope", number(static_cast<double>(p.slope)));
  if (p.bias) flag("bias", std::string(axis_text(*p.bias)));
  if (p.scale == ScaleAxis::tensor) {
    flag("scale", "tensor");
  } else if (p.scale) {
    flag("scale", *p.scale == ScaleAxis::row ? "row" : "column");
  }
  if (p.residual) flag("residual", operand_text(*p.residual));
  if (p.residual_in_place) flag("residual", "out");
  if (p.aux) flag("aux", operand_text(*p.aux));
  if (p.clamp != Clamp{}) flag("clamp", clamp_text(p.clamp));
  if (p.controls.mode) flag("mode", std::string(to_string(*p.controls.mode)));
  if (p.controls.split_k_slices) flag("split-k", std::to_string(*p.controls.split_k_slices));
  if (p.controls.swizzle) flag("swizzle", std::to_string(*p.controls.swizzle));
  if (p.controls.raster) flag("raster", std::string(to_string(*p.controls.raster)));
  if (p.controls.multiprocessors) flag("multiprocessors", std::to_string(*p.controls.multiprocessors));
  return text;
}

double flops(const Problem& p) {
  return (p.operation == Operation::gemm ? 2.0 : 1.0) * static_cast<double>(p.m) * static_cast<double>(p.n) *
         static_cast<double>(p.k) * static_cast<double>(p.batch > 0 ? p.batch : 1);
}

}  // namespace quarry::lab
