/// NAME.h of an exported kernel.
#include <charconv>
#include <string>

#include "basic/words.hpp"
#include "operations/gemm/export/c_source.hpp"
#include "operations/gemm/export/export.hpp"
#include "operations/gemm/export/params_layout.hpp"
#include "operations/gemm/expression.hpp"
#include "quarry/tensor.hpp"
#include "quarry/version.hpp"
#include "reduce_split_k/config.hpp"

namespace quarry::detail {
namespace {

/// Neighbours in a row that a thread of a reduction finishes.
constexpr int reduce_columns = 4;
static_assert(reduce_split_k::quads_of_row(reduce_columns) == 1 &&
              reduce_split_k::quads_of_row(reduce_columns + 1) == 2);

/// A number by which the preprocessor tells versions of the library apart: 1.2.3 is 10203.
int version_number() {
  int number = 0;
  const std::string_view version = QUARRY_VERSION;
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int part = 0; part < 3; ++part) {
    int value = 0;
    at = std::from_chars(at, end, value).ptr;
    number = number * 100 + value;
    if (at != end) ++at;
  }
  return number;
}

std::string capitals(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

/// "enum quarry_mode { QUARRY_MODE_GEMM = 0, ... };"
std::string enumeration(std::string_view name, std::span<const std::string_view> words) {
  std::string text = "\nenum quarry_" + std::string(name) + " {\n";
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += "  QUARRY_" + capitals(name) + "_" + capitals(words[i]) + " = " + std::to_string(i) +
            (i + 1 < words.size() ? ",\n" : "\n");
  }
  return text + "};\n";
}

/// The struct, and that a compiler lays it out as the device code does.
std::string declaration(const ParamStruct& s) {
  const std::string name(s.name);
  std::string text = "\n/* " + std::string(s.meaning) + ". */\ntypedef struct " + name + " {\n";
  std::string checks = "static_assert(sizeof(" + name + ") == " + std::to_string(s.bytes) + ", \"size\");\n";
  for (const ParamField& field : s.fields) {
    const std::string member(field.name);
    const std::string count = field.count == 0 ? "" : "[" + std::to_string(field.count) + "]";
    text += "  " + std::string(field.type) + " " + member + count + "; /* " + std::string(field.meaning) +
            " */\n";
    checks += "static_assert(offsetof(" + name + ", " + member + ") == " + std::to_string(field.offset) +
              ", \"" + member + "\");\n";
  }
  return text + "} " + name + ";\n" + checks;
}

/// What is the same in the header of every kernel of this version.
std::string common_part() {
  const std::string version = std::to_string(version_number());
  std::string text =
      "#ifdef QUARRY_EXPORT_VERSION\n"
      "#if QUARRY_EXPORT_VERSION != " +
      version +
      "\n"
      "#error \"kernels exported by different versions of Quarry do not go into one source file\"\n"
      "#endif\n"
      "#else\n"
      "#define QUARRY_EXPORT_VERSION " +
      version +
      "\n"
      "\n#include <assert.h>\n#include <stddef.h>\n#include <string.h>\n";
  constexpr std::string_view bias_axis_words[] = {"row", "column"};
  static_assert(static_cast<int>(BiasAxis::row) == 0 && static_cast<int>(BiasAxis::column) == 1);
  text += enumeration("mode", exported_mode_words);
  text += enumeration("raster", raster_words);
  text += enumeration("activation", activation_words);
  text += enumeration("bias_axis", bias_axis_words);
  text += "\n#define QUARRY_REDUCE_THREADS " + std::to_string(reduce_split_k::threads({}));
  text += "\n#define QUARRY_REDUCE_COLUMNS " + std::to_string(reduce_columns);
  text += "\n#define QUARRY_REDUCE_MOST_SHARERS_LOG2 " + std::to_string(reduce_split_k::most_sharers_log2);
  text += "\n#define QUARRY_REDUCE_LEAST_SHARE " + std::to_string(reduce_split_k::least_share);
  text += "\n#define QUARRY_REDUCE_MOST_SHARING_THREADS " +
          std::to_string(reduce_split_k::most_sharing_threads) + "\n";
  for (const ParamStruct& s : param_structs()) text += declaration(s);
  text += export_c_types;
  text += export_c_functions;
  return text + "#endif /* QUARRY_EXPORT_VERSION */\n";
}

std::string quoted_or_null(const std::string& text) { return text.empty() ? "NULL" : "\"" + text + "\""; }

std::string kernel_part(const ExportedKernel& k) {
  const auto line = [](const std::string& value, std::string_view what) {
    return "      " + value + ", /* " + std::string(what) + " */\n";
  };
  const int partial_bytes = bytes_of(partial_type(k.traits.accumulator));
  const std::size_t tensors = k.expression == nullptr ? 0 : own_tensors(*k.expression).size();
  return "\nstatic inline const quarry_gemm_kernel* " + k.name +
         "(void) {\n"
         "  static const quarry_gemm_kernel kernel = {\n" +
         line(quoted_or_null(k.kernel.entry), "entry") + line(quoted_or_null(k.kernel.file), "file") +
         line(std::to_string(k.target), "target") + line(std::to_string(k.traits.threads), "threads") +
         line(std::to_string(k.traits.shared_memory), "shared_bytes") +
         line(std::to_string(k.traits.tile.m), "tile_m") + line(std::to_string(k.traits.tile.n), "tile_n") +
         line(std::to_string(k.traits.tile.k), "tile_k") + line(k.exchanged ? "1" : "0", "exchanged") +
         line(std::to_string(partial_bytes), "partial_bytes") +
         line(quoted_or_null(k.reduction.entry), "reduce_entry") +
         line(quoted_or_null(k.reduction.file), "reduce_file") +
         line(k.expression == nullptr ? "0" : "1", "has_expression") +
         line(std::to_string(tensors), "tensors") + line(quoted_or_null(k.plain.entry), "plain_entry") +
         line(quoted_or_null(k.plain.file), "plain_file") + "  };\n  return &kernel;\n}\n";
}

}  // namespace

std::string export_header(const ExportedKernel& kernel) {
  const std::string guard = "QUARRY_EXPORT_" + kernel.name;
  return header_introduction(kernel) + "#ifndef " + guard + "\n#define " + guard + "\n\n" + common_part() +
         (kernel.expression == nullptr ? "" : tensor_enumeration(kernel)) + kernel_part(kernel) +
         "\n#endif\n";
}

}  // namespace quarry::detail
