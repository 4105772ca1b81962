#include "operations/reduce_split_k/lab/operation.hpp"

namespace quarry::lab::reduce_split_k {
namespace {

constexpr Setting own_settings[] = {
    {"type", "TYPE", "Element type of the partial sums"},
    {"partials", "OPERAND", "Type and alignment of partial sums: f32, f64 or s32"},
};
constexpr auto all_settings = joined(own_settings, c_settings, epilogue_settings);

constexpr Example examples[] = {
    {"find", "quarry find reduce_split_k 8x1024x4096 f32 --out f16"},
    {"run", "quarry run reduce_split_k 6x300x200 f32 --out f16 --bias column --on host"},
};

}  // namespace

LabWords Lab::words() {
  return {.shape = "SxMxN",
          .problem = "8x1024x4096 f32",
          .notes = "S slices of partial sums (MxN) of that TYPE are added up in the place of A x B.",
          .examples = examples};
}

std::span<const Setting> Lab::settings() { return all_settings; }

NamedSizes Lab::sizes(const Problem& p) {
  return {{"slices", p.slices}, {"m", p.m}, {"n", p.n}, {"batch", p.batch}};
}

void Lab::add_settings(const KernelMetadata& kernel, SettingTexts& texts) {
  texts.try_emplace("partials", to_string(kernel.operands.accumulator));
  const OperandMetadata& out = kernel.operands.out;
  texts.try_emplace("out", std::string(to_string(out.dtype)).append(":").append(layout_word(out.layout)));
}

double Lab::flops(const Problem& p) {
  return static_cast<double>(p.slices) * static_cast<double>(p.m) * static_cast<double>(p.n) *
         static_cast<double>(p.batch > 0 ? p.batch : 1);
}

std::vector<Operand> Lab::in_place(const Problem& p) { return in_place_of(p.epilogue); }

Tolerance Lab::tolerance(const KernelMetadata& kernel, const ReduceSplitKArguments& args, Operand) {
  return lab::tolerance(kernel, args.partials.extents[0]);
}

}  // namespace quarry::lab::reduce_split_k
