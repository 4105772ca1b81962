#include "entry_text.hpp"

#include "quarry/tensor.hpp"

namespace quarry {
namespace {

EntryText reduction_entry(DType partial, DType out) {
  const std::string from(to_string(partial));
  const std::string to(to_string(out));
  return {.name = reduction_name({partial, partial, partial, out}),
          .folder = "reduce_split_k",
          .params = "quarry::ReduceParams",
          .config_type = "quarry::reduce_split_k::Config",
          .config_literal = "{quarry::DType::" + from + ", quarry::DType::" + to + "}"};
}

}  // namespace

std::string architecture(int target, int only_cc) {
  return std::to_string(target) + (only_cc == target ? "a" : "");
}

/// See arch::to_tf32.
static bool rounds_to_tf32(const KernelMetadata& kernel) {
  return kernel.design.math == Math::fast_tf32 || kernel.design.math == Math::fast_f32;
}

EntryText entry_text(const ConfigSpace& space, const SettingValues& values) {
  const std::string folder(space.family);
  const KernelMetadata kernel = space.describe(values, "");
  return {.name = config_name(space, values),
          .folder = folder,
          .params = std::string(space.params),
          .config_type = "quarry::" + folder + "::Config",
          .config_literal = space.literal(values),
          .only_cc = kernel.max_cc.value_or(0),
          .differs_by_target = rounds_to_tf32(kernel)};
}

std::vector<EntryText> reduction_entries() {
  std::vector<EntryText> entries;
  for (const DType partial : {DType::f32, DType::f64}) {
    for (const DType out : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      entries.push_back(reduction_entry(partial, out));
    }
  }
  for (const DType out : {DType::s32, DType::s8, DType::u8, DType::f32}) {
    entries.push_back(reduction_entry(DType::s32, out));
  }
  return entries;
}

std::string reduction_name(const Types& types) {
  const DType partial = partial_type(types.accumulator);
  return "reduce_split_k_" + std::string(to_string(partial)) + "_" + std::string(to_string(types.out));
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
