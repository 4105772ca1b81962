/// NAME.h of an exported kernel.
#include <charconv>
#include <string>

#include "basic/words.hpp"
#include "operations/gemm/export/c_source.hpp"
#include "operations/gemm/export/export.hpp"
#include "operations/gemm/export/params_layout.hpp"
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
    text += "  " + std::string(field.type) + " " + member + "; /* " + std::string(field.meaning) + " */\n";
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

std::string operand_line(std::string_view name, const OperandMetadata& o, bool any_strides) {
  std::string text = " *   " + std::string(name) + ": " + std::string(to_string(o.dtype)) + ", ";
  if (is_interleaved(o.layout)) {
    const bool by_rows = o.layout == Layout::row_interleaved32;
    text.append(to_string(o.layout)).append(", in groups of 32 ").append(by_rows ? "rows" : "columns");
    text.append(by_rows ? " (row_stride: from one to the next, column_stride 32)"
                        : " (column_stride: from one to the next, row_stride 32)");
    if (o.alignment > 1)
      text += "; address, the other strides: multiples of " + std::to_string(o.alignment) + " elements";
    return text + "\n";
  }
  if (any_strides) return text + "any strides\n";
  text += o.layout == Layout::row ? "row-major (column_stride 1)" : "column-major (row_stride 1)";
  if (o.alignment > 1) {
    text += "; address, the other strides: multiples of " + std::to_string(o.alignment) + " elements";
  }
  return text + "\n";
}

std::string shared_memory_lines(const ExportedKernel& kernel) {
  if (kernel.traits.shared_memory <= default_shared_bytes) return {};
  return " * It needs more than 48 KB of shared memory, which must be asked for once:\n"
         " *   cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, " +
         std::to_string(kernel.traits.shared_memory) + ")\n";
}

std::string introduction(const ExportedKernel& kernel) {
  const OperandsMetadata& o = kernel.metadata.operands;
  const bool any = kernel.traits.alignment.a == 0;
  std::string text = "/* " + kernel.name +
                     "\n"
                     " * A GEMM kernel for compute capability " +
                     std::to_string(kernel.target / 10) + "." + std::to_string(kernel.target % 10) +
                     ", exported by Quarry " QUARRY_VERSION
                     ". This header is C11 and C++11, and needs nothing of Quarry.\n *\n";
  text += operand_line("a", o.a, any) + operand_line("b", o.b, any) +
          (is_interleaved(o.out.layout) ? operand_line("c, out, residual, aux", o.out, true)
                                        : operand_line("c, out, bias, residual, aux", o.out, true));
  text += " *   sums: " + std::string(to_string(o.accumulator)) + "\n";
  if (!any) {
    text +=
        " * Where an operand's lines run along m or n, they may not overlap: the other stride is at least "
        "the extent.\n";
  }
  text += " *\n * Load " + kernel.kernel.file +
          " (cuLibraryLoadData, cudaLibraryLoadData or cuModuleLoadData), get the function `" +
          kernel.kernel.entry +
          "`,\n * fill a quarry_gemm_problem in its own orientation, and launch:\n"
          " *   const quarry_gemm_kernel* kernel = " +
          kernel.name +
          "();\n"
          " *   quarry_gemm_params params = quarry_gemm_launch_params(kernel, &problem);\n"
          " *   void* arguments[] = {&params};\n"
          " *   cuLaunchKernel(function, quarry_gemm_grid(kernel, &problem), 1, 1, kernel->threads, 1, 1,\n"
          " *                  kernel->shared_bytes, stream, arguments, NULL);\n" +
          shared_memory_lines(kernel);
  if (kernel.exchanged) {
    text +=
        " * The code computes the transposed problem, out^T = b^T a^T: a and b, m and n, the strides of "
        "every matrix and the\n"
        " * axis of the bias are exchanged in its parameters. The functions below do that.\n";
  }
  text +=
      " * With split_k_serial, clear quarry_gemm_counters_bytes() bytes of the workspace before each "
      "launch.\n";
  if (!kernel.reduction.entry.empty()) {
    text += " * With split_k_parallel, launch `" + kernel.reduction.entry + "` of " + kernel.reduction.file +
            " behind it, with quarry_reduce_launch_params().\n";
  }
  return text + " */\n";
}

std::string quoted_or_null(const std::string& text) { return text.empty() ? "NULL" : "\"" + text + "\""; }

std::string kernel_part(const ExportedKernel& k) {
  const auto line = [](const std::string& value, std::string_view what) {
    return "      " + value + ", /* " + std::string(what) + " */\n";
  };
  const int partial_bytes = bytes_of(partial_type(k.traits.accumulator));
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
         line(quoted_or_null(k.reduction.file), "reduce_file") + "  };\n  return &kernel;\n}\n";
}

}  // namespace

std::string export_header(const ExportedKernel& kernel) {
  const std::string guard = "QUARRY_EXPORT_" + kernel.name;
  return introduction(kernel) + "#ifndef " + guard + "\n#define " + guard + "\n\n" + common_part() +
         kernel_part(kernel) + "\n#endif\n";
}

}  // namespace quarry::detail
