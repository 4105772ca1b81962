#include "operations/reorder/lab/operation.hpp"

namespace quarry::lab::reorder {
namespace {

constexpr Setting all_settings[] = {
    {"type", "TYPE", "Element type of both matrices"},
    {"from", "OPERAND", "How the matrix is stored"},
    {"to", "OPERAND", "How its copy is stored"},
    {"batch", "N", "Entries of a batch"},
    {"tensor", "images|filters", "What a shape of four sizes is: where col32 has its groups (images)"},
};

constexpr Example examples[] = {
    {"find", "quarry find reorder 4096x4096 s8 --from row --to row32"},
    {"run", "quarry run reorder 640x320 s8 --from row --to col32"},
    {"run", "quarry run reorder 8x14x14x64 s8 --from row --to col32"},
    {"run", "quarry run reorder 300x200 f16 --from row:ld=208 --to col --batch 2 --on host"},
    {"bench", "quarry bench reorder 4096x4096 s8 --from row --to row32"},
};

}  // namespace

LabWords Lab::words() {
  return {.shape = "MxN",
          .problem = "4096x4096 s8",
          .notes =
              "Copies the matrix `from` (MxN) to `to`, from one layout to another. Both have the type TYPE.\n"
              "Four sizes are images NxHxWxC, or filters KxRxSxC, of which `col32` is nc32hw32 or c32rsk32.",
          .examples = examples};
}

std::span<const Setting> Lab::settings() { return all_settings; }

NamedSizes Lab::sizes(const Problem& p) {
  if (p.tensor) {
    const auto& e = *p.tensor;
    return {{"n", e[0]}, {"h", e[1]}, {"w", e[2]}, {"c", e[3]}};
  }
  return {{"m", p.m}, {"n", p.n}, {"batch", p.batch}};
}

void Lab::add_settings(const KernelMetadata& kernel, SettingTexts& texts) {
  texts.try_emplace("type", to_string(kernel.operands.out.dtype));
}

double Lab::flops(const Problem& p) {
  if (p.tensor) {
    double elements = 1;
    for (const std::int64_t extent : *p.tensor) elements *= static_cast<double>(extent);
    return elements;
  }
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.batch > 0 ? p.batch : 1);
}

Tolerance Lab::tolerance(const KernelMetadata&, const ReorderArguments&, Operand) { return {}; }

}  // namespace quarry::lab::reorder
