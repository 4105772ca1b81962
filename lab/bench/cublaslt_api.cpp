#include "lab/bench/cublaslt_api.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "basic/text.hpp"
#include "lab/text.hpp"
#include "registry/compile/compiler_files.hpp"

namespace quarry::lab {
namespace {

namespace fs = std::filesystem;

/// The newest first.
constexpr const char* names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};

/// Sets `function` to the library's function of a name; false where there is none.
template <class Function>
bool look_up(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

/// Looks all up. Gives the name of one that is missing, null where none is.
const char* look_up_all(void* library, CublasLtFunctions& f) {
  const char* missing = nullptr;
  const auto get = [&](const char* name, auto*& function) {
    if (!look_up(library, name, function) && missing == nullptr) missing = name;
  };
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
  return missing;
}

/// The library of NVIDIA's wheels in the Pythons of the system, which no variable names.
void add_system_pythons(std::vector<std::string>& paths) {
  for (const char* lib : {"/usr/local/lib", "/usr/lib"}) {
    std::error_code error;
    for (fs::directory_iterator python(lib, error), end; !error && python != end; python.increment(error)) {
      if (!python->path().filename().string().starts_with("python3")) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) {
        for (const char* below : {"nvidia/cu13/lib", "nvidia/cublas/lib"})
          paths.push_back((python->path() / packages / below).string());
      }
    }
  }
}

/// Files that may be the library, by what else is known of where toolkits are.
std::vector<std::string> likely_paths() {
  std::vector<std::string> folders;
  for (const std::string& folder : detail::nvrtc_folders()) {
    folders.push_back(folder);
    folders.push_back(folder + "/../../cublas/lib");  // beside the wheel of NVRTC
  }
  add_system_pythons(folders);
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    for (const char* name : names) {
      std::error_code error;
      if (fs::is_regular_file(folder + "/" + name, error)) paths.push_back(folder + "/" + name);
    }
  }
  for (const char* name : names) paths.emplace_back(name);  // for the dynamic linker to find
  return paths;
}

Result<CublasLtFunctions> open_one(const std::string& path) {
  const auto unusable = [](const std::string& why) {
    return Status(StatusCode::not_found, "cuBLASLt cannot be used: " + one_ascii_line(why));
  };
  void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return unusable(why == nullptr ? path : why);
  }
  CublasLtFunctions functions = {};
  if (const char* missing = look_up_all(library, functions))
    return unusable(detail::quoted(path) + " has no function " + missing);
  return functions;
}

}  // namespace

Result<CublasLtFunctions> open_cublaslt(const std::string& path) {
  // With a slash, so that the file of that name is meant and not one that the linker knows.
  if (!path.empty()) return open_one(path.find('/') == path.npos ? "./" + path : path);
  for (const std::string& likely : likely_paths()) {
    if (Result<CublasLtFunctions> functions = open_one(likely)) return functions;
  }
  return Status(
      StatusCode::no_device,
      "cuBLASLt was not found: there is no libcublasLt.so in LD_LIBRARY_PATH, CUDA_PATH, CUDA_HOME, "
      "/usr/local/cuda, Python's packages or among the system's libraries. --cublaslt can name the "
      "file");
}

std::string path_of(const CublasLtFunctions& functions) {
  Dl_info info = {};
  const bool known = dladdr(reinterpret_cast<const void*>(functions.version), &info) != 0;
  return known && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace quarry::lab
