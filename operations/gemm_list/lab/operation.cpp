#include "operations/gemm_list/lab/operation.hpp"

#include "common/config_parts.hpp"
#include "lab/expression/indices.hpp"
#include "operations/gemm/lab/scales.hpp"
#include "operations/gemm_list/lab/expression.hpp"
#include "operations/gemm_list/lab/sizes.hpp"

namespace quarry::lab::gemm_list {
namespace {

constexpr Setting own_settings[] = {
    {"type", "TYPE", "Element type of all operands"},
    {"a", "OPERAND", "How A is stored"},
    {"b", "OPERAND", "How B is stored"},
    {"a-scale", "tensor|row|1x128",
     "Scales of A in f32 for each problem: one, of its rows, or of 128 of K in one of its rows"},
    {"b-scale", "tensor|column|1x128|128x128",
     "Scales of B in f32 for each problem: one, of its columns, or of 128 of K in one or 128 of its columns"},
    {"bounds", "MxNxK", "Extents that no problem exceeds (the largest of the list)"},
    {"sizes", "LIST|FILE", "Sizes that the operand holds instead of the shape's, sensible or not"},
    {"leading", "packed|LIST",
     "Leading dimensions of each problem, A:B:C:OUT,...; packed: of lines without padding"},
    {"leading-alignment", "N",
     "Multiple that leading dimensions of A and B are promised to be (the most, up to 16)"},
    {"schedule", "device|host", "Where tiles are counted: in the kernel, or at the launch (device)"},
    {"wrong-sizes", "refuse|clamp", "What the host executor does with sizes that make no sense (refuse)"},
    {"accumulator", "TYPE",
     "Type that products are summed in (f64 operands: f64, s8 and u8: s32, others: f32)"},
};
/// C and the output, which have no batch of their own.
constexpr Setting output_settings[] = {c_settings[0], c_settings[1]};
constexpr auto all_settings = joined(own_settings, output_settings, epilogue_settings,
                                     gemm::expression_settings, gemm::table_settings, gemm::part_settings);

constexpr Example examples[] = {
    {"find", "quarry find gemm_list 64x64x64,128x32x512,4*512x512x1024 bf16"},
    {"run", "quarry run gemm_list 64x64x64,128x32x512 f16 --leading packed --bias column --on host"},
};

}  // namespace

LabWords Lab::words() {
  return {.shape = "MxNxK,...",
          .problem = "64x64x64,128x32x512 bf16",
          .notes =
              "GEMMs of one type, each with its own extents and pointers, in one launch. 4*64x64x64 is\n"
              "four of them. Instead of the list, the name of a file that holds one may stand.",
          .examples = examples};
}

std::span<const Setting> Lab::settings() { return all_settings; }

NamedSizes Lab::sizes(const Problem& p) {
  return {{"problems", p.count()}, {"m", p.bounds.m}, {"n", p.bounds.n}, {"k", p.bounds.k}};
}

void Lab::add_settings(const KernelMetadata& kernel, SettingTexts& texts) {
  const OperandsMetadata& operands = kernel.operands;
  const auto spec = [](const OperandMetadata& operand) {
    return std::string(to_string(operand.dtype)).append(":").append(layout_word(operand.layout));
  };
  texts.try_emplace("a", spec(operands.a));
  texts.try_emplace("b", spec(operands.b));
  texts.try_emplace("out", spec(operands.out));
  texts.try_emplace("accumulator", to_string(operands.accumulator));
}

double Lab::flops(const Problem& p) {
  double sum = 0;
  for (std::size_t i = 0; i < p.sizes.size(); ++i) {
    const ListExtents own = p.own(i);
    sum += 2.0 * own.m * own.n * own.k;
  }
  return sum;
}

std::vector<Operand> Lab::in_place(const Problem& p) {
  if (const Operand tensor = gemm::in_place_tensor(p.expression, p.in_place); tensor != Operand::none)
    return {tensor};
  return in_place_of(p.epilogue);
}

bool Lab::fill(const GemmListArguments& arguments, Operand operand, const TensorView& view,
               const FillOptions& options) {
  if (arguments.expression && fill_indices(*arguments.expression, arguments.tensors, operand, view, options))
    return true;
  return fill_scales(arguments.out.dtype, operand, view, options);
}

std::vector<GivenValues> Lab::given(const Problem& p) {
  GivenValues sizes = {.name = Operand::sizes, .values = {}};
  for (const ListExtents& each : p.sizes)
    for (const int extent : {each.m, each.n, each.k}) sizes.values.push_back(extent);
  std::vector<GivenValues> all = {sizes};
  if (p.leading.empty()) return all;
  GivenValues& leading = all.emplace_back(GivenValues{.name = Operand::leading, .values = {}});
  for (const Leading& each : p.leading) leading.values.insert(leading.values.end(), each.begin(), each.end());
  return all;
}

Tolerance Lab::tolerance(const KernelMetadata& kernel, const GemmListArguments& args, Operand) {
  if (args.expression) return {};  // the reference knows the bound of each value
  return lab::tolerance(kernel, args.a.extents[args.a.rank - 1U], args.epilogue.activation);
}

}  // namespace quarry::lab::gemm_list
