#include "tools/emulate/modules.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "registry/basic/text.hpp"
#include "registry/host/parallel.hpp"

extern char** environ;

namespace quarry::emulate {
namespace {

namespace fs = std::filesystem;

/// Entries of a module, at most: few enough to spread over processors, enough to share the headers.
constexpr std::size_t most_entries = 8;

Status failure(std::string message) { return {StatusCode::device_error, std::move(message)}; }

/// What the build wrote down of an entry: how its kernel is instantiated.
struct EntrySource {
  std::string folder;
  std::string text;
};

using EntrySources = std::map<std::string, EntrySource, std::less<>>;

Result<EntrySources> read_sources() {
  std::ifstream file(QUARRY_MANIFEST);
  const auto manifest = nlohmann::json::parse(file, nullptr, false);
  if (!manifest.is_object()) return failure(QUARRY_MANIFEST ": the build's list of kernels cannot be read");
  EntrySources sources;
  for (const auto& entry : manifest.at("entries")) {
    const std::string folder = entry.at("folder");
    const std::string name = entry.at("name");
    sources[name] = {folder, "QUARRY_ENTRY(" + name + ", " + std::string(entry.at("params")) + ", quarry::" +
                                 folder + "::kernel, (" + std::string(entry.at("config")) + "))\n"};
  }
  return sources;
}

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

/// The words of the compiler's command line but for input and output.
std::vector<std::string> compiler(const std::string& kernels) {
  const std::string root = QUARRY_SOURCE_DIR;
  std::vector<std::string> words = {QUARRY_EMULATED_COMPILER};
  std::istringstream flags(QUARRY_EMULATED_FLAGS);
  for (std::string flag; flags >> flag;) words.push_back(flag);
  words.push_back("-I" + (kernels.empty() ? root + "/kernels" : kernels));
  for (const char* folder : {"", "/include"}) words.push_back("-I" + root + folder);
  return words;
}

/// One source of kernels of one folder.
struct Module {
  std::string folder;
  std::vector<std::string> names;
  std::string text;
};

std::vector<Module> split(std::span<const std::string> names, const EntrySources& sources) {
  std::map<std::string, Module> open;
  std::vector<Module> modules;
  for (const std::string& name : names) {
    const EntrySource& source = sources.find(name)->second;
    Module& module = open[source.folder];
    if (module.names.empty()) module.text = "#include \"" + source.folder + "/kernel.cuh\"\n";
    module.folder = source.folder;
    module.text += source.text;
    module.names.push_back(name);
    if (module.names.size() == most_entries) {
      modules.push_back(std::move(module));
      module = {};
    }
  }
  for (auto& [folder, module] : open) {
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

Result<Modules> Modules::compile(std::span<const std::string> entries, const std::string& kernels) {
  const Result<EntrySources> sources = read_sources();
  if (!sources) return sources.status();
  for (const std::string& name : entries) {
    if (!sources->contains(name))
      return Status(StatusCode::not_found, "there is no entry named " + detail::quoted(name));
  }
  const ScratchFolder scratch;
  if (scratch.path().empty()) return failure("there is no folder for temporary files");
  const std::vector<Module> modules = split(entries, *sources);
  const std::vector<std::string> command = compiler(kernels);
  Modules made;
  Status status;
  std::mutex mutex;
  host::parallel_for(std::ssize(modules), host::default_threads(), [&](int, std::int64_t i) {
    const Module& module = modules[static_cast<std::size_t>(i)];
    const Result<void*> handle = build(module, command, scratch.path() / std::to_string(i));
    const std::lock_guard lock(mutex);
    if (!handle) {
      if (status) status = handle.status();
      return;
    }
    for (const std::string& name : module.names) {
      made.entries_[name] = static_cast<const emulator::Entry*>(dlsym(*handle, name.c_str()));
    }
  });
  if (!status) return status;
  return made;
}

}  // namespace quarry::emulate
