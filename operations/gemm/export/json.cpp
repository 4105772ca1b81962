/// NAME.json of an exported kernel.
#include <string>
#include <vector>

#include "basic/json_writer.hpp"
#include "basic/words.hpp"
#include "operations/gemm/export/export.hpp"
#include "operations/gemm/export/params_layout.hpp"
#include "operations/gemm/expression.hpp"
#include "quarry/tensor.hpp"
#include "quarry/version.hpp"
#include "reduce_split_k/config.hpp"

namespace quarry::detail {
namespace {

constexpr int schema_version = 1;

/// Types of fields by names that are the same in every language.
std::string_view plain_type(const ParamField& field) {
  if (field.type.ends_with('*')) return "pointer";
  if (field.type == "long long") return "int64";
  if (field.type == "int") return "int32";
  if (field.type == "unsigned char") return "uint8";
  return field.type == "double" ? "float64" : "float32";
}

/// Every number and pointer of a struct, members of members as "a.row_stride".
void write_fields(JsonWriter& json, const ParamStruct& s, const std::string& prefix, std::size_t offset,
                  const std::string& context) {
  for (const ParamField& field : s.fields) {
    const std::string name = prefix + std::string(field.name);
    const std::string meaning = context + std::string(field.meaning);
    if (const ParamStruct* const inner = find_param_struct(field.type)) {
      write_fields(json, *inner, name + ".", offset + field.offset, meaning + ": ");
      continue;
    }
    json.begin_object().text("name", name);
    json.number("offset", static_cast<std::int64_t>(offset + field.offset));
    json.number("size", static_cast<std::int64_t>(field.size));
    json.text("type", plain_type(field)).text("meaning", meaning).end_object();
  }
}

/// The tensors of an expression behind other parameters.
void write_tensor_fields(JsonWriter& json, const Expression& expression, std::size_t offset) {
  const ParamStruct& tensor = *find_param_struct(expression_tensor_name);
  const std::vector<OwnTensor> tensors = own_tensors(expression);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    write_fields(json, tensor, "tensors[" + std::to_string(i) + "].", offset + i * tensor.bytes,
                 tensors[i].declared.name + ": ");
  }
}

/// @param base the parameters without an expression
/// @param expression of the function; null: none
void write_params(JsonWriter& json, std::string_view base, const Expression* expression) {
  const ParamStruct& s = *find_param_struct(base);
  const ParamStruct& tensor = *find_param_struct(expression_tensor_name);
  const std::size_t more = expression == nullptr ? 0 : gemm_expression_tensors * tensor.bytes;
  json.begin_object("parameters").text("passed", "one struct by value, the only argument");
  json.number("bytes", static_cast<std::int64_t>(s.bytes + more));
  json.number("alignment", static_cast<std::int64_t>(s.alignment));
  json.begin_array("fields");
  write_fields(json, s, "", 0, "");
  if (expression != nullptr) write_tensor_fields(json, *expression, s.bytes);
  json.end_array().end_object();
}

/// What is compiled in, and its tensors by place.
void write_expression(JsonWriter& json, const Expression& expression) {
  json.begin_object("expression").text("text", expression.text());
  json.text("epilogue", "the expression takes its place: c and epilogue are not read");
  json.begin_array("tensors");
  for (const OwnTensor& tensor : own_tensors(expression)) {
    json.begin_object().text("name", tensor.declared.name).text("type", to_string(tensor.declared.dtype));
    json.text("shape", to_string(*tensor.declared.shape)).boolean("written", tensor.is_output).end_object();
  }
  json.end_array().end_object();
}

void write_words(JsonWriter& json, std::string_view key, std::span<const std::string_view> words) {
  json.begin_array(key);
  for (const std::string_view word : words) json.text("", word);
  json.end_array();
}

void write_operand(JsonWriter& json, std::string_view key, const OperandMetadata& o, bool any_strides) {
  json.begin_object(key).text("type", to_string(o.dtype));
  json.text("layout", any_strides && !is_interleaved(o.layout) ? "any" : to_string(o.layout));
  json.number("alignment", o.alignment).end_object();
}

void write_code(JsonWriter& json, const ExportedFunction& function, int target) {
  json.text("entry", function.entry);
  json.begin_object("code").text("file", function.file).text("format", "cubin");
  json.number("bytes", static_cast<std::int64_t>(function.code_bytes)).number("target", target);
  if (function.resources.registers > 0) {
    json.number("registers", function.resources.registers);
    json.number("spill_bytes", function.resources.spill_bytes);
  }
  json.end_object();
}

/// Formulas are over the problem in the orientation of the device code; "/" rounds up.
void write_launch(JsonWriter& json, const ExportedKernel& kernel) {
  const GemmTraits& t = kernel.traits;
  json.begin_object("launch").number("threads", t.threads);
  json.number("dynamic_shared_bytes", t.shared_memory);
  json.boolean("raise_shared_memory_limit", t.shared_memory > default_shared_bytes);
  json.begin_object("tile").number("m", t.tile.m).number("n", t.tile.n).number("k", t.tile.k).end_object();
  json.begin_object("grid").text("x", "batch * slices * tiles_m * tiles_n").text("y", "1").text("z", "1");
  json.number("most", 0x7fffffff).end_object();
  json.begin_object("computed_parameters");
  json.text("tiles_m", "ceil(m / " + std::to_string(t.tile.m) + ")");
  json.text("tiles_n", "ceil(n / " + std::to_string(t.tile.n) + ")");
  json.text("slices", "1 where mode is gemm, else from 2 to ceil(k / " + std::to_string(t.tile.k) + ")");
  json.text("k_tiles_per_slice", "ceil(ceil(k / " + std::to_string(t.tile.k) + ") / slices)");
  json.text("swizzle_log2", "0, 1, 2 or 3");
  if (kernel.expression == nullptr)
    json.text("k", "0 where alpha is 0").text("c", "all zero where beta is 0");
  json.end_object().end_object();
}

void write_workspace(JsonWriter& json, const ExportedKernel& kernel) {
  const GemmTraits& t = kernel.traits;
  const std::string element = std::to_string(bytes_of(partial_type(t.accumulator)));
  const std::string tile = std::to_string(t.tile.m) + " * " + std::to_string(t.tile.n);
  json.begin_object("workspace").number("alignment", 256);
  json.begin_object("gemm").text("bytes", "0").end_object();
  json.begin_object("split_k_serial");
  json.text("counters_offset", "round_up(" + element + " * batch * tiles_m * tiles_n * " + tile + ", 256)");
  json.text("counters_bytes", "4 * (batch * tiles_m * tiles_n + 1)");
  json.text("bytes", "counters_offset + round_up(counters_bytes, 256)");
  json.text("clear", "counters_bytes bytes at counters_offset, to zero, on the stream, before each launch");
  json.text("partials", "workspace").text("counters", "workspace + counters_offset").end_object();
  json.begin_object("split_k_parallel");
  json.text("bytes", "round_up(" + element + " * slices * batch * m * n, 256)");
  json.text("partials", "workspace").end_object().end_object();
}

void write_reduction(JsonWriter& json, const ExportedKernel& kernel) {
  json.begin_object("reduction");
  json.text("when", "mode is split_k_parallel: behind the kernel, on the same stream");
  write_code(json, kernel.reduction, kernel.target);
  const std::string threads = std::to_string(reduce_split_k::threads({}));
  json.begin_object("launch")
      .number("threads", reduce_split_k::threads({}))
      .number("dynamic_shared_bytes", 0);
  json.begin_object("grid").text("x", "ceil(batch * m * ceil(n / 4) * 2^sharers_log2 / " + threads + ")");
  json.text("y", "1").text("z", "1").end_object().end_object();
  write_params(json, reduce_params_name, kernel.expression);
  json.end_object();
}

/// The kernel before a reduction with an expression. It is launched as the other one is.
void write_plain(JsonWriter& json, const ExportedKernel& kernel) {
  json.begin_object("plain");
  json.text("when",
            "mode is split_k_parallel: in the place of the kernel, as the reduction has the expression");
  write_code(json, kernel.plain, kernel.target);
  write_params(json, gemm_params_name, nullptr);
  json.end_object();
}

}  // namespace

