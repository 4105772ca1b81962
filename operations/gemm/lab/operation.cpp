#include "operations/gemm/lab/operation.hpp"

#include "lab/problems/controls_spec.hpp"
#include "operations/gemm/lab/cublaslt.hpp"
#include "operations/gemm/lab/expression.hpp"

namespace quarry::lab::gemm {
namespace {

constexpr Setting operand_settings[] = {
    {"type", "TYPE", "Element type of all operands: f16, bf16, f32, f64, s8 or u8"},
    {"a", "OPERAND", "How A is stored"},
    {"b", "OPERAND", "How B is stored"},
    {"a-scale", "tensor|row|1x128|1x64|1x32",
     "Scales of A, in f32: one, each row, or 128 of K in a row; 1x64, 1x32: gemm, narrow weights"},
    {"b-scale", "tensor|column|1x128|128x128|1x64|1x32",
     "Scales of B, in f32: one, each column, or 128 of K in 1 or 128 columns; 1x64, 1x32: as for A"},
    {"b-zero", "u8", "Zero points of u4 or u8 weights, one beside each scale of B"},
};
constexpr Setting sum_settings[] = {
    {"accumulator", "TYPE",
     "Type that products are summed in (f64 operands: f64, s8 and u8: s32, others: f32)"},
    {"math", "NAME", "How f32 operands may be rounded: exact, fast_tf32, fast_f32, fast_f16 or fast_bf16"},
    {"accumulation", "fast|precise",
     "Sums of 8-bit floats: in the matrix instruction, or in f32 every 128 of K (fast)"},
};
constexpr auto all_settings = joined(operand_settings, c_settings, sum_settings, epilogue_settings,
                                     expression_settings, table_settings, controls_settings);

constexpr Example examples[] = {
    {"", "quarry find gemm 4096x4096x4096 bf16 --explain"},
    {"", "quarry run gemm 300x200x100 --a f16:row --b f16:col --out f16:row:ld=208"},
    {"find", "quarry find gemm 4096x4096x4096 bf16 --explain"},
    {"find", "quarry find gemm 300x200x100 --a f16:row --b f16:col --out f16:row:ld=208 --limit 3"},
    {"find", "quarry find gemm 64x64x8192 f16 --max-workspace 0 --where 'tile.m <= 64' --format json"},
    {"find", "quarry find gemm 512x512x512 f16 --device-model a100 --format names --limit 2"},
    {"run", "quarry run gemm 300x200x100 f16"},
    {"run",
     "quarry run gemm 300x200x100 --a f16:row --b f16:col --out f16:row:ld=208 --bias column "
     "--activation gelu"},
    {"run",
     "quarry run gemm 96x80x64 bf16 --epilogue 'out = gelu(sum + x) * y' --with x=f32:per_column,y=bf16:row "
     "--on host"},
    {"run", "quarry run gemm 64x64x2048 f32 --alpha 0.5 --beta 2 --seed 7 --on host --format json"},
    {"bench", "quarry bench gemm 4096x4096x4096 bf16 --b col"},
    {"bench", "quarry bench gemm 16x8192x8192 f16 --b col --all --where 'family != gemm_simt'"},
    {"bench",
     "quarry bench gemm 512x512x512 bf16 --b col --repeats 5 --dump-times times.jsonl --format json"},
    {"tune", "quarry tune gemm 64x4096x4096 bf16 --b col -o table.jsonl"},
    {"tune", "quarry tune gemm 1x4096x4096 bf16 --b col --m 1..64 --budget 60 -o table.jsonl"},
    {"verify", "quarry find gemm 64x64x64 f16 --limit 2 --format names | quarry verify -"},
    {"show", "quarry find gemm 512x512x512 f16 --limit 2 --format names | quarry show - --format json"},
    {"pack",
     "quarry find gemm 512x512x512 f16 --limit 2 --format names | quarry pack - -o best.pack --target 80,90"},
    {"export",
     "quarry find gemm 512x512x512 f16 --where 'family == gemm_sm80' --limit 1 --format names | "
     "quarry export - -o exported"},
};
constexpr std::string_view shape_members[] = {"m", "n", "k"};

}  // namespace

LabWords Lab::words() {
  return {
      .shape = "MxNxK",
      .problem = "4096x4096x4096 f16",
      .notes =
          "z (MxN) = alpha * scale * A (MxK) x B (KxN) + beta * C + bias,\n"
          "out = clamp(activation(z) + residual), or what --epilogue says. TYPE is the type of all operands.",
      .examples = examples,
      .shape_members = shape_members};
}

std::span<const Setting> Lab::settings() { return all_settings; }

NamedSizes Lab::sizes(const Problem& p) { return {{"m", p.m}, {"n", p.n}, {"k", p.k}, {"batch", p.batch}}; }

void Lab::add_settings(const KernelMetadata& kernel, SettingTexts& texts) {
  const OperandsMetadata& operands = kernel.operands;
  const auto spec = [](const OperandMetadata& operand) {
    return std::string(to_string(operand.dtype)).append(":").append(layout_word(operand.layout));
  };
  texts.try_emplace("a", spec(operands.a));
  texts.try_emplace("b", spec(operands.b));
  texts.try_emplace("out", spec(operands.out));
  texts.try_emplace("accumulator", to_string(operands.accumulator));
  texts.try_emplace("math", to_string(kernel.design.math));
}

double Lab::flops(const Problem& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
         static_cast<double>(p.batch > 0 ? p.batch : 1);
}

std::vector<Operand> Lab::in_place(const Problem& p) {
  if (const Operand tensor = in_place_tensor(p.expression, p.in_place); tensor != Operand::none)
    return {tensor};
  return in_place_of(p.epilogue);
}

Tolerance Lab::tolerance(const KernelMetadata& kernel, const GemmArguments& args, Operand) {
  if (args.expression) return {};  // the reference knows the bound of each value
  return lab::tolerance(kernel, args.a.extents[args.a.rank - 1U], args.epilogue.activation);
}

Result<std::unique_ptr<Yardstick>> Lab::yardstick(const CublasLt& library, const Problem& problem,
                                                  const YardstickOptions& options) {
  if (problem.expression)
    return Status(StatusCode::unsupported, "cuBLASLt has no epilogues that users write");
  Result<CublasLtProblem> made = CublasLtProblem::make(library, problem, options);
  if (!made) return made.status();
  return std::unique_ptr<Yardstick>(std::make_unique<CublasLtProblem>(*std::move(made)));
}

}  // namespace quarry::lab::gemm
