#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>

#include "text.hpp"

namespace quarry::golden {
namespace {

/// As printf writes it.
__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  char text[256];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

/// The number of a word: a spoiled one has no name.
template <class Word>
int number(Word word) {
  return static_cast<int>(word);
}

unsigned long long address(const void* data) {
  return static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(data));
}

std::string numbers(const std::array<std::int64_t, TensorView::max_rank>& values, std::size_t rank) {
  std::string text;
  for (std::size_t i = 0; i < std::min(rank, values.size()); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(values[i]);
  }
  return "(" + text + ")";
}

std::string view_text(std::string_view name, const TensorView& view) {
  std::string text = std::string(name) + ": " + std::string(to_string(view.dtype)) + " rank " +
                     std::to_string(view.rank) + " extents " + numbers(view.extents, view.rank) +
                     " strides " + numbers(view.strides, view.rank);
  text += format(" tag %d%s at %llx aligned %d memory %d:%d\n", number(view.tag),
                 view.is_pointer_array ? " array" : "", address(view.data), view.assumed_alignment,
                 number(view.memory.kind), view.memory.device);
  return text;
}

std::string scalar_text(const char* name, const Scalar& scalar) {
  return format("%s: %a at %llx\n", name, scalar.value, address(scalar.pointer));
}

std::string epilogue_text(const Epilogue& e) {
  return scalar_text("alpha", e.alpha) + scalar_text("beta", e.beta) +
         format("activation: %d slope %a\n", number(e.activation), static_cast<double>(e.leaky_slope)) +
         format("axes: bias %d scale %d\n", number(e.bias_axis), number(e.scale_axis)) +
         format("clamp: %a %a\n", e.clamp.low, e.clamp.high);
}

std::string gemm_text(const GemmArguments& args) {
  const Controls& c = args.controls;
  return format("accumulator: %d\nmath: %d\n", args.accumulator ? number(*args.accumulator) : -1,
                number(args.math)) +
         format("controls: mode %d slices %d swizzle %d raster %d multiprocessors %d\n",
                c.mode ? number(*c.mode) : -1, c.split_k_slices.value_or(-9), c.swizzle.value_or(-9),
                c.raster ? number(*c.raster) : -1, c.multiprocessors.value_or(-9));
}

}  // namespace

std::string problem_text(Problem& problem) {
  std::string text = problem.reduces ? "operation: reduce_split_k\n" : "operation: gemm\n";
  for (const auto& [name, view] : operands(problem)) text += view_text(name, *view);
  if (!problem.reduces) text += gemm_text(problem.gemm);
  text += epilogue_text(problem.epilogue());
  const FindOptions& o = problem.options;
  text += "filter: " + std::string(problem.filter) + "\n";
  text += format("options: order %d limit %zu workspace %zu explain %d\n", number(o.order), o.limit,
                 o.max_workspace, o.explain ? 1 : 0);
  const DeviceModel& d = problem.device;
  text += format("device: %s cc %d multiprocessors %d clock %a shared memory %d\n", d.name, d.cc,
                 d.multiprocessors, d.clock, d.shared_memory_per_block);
  return text;
}

}  // namespace quarry::golden
