#include "lab/bench/shared_library.hpp"

#include <filesystem>
#include <vector>

#include "basic/text.hpp"
#include "lab/text.hpp"
#include "registry/compile/compiler_files.hpp"

namespace quarry::lab {
namespace {

namespace fs = std::filesystem;

/// The library of NVIDIA's wheels in the Pythons of the system, which no variable names.
void add_system_pythons(const SharedLibrary& library, std::vector<std::string>& paths) {
  for (const char* lib : {"/usr/local/lib", "/usr/lib"}) {
    std::error_code error;
    for (fs::directory_iterator python(lib, error), end; !error && python != end; python.increment(error)) {
      if (!python->path().filename().string().starts_with("python3")) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) {
        for (const char* wheel : library.wheels)
          paths.push_back((python->path() / packages / "nvidia" / wheel).string());
      }
    }
  }
}

/// Files that may be the library, by what else is known of where toolkits are.
std::vector<std::string> likely_paths(const SharedLibrary& library) {
  std::vector<std::string> folders;
  for (const std::string& folder : detail::nvrtc_folders()) {
    folders.push_back(folder);
    for (const char* wheel : library.wheels)
      folders.push_back(folder + "/../../" + wheel);  // beside the wheel of NVRTC
  }
  add_system_pythons(library, folders);
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    for (const char* name : library.names) {
      std::error_code error;
      if (fs::is_regular_file(folder + "/" + name, error)) paths.push_back(folder + "/" + name);
    }
  }
  for (const char* name : library.names) paths.emplace_back(name);  // for the dynamic linker to find
  return paths;
}

}  // namespace

Status open_shared(const SharedLibrary& library, const std::string& path,
                   const std::function<const char*(void*)>& look_up_all) {
  const auto open_one = [&](const std::string& file) -> Status {
    const auto unusable = [&](const std::string& why) {
      return Status(StatusCode::not_found,
                    std::string(library.title) + " cannot be used: " + one_ascii_line(why));
    };
    void* const opened = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (opened == nullptr) {
      const char* const why = dlerror();
      return unusable(why == nullptr ? file : why);
    }
    if (const char* missing = look_up_all(opened))
      return unusable(detail::quoted(file) + " has no function " + missing);
    return {};
  };
  // With a slash, so that the file of that name is meant and not one that the linker knows.
  if (!path.empty()) return open_one(path.find('/') == path.npos ? "./" + path : path);
  for (const std::string& likely : likely_paths(library)) {
    if (open_one(likely)) return {};
  }
  return Status(StatusCode::no_device, std::string(library.title) + " was not found: there is no " +
                                           library.names.back() +
                                           " in LD_LIBRARY_PATH, CUDA_PATH, CUDA_HOME, "
                                           "/usr/local/cuda, Python's packages or among the system's "
                                           "libraries. " +
                                           library.flag + " can name the file");
}

std::string file_of(const void* function) {
  Dl_info info = {};
  const bool known = dladdr(function, &info) != 0;
  return known && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace quarry::lab
