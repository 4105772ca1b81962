#include "registry/compile/nvcc.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

#include "basic/text.hpp"
#include "entry_text.hpp"
#include "registry/compile/compile_log.hpp"
#include "registry/compile/process.hpp"
#include "registry/compile/sources.hpp"
#include "registry/compile/temporary_folder.hpp"

namespace quarry::detail {
namespace {

/// As for precompiled kernels.
constexpr std::array options = {"-std=c++20", "--expt-relaxed-constexpr", "-Xptxas", "-v"};

/// The variables count too: nvcc takes options from them.
std::string identity_of(const CompilerFile& file) {
  std::string text = "nvcc " + file.path + " (" + file.fingerprint + ")";
  for (const char* option : options) text.append(" ").append(option);
  for (const char* variable : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}) {
    if (const std::string flags = environment(variable); !flags.empty())
      text.append(" ").append(variable).append("=").append(flags);
  }
  return text;
}

/// Takes a number off the front of a text; 0 where there is none.
int take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? number : 0;
}

/// 13000 of "..., release 13.0, ..."; 0 where no release is named.
int version_in(std::string_view text) {
  constexpr std::string_view word = "release ";
  const auto found = text.find(word);
  if (found == text.npos) return 0;
  text.remove_prefix(found + word.size());
  const int major = take_number(text);
  if (!text.starts_with('.') || major > 1000) return 0;
  text.remove_prefix(1);
  return major * 1000 + take_number(text) % 100 * 10;
}

/// The numbers of "sm_75\nsm_80\n..."
std::vector<int> targets_in(std::string_view text) {
  std::vector<int> targets;
  for (auto found = text.find("sm_"); found != text.npos; found = text.find("sm_")) {
    text.remove_prefix(found + 3);
    if (const int target = take_number(text); target > 0) targets.push_back(target);
  }
  return targets;
}

Status write_sources(const TemporaryFolder& folder, const CompileJob& job) {
  if (!folder.status()) return folder.status();
  for (const SourceFile& file : kernel_sources()) {
    if (Status s = folder.write(file.name, file.text); !s) return s;
  }
  return folder.write("kernel.cu", job.source);
}

}  // namespace

NvccCompiler::NvccCompiler(CompilerFile file) : file_(std::move(file)), identity_(identity_of(file_)) {}

Result<NvccCompiler::Abilities> NvccCompiler::ask() const {
  Abilities abilities;
  for (const char* question : {"--version", "--list-gpu-code"}) {
    const std::array<std::string, 2> words = {file_.path, question};
    const Result<ProcessOutput> output = run_process(words);
    if (!output) return output.status();
    if (output->exit_code != 0) {
      return Status(StatusCode::no_compiler, detail::quoted(file_.path) + " does not work: `" + question +
                                                 "` ends with " + std::to_string(output->exit_code) + ": " +
                                                 detail::quoted(output->text));
    }
    if (!abilities.name.empty()) {
      abilities.targets = targets_in(output->text);
      continue;
    }
    const int version = version_in(output->text);
    if (version == 0)
      return Status(StatusCode::no_compiler, detail::quoted(file_.path) + " does not say that it is nvcc");
    if (Status s = check_version("nvcc", file_.path, version); !s) return s;
    abilities.name = "nvcc " + cuda_version_text(version);
  }
  return abilities;
}

const Result<NvccCompiler::Abilities>& NvccCompiler::abilities() const {
  const std::lock_guard lock(mutex_);
  if (!abilities_) abilities_.emplace(ask());
  return *abilities_;
}

Result<Compiler::Output> NvccCompiler::build(const CompileJob& job, bool as_ptx) const {
  const Result<Abilities>& nvcc = abilities();
  if (!nvcc) return nvcc.status();
  if (Status s = check_target(nvcc->name, job, nvcc->targets); !s) return s;
  const TemporaryFolder folder;
  if (Status s = write_sources(folder, job); !s) return s;
  // Names within the folder, so that nothing in its own name can trouble nvcc.
  std::vector<std::string> words = {
      file_.path,
      as_ptx ? "-ptx" : "-cubin",
      "-I.",
      "-o",
      "code",
      "kernel.cu",
      (as_ptx ? "-arch=compute_" : "-arch=sm_") + architecture(job.target, job.only_cc)};
  words.insert(words.end(), options.begin(), options.end());
  Result<ProcessOutput> output = run_process(words, folder.path());
  if (!output) return output.status();
  if (output->exit_code != 0) {
    return compile_failure(output->text,
                           nvcc->name + " error: it ended with " + std::to_string(output->exit_code));
  }
  std::ifstream stream(folder.path() + "/code", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (bytes.empty()) return compile_failure(output->text, nvcc->name + " error: it gave no code");
  return Output{std::move(bytes), std::move(output->text)};
}

}  // namespace quarry::detail
