#include "operations/reorder/lab/operation.hpp"

namespace quarry::lab::reorder {
namespace {

constexpr Setting all_settings[] = {
    {"type", "TYPE", "Element type of both matrices"},
    {"from", "OPERAND", "How the matrix is stored"},
    {"to", "OPERAND", "How its copy is stored"},
    {"batch", "N", "Entries of a batch"},
};

constexpr Example examples[] = {
    {"find", "quarry find reorder 4096x4096 s8 --from row --to row32"},
    {"run", "quarry run reorder 640x320 s8 --from row --to col32"},
    {"run", "quarry run reorder 300x200 f16 --from row:ld=208 --to col --batch 2 --on host"},
    {"bench", "quarry bench reorder 4096x4096 s8 --from row --to row32"},
};

}  // namespace

LabWords Lab::words() {
  return {
      .shape = "MxN",
      .problem = "4096x4096 s8",
      .notes = "Copies the matrix `from` (MxN) to `to`, from one layout to another. Both have the type TYPE.",
      .examples = examples};
}

std::span<const Setting> Lab::settings() { return all_settings; }

NamedSizes Lab::sizes(const Problem& p) { return {{"m", p.m}, {"n", p.n}, {"batch", p.batch}}; }

void Lab::add_settings(const KernelMetadata& kernel, SettingTexts& texts) {
  texts.try_emplace("type", to_string(kernel.operands.out.dtype));
}

double Lab::flops(const Problem& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.batch > 0 ? p.batch : 1);
}

Tolerance Lab::tolerance(const KernelMetadata&, const ReorderArguments&, Operand) { return {}; }

}  // namespace quarry::lab::reorder
