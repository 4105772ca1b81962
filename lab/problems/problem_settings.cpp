#include "lab/problems/problem_settings.hpp"

#include <limits>
#include <utility>

namespace quarry::lab {
namespace {

constexpr Setting settings[] = {
    {"type", "TYPE", "Element type of all operands: f16, bf16, f32, f64, s8 or u8"},
    {"a", "OPERAND", "How A is stored"},
    {"b", "OPERAND", "How B is stored"},
    {"partials", "OPERAND", "Type and alignment of partial sums: f32, f64 or s32 (reduce_split_k)"},
    {"c", "OPERAND", "How C is stored (as the output), or `out`: in its memory; makes beta 1"},
    {"out", "OPERAND", "How the output is stored"},
    {"batch", "N", "Entries of a batch"},
    {"accumulator", "TYPE",
     "Type that products are summed in (f64 operands: f64, s8 and u8: s32, others: f32)"},
    {"math", "NAME", "What may be done to f32 operands: exact, fast_tf32, fast_f32, fast_f16 or fast_bf16"},
    {"alpha", "X", "Factor of the product (1)"},
    {"beta", "X", "Factor of C (0)"},
    {"activation", "NAME", "identity, relu, leaky_relu, tanh, sigmoid, silu, hardswish, gelu or gelu_tanh"},
    {"slope", "X", "Slope of leaky_relu for negative values (0.01)"},
    {"bias", "row|column", "Add a bias vector, one value for each row or column of the output"},
    {"scale", "row|column|tensor", "A factor of the product for each row, each column, or for all"},
    {"residual", "OPERAND", "Add a matrix after the activation, stored so, or `out`: in the output's memory"},
    {"aux", "OPERAND", "Write what the activation is applied to, stored so"},
    {"clamp", "LOW:HIGH", "Bounds of the output; either may be left out"},
    {"mode", "MODE",
     "gemm, split_k_serial, split_k_parallel, split_k_cluster or stream_k (otherwise chosen)"},
    {"split-k", "N", "Slices of K (otherwise chosen)"},
    {"swizzle", "N", "Tile columns that are walked together: 1, 2, 4 or 8 (otherwise chosen)"},
    {"raster", "ORDER", "Tiles are walked along_n or along_m first (otherwise chosen)"},
    {"multiprocessors", "N", "Most multiprocessors that a persistent kernel uses (all)"},
};

/// Reads settings, keeping the first failure.
class Reader {
 public:
  explicit Reader(const SettingTexts& texts) : texts_(texts) {}

  /// The setting read by `parse`, or nothing where it is not set or wrong.
  template <class Parse>
  auto read(std::string_view name, Parse parse) -> std::optional<std::decay_t<decltype(*parse(name))>> {
    const auto text = texts_.find(name);
    if (text == texts_.end() || !status_) return std::nullopt;
    auto value = parse(std::string_view(text->second));
    if (value) return *value;
    status_ = Status(value.status().code(), "--" + std::string(name) + ": " + value.status().message());
    return std::nullopt;
  }

  /// The setting's text, empty where it is not set.
  std::string_view text(std::string_view name) const {
    const auto text = texts_.find(name);
    return text == texts_.end() ? std::string_view() : text->second;
  }

  std::optional<double> number(std::string_view name) {
    return read(name, [](std::string_view text) { return parse_number("value", text); });
  }

  std::optional<std::int64_t> integer(std::string_view name, std::int64_t most) {
    return read(name, [most](std::string_view text) { return parse_integer("value", text, 1, most); });
  }

  const Status& status() const { return status_; }