std::string export_json(const ExportedKernel& kernel) {
  const KernelMetadata& metadata = kernel.metadata;
  const bool any_strides = kernel.traits.alignment.a == 0;
  JsonWriter json;
  json.begin_object().number("schema_version", schema_version).text("quarry", QUARRY_VERSION);
  json.text("name", kernel.name).text("kernel", metadata.name).text("operation", "gemm");
  write_code(json, kernel.kernel, kernel.target);
  json.begin_object("operands");
  write_operand(json, "a", metadata.operands.a, any_strides);
  write_operand(json, "b", metadata.operands.b, any_strides);
  write_operand(json, "out", metadata.operands.out, any_strides);
  json.text("accumulator", to_string(metadata.operands.accumulator)).end_object();
  json.boolean("operands_exchanged", kernel.exchanged);
  if (kernel.exchanged) {
    json.text("exchange",
              "the code computes out^T = b^T a^T: in its parameters a and b, m and n, row_stride and "
              "column_stride of every matrix (also in the epilogue and of tensors), and the values of "
              "bias_axis and "
              "raster are exchanged");
  }
  write_launch(json, kernel);
  write_params(json, gemm_params_name, kernel.expression);
  if (kernel.expression != nullptr) write_expression(json, *kernel.expression);
  json.begin_object("numbers");
  write_words(json, "mode", exported_mode_words);
  write_words(json, "raster", raster_words);
  write_words(json, "activation", activation_words);
  constexpr std::string_view bias_axis_words[] = {"row", "column"};
  write_words(json, "bias_axis", bias_axis_words);
  json.end_object();
  write_workspace(json, kernel);
  if (!kernel.reduction.entry.empty()) write_reduction(json, kernel);
  if (!kernel.plain.entry.empty()) write_plain(json, kernel);
  json.end_object();
  return json.take();
}

}  // namespace quarry::detail
