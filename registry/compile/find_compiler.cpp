/// Which compiler is used.
#include <map>
#include <mutex>

#include "basic/text.hpp"
#include "quarry/system.hpp"
#include "registry/compile/compiler.hpp"
#include "registry/compile/compiler_files.hpp"
#include "registry/compile/nvcc.hpp"
#include "registry/compile/nvrtc.hpp"

namespace quarry::detail {
namespace {

/// The backend that QUARRY_COMPILER says.
Result<CompilerBackend> backend_of_environment() {
  const std::string word = environment("QUARRY_COMPILER");
  if (word.empty() || word == "nvrtc") return CompilerBackend::nvrtc;
  if (word == "nvcc") return CompilerBackend::nvcc;
  if (word == "off") {
    return Status(StatusCode::no_compiler,
                  "Machine code of this kernel would have to be compiled, and QUARRY_COMPILER is `off`");
  }
  constexpr std::string_view words[] = {"nvrtc", "nvcc", "off"};
  return Status(StatusCode::no_compiler,
                "QUARRY_COMPILER is " + quoted(word) + "; it can be " + join(words, "or"));
}

/// NVRTC or nvcc: the one that a caller names, or else QUARRY_COMPILER.
Result<CompilerBackend> chosen_backend(CompilerBackend backend) {
  if (backend == CompilerBackend::automatic) return backend_of_environment();
  if (backend == CompilerBackend::nvrtc || backend == CompilerBackend::nvcc) return backend;
  return Status(StatusCode::invalid_arguments, "The compiler has the unknown number " +
                                                   std::to_string(static_cast<int>(backend)) +
                                                   ": expected a CompilerBackend");
}

/// The compiler of one kind, found once for each value of the variable that can name its file. A failure is
/// not kept. Never destroyed: threads may compile while the process ends.
template <class Kind>
Result<const Compiler*> find_once(const char* variable, Result<CompilerFile> (*find)()) {
  static std::mutex mutex;
  static auto* const found = new std::map<std::string, Kind*>;
  const std::string named = environment(variable);
  const std::lock_guard lock(mutex);
  if (const auto known = found->find(named); known != found->end())
    return static_cast<const Compiler*>(known->second);
  const Result<CompilerFile> file = find();
  if (!file) return file.status();
  return static_cast<const Compiler*>(found->emplace(named, new Kind(*file)).first->second);
}

}  // namespace

Result<const Compiler*> find_compiler(CompilerBackend backend) {
  const Result<CompilerBackend> chosen = chosen_backend(backend);
  if (!chosen) return chosen.status();
  if (*chosen == CompilerBackend::nvcc) return find_once<NvccCompiler>("QUARRY_NVCC", find_nvcc_file);
  return find_once<NvrtcCompiler>("QUARRY_NVRTC", find_nvrtc_file);
}

}  // namespace quarry::detail

namespace quarry {

Status compiler_status(CompilerBackend backend) { return detail::find_compiler(backend).status(); }

Result<std::string> compiler_path(CompilerBackend backend) {
  const Result<CompilerBackend> chosen = detail::chosen_backend(backend);
  if (!chosen) return chosen.status();
  const Result<detail::CompilerFile> file =
      *chosen == CompilerBackend::nvcc ? detail::find_nvcc_file() : detail::find_nvrtc_file();
  if (!file) return file.status();
  return file->path;
}

}  // namespace quarry
