#include "lab/bench/cublaslt_api.hpp"

#include "lab/bench/shared_library.hpp"

namespace quarry::lab {
namespace {

constexpr const char* cublaslt_names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
constexpr const char* cublaslt_wheels[] = {"cu13/lib", "cublas/lib"};
constexpr SharedLibrary cublaslt_library = {
    .title = "cuBLASLt", .flag = "--cublaslt", .names = cublaslt_names, .wheels = cublaslt_wheels};

/// Gives the name of a function that is missing, null where none is.
const char* look_up_all(void* opened, CublasLtFunctions& f) {
  FunctionLookup get(opened);
  get("cublasLtGetVersion", f.version);
  get("cublasLtGetStatusString", f.status_string);
  get("cublasLtCreate", f.create);
  get("cublasLtDestroy", f.destroy);
  get("cublasLtMatmulDescCreate", f.desc_create);
  get("cublasLtMatmulDescDestroy", f.desc_destroy);
  get("cublasLtMatmulDescSetAttribute", f.desc_set);
  get("cublasLtMatrixLayoutCreate", f.layout_create);
  get("cublasLtMatrixLayoutDestroy", f.layout_destroy);
  get("cublasLtMatrixLayoutSetAttribute", f.layout_set);
  get("cublasLtMatmulPreferenceCreate", f.preference_create);
  get("cublasLtMatmulPreferenceDestroy", f.preference_destroy);
  get("cublasLtMatmulPreferenceSetAttribute", f.preference_set);
  get("cublasLtMatmulAlgoGetHeuristic", f.heuristic);
  get("cublasLtMatmul", f.matmul);
  get("cublasLtMatmulAlgoConfigGetAttribute", f.config_get);
  return get.missing();
}

}  // namespace

Result<CublasLtFunctions> open_cublaslt(const std::string& path) {
  CublasLtFunctions functions = {};
  const auto look_up = [&functions](void* opened) { return look_up_all(opened, functions); };
  if (Status s = open_shared(cublaslt_library, path, look_up); !s) return s;
  return functions;
}

std::string path_of(const CublasLtFunctions& functions) {
  return file_of(reinterpret_cast<const void*>(functions.version));
}

}  // namespace quarry::lab
