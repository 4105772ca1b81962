#include "common/config_parts.hpp"
#include "lab/problems/controls_spec.hpp"
#include "operations/gemm/lab/expression.hpp"
#include "operations/gemm/lab/operation.hpp"
#include "operations/gemm/lab/scales.hpp"

namespace quarry::lab::gemm {
namespace {

std::string sizes_text(const Problem& p) {
  return std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
}

/// The types and layouts of A, B and the output. A type that is left out is the type of all operands, or else
/// of A, of B, of the output.
Status read_operands(SettingReader& reader, Problem& problem) {
  const auto type = reader.read("type", parse_dtype);
  const auto a = reader.read("a", parse_operand);
  const auto b = reader.read("b", parse_operand);
  const auto out = reader.read("out", parse_operand);
  if (!reader.status()) return reader.status();

  DType otherwise = type.value_or(DType::none);
  for (const auto* operand : {&a, &b, &out}) {
    if (otherwise == DType::none && *operand) otherwise = (*operand)->dtype.value_or(DType::none);
  }
  if (otherwise == DType::none) {
    return Status(StatusCode::parse_error,
                  "which type? Say it behind the shape (gemm 512x512x512 f16) or with --a");
  }
  problem.a = complete(a, otherwise);
  problem.b = complete(b, otherwise);
  problem.out = complete(out, otherwise);
  return {};
}

}  // namespace

DType Problem::sums() const { return accumulator.value_or(default_accumulator(a.dtype, b.dtype)); }

DType Problem::compute() const { return compute_type(sums(), out.dtype); }

DType Problem::expressed_sums() const {
  const bool is_promoted = is_blocked(a_scale.value_or(ScaleGranularity::tensor)) ||
                           is_blocked(b_scale.value_or(ScaleGranularity::tensor));
  return expressed_type(sums(), is_promoted);
}

GemmArguments Lab::arguments(const Problem& p) {
  const OutputSpec output = p.output();
  GemmArguments args = {.a = view_of(p.a, p.batch, p.m, p.k),
                        .b = view_of(p.b, p.batch, p.k, p.n),
                        .c = c_of(p.epilogue, output),
                        .out = view_of(p.out, p.batch, p.m, p.output_columns()),
                        .a_scale = scale_view(Operand::a_scale, p.a_scale, p.batch, {p.m, p.k}),
                        .a_scale_granularity = p.a_scale.value_or(ScaleGranularity::tensor),
                        .b_scale = scale_view(Operand::b_scale, p.b_scale, p.batch, {p.k, p.n}),
                        .b_scale_granularity = p.b_scale.value_or(ScaleGranularity::tensor),
                        .b_zero = zero_view(p.b_zero, p.b_scale, p.batch, {p.k, p.n}),
                        .accumulator = p.accumulator,
                        .math = p.math,
                        .accumulation = p.accumulation,
                        .epilogue = epilogue_of(p.epilogue, output, p.compute()),
                        .controls = p.controls};
  add_expression(p, args);
  return args;
}

Result<Problem> Lab::parse(std::string_view shape, SettingReader& reader) {
  const Result<std::vector<std::int64_t>> sizes = parse_sizes(shape, "MNK", "4096x4096x512");
  if (!sizes) return sizes.status();
  Problem problem{.m = (*sizes)[0], .n = (*sizes)[1], .k = (*sizes)[2]};
  problem.batch = read_batch(reader);
  problem.accumulator = reader.read("accumulator", parse_dtype);
  problem.math = reader.read("math", parse_math).value_or(Math::exact);
  problem.accumulation = reader.read("accumulation", parse_accumulation).value_or(Accumulation::fast);
  if (Status s = read_operands(reader, problem); !s) return s;
  check_batch(reader, "a", problem.a, problem.batch);
  check_batch(reader, "b", problem.b, problem.batch);
  check_batch(reader, "out", problem.out, problem.batch, true);
  problem.a_scale = reader.read("a-scale", parse_a_scale);
  problem.b_scale = reader.read("b-scale", parse_b_scale);
  problem.b_zero = reader.read("b-zero", parse_b_zero).has_value();
  problem.epilogue = read_epilogue(reader, problem.output());
  read_expression(reader, problem.expressed_sums(), problem.expression, problem.in_place);
  problem.table_rows = reader.integer("table-rows", std::int64_t{1} << 31).value_or(0);
  problem.controls = read_controls(reader);
  return problem;
}

std::string Lab::shape_text(const Problem& p) {
  return (p.batch > 0 ? std::to_string(p.batch) + "*" : "") + sizes_text(p);
}

std::string Lab::command_text(const Problem& p) {
  std::string text = sizes_text(p);
  text += flag_text("a", operand_text(p.a));
  text += flag_text("b", operand_text(p.b));
  if (p.a_scale) text += flag_text("a-scale", std::string(to_string(*p.a_scale)));
  if (p.b_scale) text += flag_text("b-scale", std::string(to_string(*p.b_scale)));
  if (p.b_zero) text += flag_text("b-zero", "u8");
  text += c_text(p.epilogue);
  text += flag_text("out", operand_text(p.out));
  if (p.batch > 0) text += flag_text("batch", std::to_string(p.batch));
  if (p.accumulator) text += flag_text("accumulator", std::string(to_string(*p.accumulator)));
  if (p.math != Math::exact) text += flag_text("math", std::string(to_string(p.math)));
  if (p.accumulation != Accumulation::fast)
    text += flag_text("accumulation", std::string(to_string(p.accumulation)));
  text += epilogue_text(p.epilogue) + expression_text(p.expression, p.in_place);
  if (p.table_rows > 0) text += flag_text("table-rows", std::to_string(p.table_rows));
  return text + controls_flags(p.controls);
}

}  // namespace quarry::lab::gemm
