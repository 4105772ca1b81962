#include "lab/emulate/modules.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <system_error>

#include "lab/emulate/held_interrupts.hpp"
#include "operations/common/host/parallel.hpp"
#include "registry/compile/sources.hpp"

extern char** environ;

namespace quarry::lab::emulate {
namespace {

namespace fs = std::filesystem;

/// Entries of a module, at most: few enough to spread over processors, enough to share the headers.
constexpr std::size_t most_entries = 8;

Status failure(std::string message) { return {StatusCode::device_error, std::move(message)}; }

/// A folder of this process that goes away with it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "quarry-emulate-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Runs a program with its output in a file; whether it ended with 0.
bool run_program(const std::vector<std::string>& words, const fs::path& output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  return error == 0 && waitpid(child, &status, 0) == child && status == 0;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The words of the compiler's command line without input and output.
std::vector<std::string> compiler(const std::string& kernels) {
  const std::string root = QUARRY_SOURCE_DIR;
  std::vector<std::string> words = {QUARRY_EMULATED_COMPILER};
  std::istringstream flags(QUARRY_EMULATED_FLAGS);
  for (std::string flag; flags >> flag;) words.push_back(flag);
  words.push_back("-I" + (kernels.empty() ? root + "/kernels" : kernels));
  for (const char* folder : {"", "/include"}) words.push_back("-I" + root + folder);
  return words;
}

/// One source of kernels that include the same header.
struct Module {
  std::vector<std::string> names;
  std::string text;
};

/// The first line of a source: what it includes.
std::string_view include_of(std::string_view source) { return source.substr(0, source.find('\n') + 1); }

Result<std::vector<Module>> split(std::span<const std::string> names) {
  std::map<std::string, Module, std::less<>> open;
  std::vector<Module> modules;
  for (const std::string& name : names) {
    const Result<detail::EntrySource> source = detail::entry_source(name);
    if (!source) return source.status();
    const std::string_view include = include_of(source->text);
    Module& module = open[std::string(include)];
    if (module.names.empty()) module.text = include;
    module.text += source->text.substr(include.size());
    module.names.push_back(name);
    if (module.names.size() == most_entries) {
      modules.push_back(std::move(module));
      module = {};
    }
  }
  for (auto& [include, module] : open) {
    if (!module.names.empty()) modules.push_back(std::move(module));
  }
  return modules;
}

Result<void*> build(const Module& module, const std::vector<std::string>& command, const fs::path& stem) {
  const fs::path source = stem.string() + ".cpp";
  const fs::path library = stem.string() + ".so";
  const fs::path log = stem.string() + ".log";
  std::ofstream(source) << module.text;
  std::vector<std::string> words = command;
  words.insert(words.end(), {source.string(), "-o", library.string()});
  if (!run_program(words, log)) return failure("kernels do not compile for the emulator:\n" + contents(log));
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return failure("a module of emulated kernels cannot be loaded: " + std::string(dlerror()));
  return handle;
}

}  // namespace

/// Entries that were compiled after the others.
struct Modules::Later {
  std::mutex mutex;
  Entries entries;
};

namespace {

using Entries = std::map<std::string, const emulator::Entry*, std::less<>>;

Result<Entries> compile_entries(std::span<const std::string> names, const std::string& kernels) {
  const Result<std::vector<Module>> modules = split(names);
  if (!modules) return modules.status();
  const HeldInterrupts interrupts;  // until the folder is gone
  const ScratchFolder scratch;
  if (scratch.path().empty()) return failure("there is no folder for temporary files");
  const std::vector<std::string> command = compiler(kernels);
  Entries made;
  Status status;
  std::mutex mutex;
  host::parallel_for(std::ssize(*modules), host::default_threads(), [&](int, std::int64_t i) {
    if (interrupts.has_come()) return;
    const Module& module = (*modules)[static_cast<std::size_t>(i)];
    const Result<void*> handle = build(module, command, scratch.path() / std::to_string(i));
    const std::lock_guard lock(mutex);
    if (!handle) {
      if (status) status = handle.status();
      return;
    }
    for (const std::string& name : module.names) {
      made[name] = static_cast<const emulator::Entry*>(dlsym(*handle, name.c_str()));
    }
  });
  if (interrupts.has_come()) return failure("an interrupt ended the compilation");
  if (!status) return status;
  return made;
}

}  // namespace

Result<Modules> Modules::compile(std::span<const std::string> entries, const std::string& kernels) {
  Result<Entries> made = compile_entries(entries, kernels);
  if (!made) return made.status();
  Modules modules;
  modules.kernels_ = kernels;
  modules.entries_ = *std::move(made);
  modules.later_ = std::make_shared<Later>();
  return modules;
}

Result<const emulator::Entry*> Modules::find(std::string_view name) const {
  if (const auto found = entries_.find(name); found != entries_.end()) return found->second;
  const std::string own(name);
  {
    const std::lock_guard lock(later_->mutex);
    if (const auto found = later_->entries.find(own); found != later_->entries.end()) return found->second;
  }
  const Result<Entries> made = compile_entries({&own, 1}, kernels_);
  if (!made) return made.status();
  const std::lock_guard lock(later_->mutex);
  return later_->entries.try_emplace(own, made->begin()->second).first->second;
}

}  // namespace quarry::lab::emulate
