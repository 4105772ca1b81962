#include "lab/code/disassemble.hpp"

#include <unistd.h>
#include "lab/text.hpp"

#include <string_view>
#include <vector>

#include "entry_text.hpp"
#include "operations/common/row.hpp"
#include "quarry/artifact.hpp"
#include "registry/compile/compiler_files.hpp"
#include "registry/compile/precompiled.hpp"
#include "registry/compile/process.hpp"
#include "registry/compile/temporary_folder.hpp"
#include "registry/operation.hpp"

namespace quarry::lab {
namespace {

/// The path of a toolkit's program, "" where it is not found.
std::string find_program(const std::string& name) {
  for (const std::string& nvcc : detail::nvcc_paths()) {
    std::string path = nvcc.substr(0, nvcc.rfind('/') + 1) + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

/// A cubin is an ELF file; what is precompiled is a fatbin with many of them.
bool is_cubin(const Artifact& artifact) {
  const auto code = artifact.code();
  return std::string_view(reinterpret_cast<const char*>(code.data()), code.size())
      .starts_with(
          "\x7f"
          "ELF");
}

/// What cuobjdump calls the precompiled code of a kernel that runs on `cc`: "sm_90".
std::string precompiled_architecture(const Kernel& kernel, int cc) {
  const int target = detail::precompiled_target(detail::row_of(kernel).entry, cc);
  return "sm_" + architecture(target, kernel.metadata().max_cc.value_or(0));
}

Result<std::string> run_on(std::vector<std::string> words, const Artifact& artifact) {
  const detail::TemporaryFolder folder;
  if (!folder.status()) return folder.status();
  const auto code = artifact.code();
  const std::string_view bytes(reinterpret_cast<const char*>(code.data()), code.size());
  if (Status s = folder.write("code", bytes); !s) return s;
  words.emplace_back("code");
  Result<detail::ProcessOutput> output = detail::run_process(words, folder.path());
  if (!output) return output.status();
  if (output->exit_code == 0) return std::move(output->text);
  while (output->text.ends_with('\n')) output->text.pop_back();
  return Status(StatusCode::no_compiler, words[0] + " ended with " + std::to_string(output->exit_code) +
                                             ": " + one_line(output->text));
}

}  // namespace

Result<std::string> disassemble(const Kernel& kernel, int target) {
  const std::string nvdisasm = find_program("nvdisasm");
  if (nvdisasm.empty()) {
    return Status(StatusCode::no_compiler,
                  "nvdisasm, which shows machine code, was not found on PATH or in CUDA_PATH, CUDA_HOME or "
                  "/usr/local/cuda; it is part of the CUDA toolkit and of the Python package "
                  "nvidia-cuda-nvdisasm");
  }
  Result<Artifact> artifact = kernel.compile({.target = target});
  if (!artifact) return artifact.status();
  const std::string cuobjdump = find_program("cuobjdump");
  if (!is_cubin(*artifact) && cuobjdump.empty()) {
    artifact = kernel.compile({.target = target, .force = true});
    if (!artifact) return artifact.status();
  }
  if (is_cubin(*artifact)) return run_on({nvdisasm, "-c"}, *artifact);
  return run_on({cuobjdump, "-sass", "-arch", precompiled_architecture(kernel, target), "-fun",
                 std::string(artifact->entry())},
                *artifact);
}

}  // namespace quarry::lab
