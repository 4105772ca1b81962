#include "registry/compile/temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "basic/text.hpp"
#include "registry/compile/compiler_files.hpp"

namespace quarry::detail {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  const std::string parent = environment("TMPDIR");
  std::error_code error;
  std::string path = fs::absolute(parent.empty() ? "/tmp" : parent, error).string() + "/quarry-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    status_ = {StatusCode::no_compiler,
               "no temporary folder can be made: " + detail::quoted(path) + ": " + std::strerror(errno)};
    return;
  }
  path_ = std::move(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

Status TemporaryFolder::write(std::string_view name, std::string_view text) const {
  const fs::path path = fs::path(path_) / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream stream(path, std::ios::binary);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (stream) return {};
  return {StatusCode::no_compiler, detail::quoted(path.string()) + " cannot be written"};
}

}  // namespace quarry::detail
