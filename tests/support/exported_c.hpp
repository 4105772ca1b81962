/// The C side of an exported kernel, compiled by a C compiler and called from here.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "gemm/params.hpp"
#include "reduce_split_k/params.hpp"
#include "support/catch_compat.hpp"

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

inline bool compiles(const std::string& flags, const std::string& file) {
  const std::string command =
      std::string("'" QUARRY_CXX_COMPILER "' -Wall -Wextra -Wpedantic -Wconversion -Werror ") + flags + " '" +
      file + "'";
  return std::system(command.c_str()) == 0;
}

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

size_t q_problem_bytes(void) { return sizeof(quarry_gemm_problem); }
unsigned q_grid(problem_pointer p) { return quarry_gemm_grid(KERNEL, p); }
size_t q_workspace_bytes(problem_pointer p) { return quarry_gemm_workspace_bytes(KERNEL, p); }
size_t q_counters_offset(problem_pointer p) { return quarry_gemm_counters_offset(KERNEL, p); }
size_t q_counters_bytes(problem_pointer p) { return quarry_gemm_counters_bytes(KERNEL, p); }
void q_params(problem_pointer p, quarry_gemm_params* out) { *out = quarry_gemm_launch_params(KERNEL, p); }
unsigned q_reduce_grid(problem_pointer p) { return quarry_reduce_grid(KERNEL, p); }
void q_reduce_params(problem_pointer p, quarry_reduce_params* out) { *out = quarry_reduce_launch_params(KERNEL, p); }
const quarry_gemm_kernel* q_kernel(void) { return KERNEL; }
)c";
}

/// The functions of one header, loaded.
class ExportedC {
 public:
  /// @param folder holds NAME.h
  ExportedC(const std::string& folder, const std::string& name) {
    const std::string source = folder + "/" + name + ".c";
    const std::string library = folder + "/" + name + ".so";
    std::ofstream(source) << wrapper_source(name);
    REQUIRE(compiles("-x c++ -std=c++11 -fsyntax-only", source));
    REQUIRE(compiles("-x c -std=c11 -O1 -shared -fPIC -o '" + library + "'", source));
    library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library_ != nullptr);
  }
  ExportedC(const ExportedC&) = delete;
  ExportedC& operator=(const ExportedC&) = delete;
  ~ExportedC() { dlclose(library_); }

  /// Calls a function of this name.
  template <class Returned, class... Arguments>
  Returned call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<Returned (*)(Arguments...)>(dlsym(library_, name));
    REQUIRE(function != nullptr);
    return function(arguments...);
  }

 private:
  void* library_ = nullptr;
};

}  // namespace quarry::test
