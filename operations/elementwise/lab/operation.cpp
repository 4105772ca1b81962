#include "operations/elementwise/lab/operation.hpp"

namespace quarry::lab::elementwise {
namespace {

constexpr Setting all_settings[] = {
    {"type", "TYPE", "Element type of `out`, and of x where --with does not say"},
    {"epilogue", "TEXT", "The expression: 'out = x + y' (out = x)"},
    {"with", "LIST", "Its tensors: x=bf16:row,bias=f32:per_column"},
    {"align", "N", "Elements that pointers are multiples of, 16 bytes at most"},
    {"lines", "N", "Lines of matrices are N to 2N - 1 elements longer than needed, a multiple of N"},
    {"in-place", "NAME", "An input that is `out` itself"},
    {"table-rows", "N", "Rows of each tensor that is declared gathered (as many as `out` has)"},
};

constexpr Example examples[] = {
    {"find", "quarry find elementwise 4096x4096 bf16 --epilogue 'out = x + y' --with x=bf16:row,y=bf16:row"},
    {"run", "quarry run elementwise 640x320 bf16 --epilogue 'out = x' --with x=f32:row"},
    {"run",
     "quarry run elementwise 3x40x50 f32 --epilogue 'out = gelu(x + b)' --with x=f16:row,b=f32:per_column "
     "--on "
     "host"},
    {"bench",
     "quarry bench elementwise 4096x4096 bf16 --epilogue 'out = x + y' --with x=bf16:row,y=bf16:row"},
};

}  // namespace

LabWords Lab::words() {
  return {.shape = "N | MxN | LxMxN | KxLxMxN",
          .problem = "4096x4096 bf16",
          .notes = "`out`, of type TYPE, is the expression --epilogue of the tensors --with.",
          .examples = examples};
}

std::span<const Setting> Lab::settings() { return all_settings; }

NamedSizes Lab::sizes(const Problem& p) {
  static constexpr std::string_view names[] = {"k", "l", "m", "n"};
  NamedSizes sizes;
  for (std::size_t i = 0; i < p.extents.size(); ++i)
    sizes.push_back({names[4 - p.extents.size() + i], p.extents[i]});
  return sizes;
}

void Lab::add_settings(const KernelMetadata&, SettingTexts& texts) { texts.try_emplace("type", "bf16"); }

double Lab::flops(const Problem& p) {
  double elements = 1;
  for (const std::int64_t extent : p.extents) elements *= static_cast<double>(extent);
  return elements;
}

Tolerance Lab::tolerance(const KernelMetadata&, const ElementwiseArguments&, Operand) { return {}; }

}  // namespace quarry::lab::elementwise
