#include "registry/compile/nvrtc.hpp"

#include <array>
#include <cstring>

#include "entry_text.hpp"
#include "registry/compile/compile_log.hpp"
#include "registry/compile/kept_handlers.hpp"
#include "registry/compile/sources.hpp"

namespace quarry::detail {
namespace {

/// As for precompiled kernels: nothing here changes what is computed. config.hpp has no annotations, so what
/// has none is for the device.
constexpr std::array options = {"-std=c++20", "-default-device", "--ptxas-options=-v"};

/// NVRTC keeps machine code on disk where there is a driver, and says nothing of registers when it takes it
/// from there. What is kept is our own cache's to decide. Versions that keep nothing do not know the option.
constexpr const char* keep_nothing = "--no-cache";
constexpr int unknown_option = 5;  // NVRTC_ERROR_INVALID_OPTION

std::string identity_of(const CompilerFile& file) {
  std::string text = "nvrtc " + file.path + " (" + file.fingerprint + ")";
  for (const char* option : options) text.append(" ").append(option);
  return text;
}

/// A program that is destroyed in the end.
class Program {
 public:
  Program(const NvrtcFunctions& nvrtc, const CompileJob& job) : nvrtc_(nvrtc) {
    std::vector<const char*> names, texts;  // literals, so that both end with 0
    for (const SourceFile& file : kernel_sources()) {
      names.push_back(file.name.data());
      texts.push_back(file.text.data());
    }
    result_ = nvrtc_.create_program(&program_, job.source.c_str(), (job.entry + ".cu").c_str(),
                                    static_cast<int>(texts.size()), texts.data(), names.data());
  }
  ~Program() {
    if (program_ != nullptr) nvrtc_.destroy_program(&program_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// What creating it answered.
  int result() const { return result_; }
  int compile(const std::string& target) {
    const KeptHandlers kept(reinterpret_cast<const void*>(nvrtc_.compile_program));
    std::vector<const char*> all(options.begin(), options.end());
    all.push_back(target.c_str());
    all.push_back(keep_nothing);
    const int result = nvrtc_.compile_program(program_, static_cast<int>(all.size()), all.data());
    if (result != unknown_option) return result;
    return nvrtc_.compile_program(program_, static_cast<int>(all.size()) - 1, all.data());
  }
  /// What one pair of functions gives; "" where it fails.
  std::string get(int (*size)(NvrtcProgram*, std::size_t*), int (*bytes)(NvrtcProgram*, char*)) const {
    std::size_t count = 0;
    if (size(program_, &count) != 0) return "";
    std::string text(count, '\0');
    return bytes(program_, text.data()) == 0 ? text : "";
  }
  /// The same of text, which ends with a 0 of its own.
  std::string get_text(int (*size)(NvrtcProgram*, std::size_t*), int (*bytes)(NvrtcProgram*, char*)) const {
    std::string text = get(size, bytes);
    text.resize(std::strlen(text.c_str()));
    return text;
  }

 private:
  const NvrtcFunctions& nvrtc_;
  NvrtcProgram* program_ = nullptr;
  int result_;
};

}  // namespace

NvrtcCompiler::NvrtcCompiler(CompilerFile file) : file_(std::move(file)), identity_(identity_of(file_)) {}

Result<NvrtcCompiler::Opened> NvrtcCompiler::open() const {
  const Result<NvrtcFunctions> functions = open_nvrtc(file_.path);
  if (!functions) return functions.status();
  Opened opened = {*functions, "", {}};
  int major = 0;
  int minor = 0;
  int count = 0;
  const bool known = functions->version(&major, &minor) == 0;
  const int version = known ? major * 1000 + minor * 10 : 0;
  if (Status s = check_version("NVRTC", file_.path, version); !s) return s;
  opened.name = "NVRTC " + cuda_version_text(version);
  if (functions->num_supported_archs(&count) != 0 || count < 0 || count > 1000) count = 0;
  opened.targets.resize(static_cast<std::size_t>(count));
  if (count > 0 && functions->supported_archs(opened.targets.data()) != 0) opened.targets.clear();
  return opened;
}

const Result<NvrtcCompiler::Opened>& NvrtcCompiler::opened() const {
  const std::lock_guard lock(mutex_);
  if (!opened_) opened_.emplace(open());
  return *opened_;
}

Result<Compiler::Output> NvrtcCompiler::build(const CompileJob& job, bool as_ptx) const {
  const Result<Opened>& nvrtc = opened();
  if (!nvrtc) return nvrtc.status();
  if (Status s = check_target(nvrtc->name, job, nvrtc->targets); !s) return s;
  const NvrtcFunctions& f = nvrtc->functions;
  Program program(f, job);
  if (program.result() != 0) {
    return Status(StatusCode::compile_error,
                  "error: " + nvrtc->name + " takes no program: " + f.error_string(program.result()));
  }
  const std::string target =
      (as_ptx ? "-arch=compute_" : "-arch=sm_") + architecture(job.target, job.only_cc);
  const int result = program.compile(target);
  Output output = {"", program.get_text(f.log_size, f.log)};
  if (result != 0) return compile_failure(output.log, nvrtc->name + " error: " + f.error_string(result));
  output.bytes = as_ptx ? program.get_text(f.ptx_size, f.ptx) : program.get(f.cubin_size, f.cubin);
  if (output.bytes.empty()) return compile_failure(output.log, nvrtc->name + " error: it gave no code");
  return output;
}

}  // namespace quarry::detail
