#include "problem.hpp"

#include <array>
#include <charconv>

namespace quarry::command {
namespace {

TensorView view_of(const OperandSpec& spec, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  const auto make = spec.layout == Layout::row ? &TensorView::row_major : &TensorView::column_major;
  TensorView view = batch > 0 ? make(nullptr, spec.dtype, {batch, rows, columns}, spec.ld)
                              : make(nullptr, spec.dtype, {rows, columns}, spec.ld);
  constexpr int allocated = 256;     // what allocators of device memory give
  constexpr int greatest = 1 << 15;  // of assumed_alignment, in bytes
  view.assumed_alignment = static_cast<std::uint16_t>(
      spec.alignment > 0 ? std::min(greatest, spec.alignment * bytes_of(spec.dtype)) : allocated);
  return view;
}

std::string number(double value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), error == std::errc() ? end : buffer.data()};
}

std::string operand_text(const OperandSpec& spec) {
  std::string text(to_string(spec.dtype));
  text += spec.layout == Layout::row ? ":row" : ":col";
  if (spec.ld > 0) text += ":ld=" + std::to_string(spec.ld);
  if (spec.alignment > 0) text += ":align=" + std::to_string(spec.alignment);
  return text;
}

}  // namespace

GemmArguments arguments_of(const Problem& p) {
  GemmArguments arguments{
      .a = view_of(p.a, p.batch, p.m, p.k),
      .b = view_of(p.b, p.batch, p.k, p.n),
      .out = view_of(p.out, p.batch, p.m, p.n),
      .accumulator = p.accumulator,
      .math = p.math,
      .epilogue = {.alpha = p.alpha, .beta = p.beta, .activation = p.activation, .leaky_slope = p.slope},
      .controls = p.controls};
  if (p.beta != 0) arguments.c = view_of(p.c.value_or(p.out), p.batch, p.m, p.n);
  if (p.bias) {
    arguments.epilogue.bias = TensorView::vector(nullptr, p.out.dtype, *p.bias == BiasAxis::row ? p.m : p.n);
    arguments.epilogue.bias_axis = *p.bias;
  }
  return arguments;
}

std::string shape_text(const Problem& p) {
  std::string text = std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
  if (p.batch > 0) text = std::to_string(p.batch) + "*" + text;
  return text;
}

std::string command_text(const Problem& p) {
  std::string text = "gemm " + std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
  const auto flag = [&text](std::string_view name, const std::string& value) {
    text += " --";
    text += name;
    text += ' ';
    text += value;
  };
  flag("a", operand_text(p.a));
  flag("b", operand_text(p.b));
  if (p.c) flag("c", operand_text(*p.c));
  if (p.in_place) flag("c", "out");
  flag("out", operand_text(p.out));
  if (p.batch > 0) flag("batch", std::to_string(p.batch));
  if (p.accumulator) flag("accumulator", std::string(to_string(*p.accumulator)));
  if (p.math != Math::exact) flag("math", std::string(to_string(p.math)));
  if (p.alpha != 1) flag("alpha", number(p.alpha));
  if (p.beta != (p.c || p.in_place ? 1 : 0)) flag("beta", number(p.beta));
  if (p.activation != Activation::identity) flag("activation", std::string(to_string(p.activation)));
  if (p.activation == Activation::leaky_relu) flag("slope", number(static_cast<double>(p.slope)));
  if (p.bias) flag("bias", *p.bias == BiasAxis::row ? "row" : "column");
  if (p.controls.mode) flag("mode", std::string(to_string(*p.controls.mode)));
  if (p.controls.split_k_slices) flag("split-k", std::to_string(*p.controls.split_k_slices));
  if (p.controls.swizzle) flag("swizzle", std::to_string(*p.controls.swizzle));
  if (p.controls.raster) flag("raster", std::string(to_string(*p.controls.raster)));
  if (p.controls.multiprocessors) flag("multiprocessors", std::to_string(*p.controls.multiprocessors));
  return text;
}

double flops(const Problem& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
         static_cast<double>(p.batch > 0 ? p.batch : 1);
}

}  // namespace quarry::command
