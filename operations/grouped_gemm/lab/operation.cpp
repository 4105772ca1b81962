#include "operations/grouped_gemm/lab/operation.hpp"

#include "common/config_parts.hpp"
#include "lab/expression/indices.hpp"
#include "operations/gemm/lab/scales.hpp"
#include "operations/grouped_gemm/lab/expression.hpp"

namespace quarry::lab::grouped_gemm {
namespace {

constexpr Setting own_settings[] = {
    {"type", "TYPE", "Element type of all operands"},
    {"a", "OPERAND", "How A is stored"},
    {"b", "OPERAND", "How B is stored"},
    {"a-scale", "tensor|row|1x128",
     "Scales of A in f32: one, of its rows, or of 128 of K in one of its rows"},
    {"b-scale", "tensor|column|1x128|128x128",
     "Scales of B in f32: one, of its columns, or of 128 of K in one or 128 of its columns"},
    {"form", "NAME", "How groups lie: contiguous, masked or ragged_k (contiguous)"},
    {"tokens", "N", "Rows (ragged_k: positions of K) of all groups together (128 for each group)"},
    {"distribution", "NAME", "How groups share them: even, uniform, zipf or one (even)"},
    {"largest", "N", "Rows of the largest group that the ranking expects (sizes between random cuts)"},
    {"sizes", "LIST|FILE", "Sizes of groups, instead of a distribution: 3,0,5, or a file of numbers"},
    {"sizes-are", "ends|counts", "What sizes mean (ends; counts for masked groups)"},
    {"room", "N",
     "Rows there are in all; of each masked group; or positions of K (as many as the groups need)"},
    {"outside", "keep|zero", "What becomes of rows outside of all groups (keep)"},
    {"wrong-sizes", "refuse|clamp", "What the host executor does with sizes that make no sense (refuse)"},
    {"accumulator", "TYPE",
     "Type that products are summed in (f64 operands: f64, s8 and u8: s32, others: f32)"},
};
/// C and the output, which have no batch of their own.
constexpr Setting output_settings[] = {c_settings[0], c_settings[1]};
constexpr auto all_settings = joined(own_settings, output_settings, epilogue_settings,
                                     gemm::expression_settings, gemm::table_settings, gemm::part_settings);

constexpr Example examples[] = {
    {"find", "quarry find grouped_gemm 8x4096x7168 bf16 --tokens 8192"},
    {"run", "quarry run grouped_gemm 4x64x96 bf16 --tokens 200 --distribution zipf --on host"},
    {"run",
     "quarry run grouped_gemm 3x128x96 bf16 --tokens 50 --epilogue 'out = silu(gate(sum)) * up(sum)' --on "
     "host"},
    {"run", "quarry run grouped_gemm 3x64x96 f16 --sizes 7,7,40 --room 50 --bias column --on host"},
};

}  // namespace

LabWords Lab::words() {
  return {
      .shape = "GxNxK",
      .problem = "8x4096x7168 bf16",
      .notes =
          "G GEMMs, each of a group of rows of A and its own B (KxN). With --form ragged_k, the shape is\n"
          "GxMxN: G outputs, each of a group of the columns of A and of the rows of B.",
      .examples = examples};
}

std::span<const Setting> Lab::settings() { return all_settings; }

NamedSizes Lab::sizes(const Problem& p) {
  return {{"groups", p.groups},
          {"m", p.out_rows()},
          {"n", p.n},
          {"k", p.form == GroupForm::ragged_k ? p.room : p.k}};
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
  const GroupParams groups = p.group_params();
  double rows = 0;
  int begin = 0;
  for (int group = 0; group < groups.groups; ++group) {
    const GroupSpan span = group_span(groups, group, groups.sizes[group], begin);
    begin = span.first + span.count;
    rows += span.count;
  }
  const double each =
      static_cast<double>(p.n) * static_cast<double>(p.form == GroupForm::ragged_k ? p.m : p.k);
  return 2 * rows * each;
}

std::vector<Operand> Lab::in_place(const Problem& p) {
  if (const Operand tensor = gemm::in_place_tensor(p.expression, p.in_place); tensor != Operand::none)
    return {tensor};
  return in_place_of(p.epilogue);
}

bool Lab::fill(const GroupedGemmArguments& arguments, Operand operand, const TensorView& view,
               const FillOptions& options) {
  if (arguments.expression && fill_indices(*arguments.expression, arguments.tensors, operand, view, options))
    return true;
  return fill_scales(arguments.out.dtype, operand, view, options);
}

std::vector<GivenValues> Lab::given(const Problem& p) {
  return {{.name = Operand::sizes, .values = {p.sizes.begin(), p.sizes.end()}}};
}

Tolerance Lab::tolerance(const KernelMetadata& kernel, const GroupedGemmArguments& args, Operand) {
  if (args.expression) return {};  // the reference knows the bound of each value
  return lab::tolerance(kernel, args.a.extents[args.a.rank - 1U], args.epilogue.activation);
}

}  // namespace quarry::lab::grouped_gemm
