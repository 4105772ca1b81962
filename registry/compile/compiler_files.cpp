#include "registry/compile/compiler_files.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "basic/text.hpp"

namespace quarry::detail {
namespace {

namespace fs = std::filesystem;

/// The newest first.
constexpr const char* nvrtc_names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

/// The parts of a text between colons, less empty ones.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(':'));
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(part.size() < text.size() ? part.size() + 1 : part.size());
  }
  return parts;
}

/// Folders of toolkits that a user has named, in the order in which they count.
std::vector<std::string> named_toolkits() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (std::string folder = environment(variable); !folder.empty()) folders.push_back(std::move(folder));
  }
  return folders;
}

/// The toolkit of the nvcc on PATH; "" where there is none.
std::string toolkit_on_path() {
  for (const std::string& folder : split(environment("PATH"))) {
    const fs::path nvcc = fs::path(folder) / "nvcc";
    if (access(nvcc.c_str(), X_OK) != 0) continue;
    std::error_code error;
    const fs::path real = fs::canonical(nvcc, error);
    return error ? "" : real.parent_path().parent_path().string();
  }
  return "";
}

void add_library_folders(const std::string& toolkit, std::vector<std::string>& folders) {
  for (const char* below : {"/lib64", "/lib", "/targets/x86_64-linux/lib", "/targets/sbsa-linux/lib"})
    folders.push_back(toolkit + below);
}

/// Where NVIDIA's wheels put NVRTC in the Python environment that is active.
void add_wheels(std::vector<std::string>& folders) {
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string prefix = environment(variable);
    if (prefix.empty()) continue;
    folders.push_back(prefix + "/lib");
    std::error_code error;
    for (fs::directory_iterator python(prefix + "/lib", error), end; !error && python != end;
         python.increment(error)) {
      if (!python->path().filename().string().starts_with("python3")) continue;
      for (const char* below : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"})
        folders.push_back((python->path() / "site-packages" / below).string());
    }
  }
}

/// What the dynamic linker finds by name, by ways that are its own: its cache, the program's RUNPATH.
Result<CompilerFile> ask_the_linker() {
  for (const char* name : nvrtc_names) {
    void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);  // stays open: it is opened again to be used
    link_map* map = nullptr;
    if (library != nullptr && dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 &&
        map != nullptr) {
      return compiler_file(map->l_name);
    }
  }
  return Status(StatusCode::no_compiler,
                "NVRTC was not found: there is no libnvrtc.so.13 or libnvrtc.so.12 in LD_LIBRARY_PATH, "
                "CUDA_PATH, CUDA_HOME, beside the nvcc on PATH, in /usr/local/cuda, in the Python "
                "environment or among the system's libraries. QUARRY_NVRTC can name the file");
}

/// The file that an environment variable names.
Result<CompilerFile> named_file(const char* variable, const std::string& path) {
  Result<CompilerFile> file = compiler_file(path);
  if (file) return file;
  return Status(StatusCode::no_compiler,
                std::string(variable) + " cannot be used: " + file.status().message());
}

}  // namespace

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<CompilerFile> compiler_file(const std::string& path) {
  std::error_code error;
  const std::string real = fs::canonical(path, error).string();
  struct stat found {};
  if (error || stat(real.c_str(), &found) != 0)
    return Status(StatusCode::no_compiler, "there is no file " + detail::quoted(path));
  if (!S_ISREG(found.st_mode)) return Status(StatusCode::no_compiler, detail::quoted(path) + " is no file");
  return CompilerFile{real, std::to_string(found.st_size) + " bytes of " +
                                std::to_string(found.st_mtim.tv_sec) + "." +
                                std::to_string(found.st_mtim.tv_nsec)};
}

std::vector<std::string> nvrtc_folders() {
  std::vector<std::string> folders = split(environment("LD_LIBRARY_PATH"));
  for (const std::string& toolkit : named_toolkits()) add_library_folders(toolkit, folders);
  if (const std::string toolkit = toolkit_on_path(); !toolkit.empty()) add_library_folders(toolkit, folders);
  add_library_folders("/usr/local/cuda", folders);
  add_wheels(folders);
  for (const char* system :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"})
    folders.emplace_back(system);
  add_library_folders(QUARRY_BUILT_WITH, folders);
  return folders;
}

std::vector<std::string> nvcc_paths() {
  std::vector<std::string> paths;
  for (const std::string& folder : split(environment("PATH"))) paths.push_back(folder + "/nvcc");
  for (const std::string& toolkit : named_toolkits()) paths.push_back(toolkit + "/bin/nvcc");
  paths.emplace_back("/usr/local/cuda/bin/nvcc");
  paths.emplace_back(QUARRY_BUILT_WITH "/bin/nvcc");
  return paths;
}

Result<CompilerFile> find_nvrtc_file() {
  if (const std::string path = environment("QUARRY_NVRTC"); !path.empty())
    return named_file("QUARRY_NVRTC", path);
  for (const std::string& folder : nvrtc_folders()) {
    for (const char* name : nvrtc_names) {
      if (Result<CompilerFile> file = compiler_file(folder + "/" + name)) return file;
    }
  }
  return ask_the_linker();
}

Result<CompilerFile> find_nvcc_file() {
  if (const std::string path = environment("QUARRY_NVCC"); !path.empty())
    return named_file("QUARRY_NVCC", path);
  for (const std::string& path : nvcc_paths()) {
    if (access(path.c_str(), X_OK) != 0) continue;
    if (Result<CompilerFile> file = compiler_file(path)) return file;
  }
  return Status(StatusCode::no_compiler,
                "nvcc was not found: it is neither on PATH nor in CUDA_PATH, CUDA_HOME or /usr/local/cuda. "
                "QUARRY_NVCC can name the file");
}

}  // namespace quarry::detail
