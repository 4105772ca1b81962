/// The first comment of an exported header: what the kernel takes, and how it is launched.
#include <string>

#include "operations/gemm/export/export.hpp"
#include "operations/gemm/expression.hpp"
#include "quarry/tensor.hpp"
#include "quarry/version.hpp"

namespace quarry::detail {
namespace {

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

/// The text of an expression, a line for each statement.
std::string expression_lines(const Expression& expression) {
  std::string text = " *   ";
  for (const char c : expression.text()) text += c == ';' ? ";\n *  " : std::string(1, c);
  return text + "\n";
}

/// Which kernel it is, and what is compiled into it.
std::string first_lines(const ExportedKernel& kernel) {
  std::string text = "/* " + kernel.name + "\n * ";
  text += kernel.name == kernel.metadata.name ? "A GEMM kernel"
                                              : "The GEMM kernel " + std::string(kernel.metadata.name);
  text += " for compute capability " + std::to_string(kernel.target / 10) + "." +
          std::to_string(kernel.target % 10) +
          ", exported by Quarry " QUARRY_VERSION
          ". This header is C11 and C++11, and needs nothing of Quarry.\n *\n";
  if (kernel.expression == nullptr) return text;
  return text + " * In the place of an epilogue it has an expression compiled in:\n" +
         expression_lines(*kernel.expression) + " *\n";
}

/// How the kernel is launched.
std::string launch_lines(const ExportedKernel& kernel) {
  const bool has_expression = kernel.expression != nullptr;
  const bool has_tensors = has_expression && !own_tensors(*kernel.expression).empty();
  const std::string expression = has_expression ? "_expression" : "";
  std::string text = " *   const quarry_gemm_kernel* kernel = " + kernel.name + "();\n";
  if (has_tensors) {
    text += " *   quarry_expression_tensor tensors[" + kernel.name +
            "_tensors] = ...;  by the places below, rows and columns as of out\n";
  }
  return text + " *   quarry_gemm" + expression + "_params params = quarry_gemm" + expression +
         "_launch_params(kernel, &problem" +
         (!has_expression ? ""
          : has_tensors   ? ", tensors"
                          : ", NULL") +
         ");\n"
         " *   void* arguments[] = {&params};\n"
         " *   cuLaunchKernel(function, quarry_gemm_grid(kernel, &problem), 1, 1, kernel->threads, 1, 1,\n"
         " *                  kernel->shared_bytes, stream, arguments, NULL);\n";
}

/// "`ENTRY` of FILE with FUNCTION()"
std::string launched(const ExportedFunction& function, std::string_view params) {
  return "`" + function.entry + "` of " + function.file + " with " + std::string(params) + "()";
}

/// What comes before and behind the kernel where K is split.
std::string split_lines(const ExportedKernel& kernel) {
  std::string text =
      " * With split_k_serial, clear quarry_gemm_counters_bytes() bytes of the workspace before each "
      "launch.\n";
  if (kernel.reduction.entry.empty()) return text;
  text += " * With split_k_parallel, where quarry_reduce_grid() is not 0, launch\n";
  if (kernel.plain.entry.empty())
    return text + " *   " + launched(kernel.reduction, "quarry_reduce_launch_params") + " behind it.\n";
  return text + " *   " + launched(kernel.plain, "quarry_gemm_launch_params") +
         ", in the place of the kernel and with its shared memory,\n *   and " +
         launched(kernel.reduction, "quarry_reduce_expression_launch_params") + " behind it.\n";
}

}  // namespace

std::string header_introduction(const ExportedKernel& kernel) {
  const OperandsMetadata& o = kernel.metadata.operands;
  const bool any = kernel.traits.alignment.a == 0;
  std::string text = first_lines(kernel);
  const std::string_view outputs = kernel.expression != nullptr   ? "out"
                                   : is_interleaved(o.out.layout) ? "c, out, residual, aux"
                                                                  : "c, out, bias, residual, aux";
  text += operand_line("a", o.a, any) + operand_line("b", o.b, any) + operand_line(outputs, o.out, true);
  text += " *   sums: " + std::string(to_string(o.accumulator)) + "\n";
  if (!any) {
    text +=
        " * Where an operand's lines run along m or n, they may not overlap: the other stride is at least "
        "the extent.\n";
  }
  text += " *\n * Load " + kernel.kernel.file +
          " (cuLibraryLoadData, cudaLibraryLoadData or cuModuleLoadData), get the function `" +
          kernel.kernel.entry + "`,\n * fill a quarry_gemm_problem in its own orientation, and launch:\n" +
          launch_lines(kernel) + shared_memory_lines(kernel);
  if (kernel.exchanged) {
    text +=
        " * The code computes the transposed problem, out^T = b^T a^T: a and b, m and n, the strides of "
        "every matrix and the\n"
        " * axis of the bias are exchanged in its parameters, as are the strides of an expression's tensors. "
        "The functions below do that.\n";
  }
  return text + split_lines(kernel) + " */\n";
}

}  // namespace quarry::detail
