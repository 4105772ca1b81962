#include "entry_text.hpp"

#include "quarry/tensor.hpp"
#include "reduce_split_k/describe.hpp"
#include "reorder_matrix/describe.hpp"

namespace quarry {

std::string architecture(int target, int only_cc) {
  return std::to_string(target) + (only_cc == target ? "a" : "");
}

/// See arch::to_tf32.
static bool rounds_to_tf32(const KernelMetadata& kernel) {
  return kernel.design.math == Math::fast_tf32 || kernel.design.math == Math::fast_f32;
}

/// C++ type of what a config's kernel is launched with.
static std::string params_of(const ConfigSpace& space, const SettingValues& values,
                             const KernelMetadata& kernel) {
  const std::string_view own = space.own_params == nullptr ? "" : space.own_params(values);
  if (!own.empty()) return std::string(own);
  const ScaleSupport scales = kernel.operands.scales;
  if (scales == ScaleSupport::zero_points) return std::string(space.zero_params);
  return std::string(scales == ScaleSupport::none ? space.params : space.scaled_params);
}

EntryText entry_text(const ConfigSpace& space, const SettingValues& values) {
  const std::string folder(space.family);
  const KernelMetadata kernel = space.describe(values, "");
  return {.name = config_name(space, values),
          .folder = folder,
          .params = params_of(space, values, kernel),
          .config_type = "quarry::" + folder + "::Config",
          .config_literal = space.literal(values),
          .only_cc = kernel.max_cc.value_or(0),
          .differs_by_target = rounds_to_tf32(kernel)};
}

/// The reduction that follows a parallel split-K.
static std::string reduction_name(const KernelMetadata& kernel) {
  const OperandMetadata& out = kernel.operands.out;
  const Layout layout = is_interleaved(out.layout) ? Layout::column_interleaved32 : Layout::row;
  return reduce_split_k::name_of({partial_type(kernel.operands.accumulator), out.dtype, layout});
}

std::vector<std::string> companion_names(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  const bool reorders = kernel.design.reorders;
  if (reorders && kernel.operation == Operation::conv2d)
    return {reorder_matrix::name_of(o.a.dtype), reorder_matrix::name_of(o.out.dtype)};
  std::vector<std::string> names;
  if (kernel.modes.split_k_parallel) names.push_back(reduction_name(kernel));
  if (!reorders) return names;
  names.resize(1);
  names.push_back(reorder_matrix::name_of(o.a.dtype));
  return names;
}

std::string instantiation(std::span<const EntryText> entries) {
  std::string text = "#include \"" + entries.front().folder + "/kernel.cuh\"\n\n";
  for (const EntryText& entry : entries) {
    text += "QUARRY_ENTRY(" + entry.name + ", " + entry.params + ", quarry::" + entry.folder + "::kernel,\n" +
            "             (" + entry.config() + "))\n";
  }
  return text;
}

}  // namespace quarry
