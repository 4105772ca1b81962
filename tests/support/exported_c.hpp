/// The C side of an exported kernel, compiled by a C compiler and called from here.
#pragma once

#include <string>

#include "gemm/params.hpp"
#include "reduce_split_k/params.hpp"
#include "support/loaded_c.hpp"

namespace quarry::test {

/// quarry_gemm_problem of an exported header.
struct ExportedProblem {
  int m;
  int n;
  int k;
  int batch;
  MatrixParams a;
  MatrixParams b;
  MatrixParams c;
  MatrixParams out;
  EpilogueParams epilogue;
  int mode;
  int slices;
  int swizzle;
  int raster;
  void* workspace;
};

/// Functions over a header's, with names that do not depend on the kernel.
inline std::string wrapper_source(const std::string& name) {
  return "#include \"" + name + ".h\"\n#include \"" + name + ".h\"\n" + "#define KERNEL " + name + "()\n" +
         R"c(
typedef const quarry_gemm_problem* problem_pointer;
size_t q_problem_bytes(void);
unsigned q_grid(problem_pointer p);
size_t q_workspace_bytes(problem_pointer p);
size_t q_counters_offset(problem_pointer p);
size_t q_counters_bytes(problem_pointer p);
void q_params(problem_pointer p, quarry_gemm_params* out);
unsigned q_reduce_grid(problem_pointer p);
void q_reduce_params(problem_pointer p, quarry_reduce_params* out);
const quarry_gemm_kernel* q_kernel(void);
typedef const quarry_expression_tensor* tensors_pointer;
void q_expression_params(problem_pointer p, tensors_pointer t, quarry_gemm_expression_params* out);
void q_reduce_expression_params(problem_pointer p, tensors_pointer t, quarry_reduce_expression_params* out);

size_t q_problem_bytes(void) { return sizeof(quarry_gemm_problem); }
unsigned q_grid(problem_pointer p) { return quarry_gemm_grid(KERNEL, p); }
size_t q_workspace_bytes(problem_pointer p) { return quarry_gemm_workspace_bytes(KERNEL, p); }
size_t q_counters_offset(problem_pointer p) { return quarry_gemm_counters_offset(KERNEL, p); }
size_t q_counters_bytes(problem_pointer p) { return quarry_gemm_counters_bytes(KERNEL, p); }
void q_params(problem_pointer p, quarry_gemm_params* out) { *out = quarry_gemm_launch_params(KERNEL, p); }
unsigned q_reduce_grid(problem_pointer p) { return quarry_reduce_grid(KERNEL, p); }
void q_reduce_params(problem_pointer p, quarry_reduce_params* out) { *out = quarry_reduce_launch_params(KERNEL, p); }
const quarry_gemm_kernel* q_kernel(void) { return KERNEL; }
void q_expression_params(problem_pointer p, tensors_pointer t, quarry_gemm_expression_params* out) {
  *out = quarry_gemm_expression_launch_params(KERNEL, p, t);
}
void q_reduce_expression_params(problem_pointer p, tensors_pointer t, quarry_reduce_expression_params* out) {
  *out = quarry_reduce_expression_launch_params(KERNEL, p, t);
}
)c";
}

/// The functions of the exported header NAME.h of a folder. @param more source behind them
inline LoadedC load_exported(const std::string& folder, const std::string& name,
                             const std::string& more = {}) {
  return LoadedC(folder + "/" + name, wrapper_source(name) + more, "-O1");
}

}  // namespace quarry::test