 private:
  const SettingTexts& texts_;
  Status status_;
};

OperandSpec complete(const std::optional<OperandParts>& parts, DType otherwise) {
  if (!parts) return {.dtype = otherwise};
  return {.dtype = parts->dtype.value_or(otherwise),
          .layout = parts->layout.value_or(Layout::row),
          .ld = parts->ld,
          .alignment = parts->alignment,
          .array = parts->array};
}

/// The types and layouts. A type that is left out is that of all operands, or else that of A, of B, of the
/// output.
Status read_operands(Reader& reader, Problem& problem) {
  const auto type = reader.read("type", parse_dtype);
  const auto a = reader.read("a", parse_operand);
  const auto b = reader.read("b", parse_operand);
  problem.in_place = reader.text("c") == "out";
  const auto c = problem.in_place ? std::nullopt : reader.read("c", parse_operand);
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
  if (c) problem.c = complete(c, problem.out.dtype);
  return {};
}

/// Settings of GEMMs that a reduction has not.
constexpr std::string_view settings_of_products[] = {
    "a", "b", "accumulator", "math", "mode", "split-k", "swizzle", "raster", "multiprocessors"};

/// The same of a reduction: partial sums, C and the output, whose type is that of the partial sums unless it
/// is said.
Status read_reduced(Reader& reader, Problem& problem) {
  for (const std::string_view name : settings_of_products) {
    if (!reader.text(name).empty())
      return Status(StatusCode::parse_error, "--" + std::string(name) + " does not go with reduce_split_k");
  }
  const auto type = reader.read("type", parse_dtype);
  const auto partials = reader.read("partials", parse_operand);
  problem.in_place = reader.text("c") == "out";
  const auto c = problem.in_place ? std::nullopt : reader.read("c", parse_operand);
  const auto out = reader.read("out", parse_operand);
  if (!reader.status()) return reader.status();
  if (partials && (partials->layout || partials->ld != 0 || partials->array))
    return Status(StatusCode::parse_error, "--partials: partial sums are packed: expected TYPE[:align=N]");
  problem.a = complete(partials, type.value_or(DType::none));
  if (problem.a.dtype == DType::none) {
    return Status(StatusCode::parse_error,
                  "which type? Say that of the partial sums behind the shape (reduce_split_k 8x512x512 f32)");
  }
  problem.accumulator = problem.a.dtype;
  problem.out = complete(out, problem.a.dtype);
  if (c) problem.c = complete(c, problem.out.dtype);
  return {};
}

Status read_epilogue(Reader& reader, Problem& problem) {
  problem.alpha = reader.number("alpha").value_or(1);
  problem.beta = reader.number("beta").value_or(problem.c || problem.in_place ? 1 : 0);
  problem.activation = reader.read("activation", parse_activation).value_or(Activation::identity);
  problem.slope = static_cast<float>(reader.number("slope").value_or(0.01));
  problem.bias = reader.read("bias", parse_bias_axis);
  problem.scale = reader.read("scale", parse_scale_axis);
  problem.clamp = reader.read("clamp", parse_clamp).value_or(Clamp{});
  problem.residual_in_place = reader.text("residual") == "out";
  const auto residual = problem.residual_in_place ? std::nullopt : reader.read("residual", parse_operand);
  if (residual) problem.residual = complete(residual, problem.out.dtype);
  const auto aux = reader.read("aux", parse_operand);
  if (aux) problem.aux = complete(aux, problem.out.dtype);
  return reader.status();
}

/// An array has an entry for each of a batch.
Status check_arrays(Reader&, Problem& problem) {
  const std::pair<const char*, std::optional<OperandSpec>> operands[] = {{"a", problem.a},
                                                                         {"b", problem.b},
                                                                         {"c", problem.c},
                                                                         {"out", problem.out},
                                                                         {"residual", problem.residual},
                                                                         {"aux", problem.aux}};
  for (const auto& [name, spec] : operands) {
    if (!spec || !spec->array) continue;
    if (is_interleaved(spec->layout)) {
      return Status(StatusCode::parse_error,
                    "--" + std::string(name) +
                        ": the matrices of an array of pointers are stored by rows or "
                        "columns, not interleaved");
    }
    if (problem.batch > 0) continue;
    return Status(StatusCode::parse_error,
                  "--" + std::string(name) + ": an array of pointers goes with a batch; say --batch N");
  }
  return {};
}

Status read_controls(Reader& reader, Problem& problem) {
  constexpr std::int64_t int_max = std::numeric_limits<int>::max();
  const auto as_int = [](std::optional<std::int64_t> value) {
    return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
  };
  problem.controls.mode = reader.read("mode", parse_mode);
  problem.controls.split_k_slices = as_int(reader.integer("split-k", int_max));
  problem.controls.swizzle = as_int(reader.integer("swizzle", int_max));
  problem.controls.raster = reader.read("raster", parse_raster);
  problem.controls.multiprocessors = as_int(reader.integer("multiprocessors", int_max));
  return reader.status();
}

}  // namespace

std::span<const Setting> problem_settings() { return settings; }

Result<Problem> make_problem(const Shape& shape, const SettingTexts& texts, Operation operation) {
  const bool reduces = operation == Operation::reduce_split_k;
  Problem problem{.m = shape.m, .n = shape.n, .k = shape.k, .operation = operation};
  Reader reader(texts);
  if (!reduces && !reader.text("partials").empty())
    return Status(StatusCode::parse_error, "--partials goes with reduce_split_k");
  problem.batch = reader.integer("batch", std::numeric_limits<std::int64_t>::max()).value_or(0);
  problem.accumulator = reader.read("accumulator", parse_dtype);
  problem.math = reader.read("math", parse_math).value_or(Math::exact);
  for (const auto read :
       {reduces ? read_reduced : read_operands, read_epilogue, check_arrays, read_controls}) {
    if (Status status = read(reader, problem); !status) return status;
  }
  return problem;
}

}  // namespace quarry::lab
