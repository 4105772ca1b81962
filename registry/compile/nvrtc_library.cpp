#include "registry/compile/nvrtc_library.hpp"

#include <dlfcn.h>

#include "basic/text.hpp"

namespace quarry::detail {
namespace {

/// Sets `function` to the library's function of a name; false where there is none.
template <class Function>
bool look_up(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

/// Looks all up. Gives the name of one that is missing, null where none is.
const char* look_up_all(void* library, NvrtcFunctions& f) {
  const char* missing = nullptr;
  const auto get = [&](const char* name, auto*& function) {
    if (!look_up(library, name, function) && missing == nullptr) missing = name;
  };
  get("nvrtcVersion", f.version);
  get("nvrtcGetErrorString", f.error_string);
  get("nvrtcGetNumSupportedArchs", f.num_supported_archs);
  get("nvrtcGetSupportedArchs", f.supported_archs);
  get("nvrtcCreateProgram", f.create_program);
  get("nvrtcDestroyProgram", f.destroy_program);
  get("nvrtcCompileProgram", f.compile_program);
  get("nvrtcGetProgramLogSize", f.log_size);
  get("nvrtcGetProgramLog", f.log);
  get("nvrtcGetCUBINSize", f.cubin_size);
  get("nvrtcGetCUBIN", f.cubin);
  get("nvrtcGetPTXSize", f.ptx_size);
  get("nvrtcGetPTX", f.ptx);
  return missing;
}

}  // namespace

Result<NvrtcFunctions> open_nvrtc(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return Status(StatusCode::no_compiler,
                  "NVRTC cannot be opened: " + std::string(why == nullptr ? path.c_str() : why));
  }
  NvrtcFunctions functions = {};
  if (const char* missing = look_up_all(library, functions)) {
    return Status(
        StatusCode::no_compiler,
        detail::quoted(path) + " is not a usable NVRTC: it has no function " + std::string(missing));
  }
  return functions;
}

}  // namespace quarry::detail
