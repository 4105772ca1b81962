#include "files.hpp"

#include <fstream>

#include "json_file.hpp"

namespace quarry::generator {
namespace {

namespace fs = std::filesystem;

Status io_failure(const fs::path& file, std::string_view what) {
  return {StatusCode::not_found, file.string() + ": " + std::string(what)};
}

/// Removes the files of a folder that are not in `files`, whose paths start at `root`.
Status remove_stale(const fs::path& root, const fs::path& folder, const Files& files) {
  std::error_code error;
  std::vector<fs::path> stale;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!files.contains(entry.path().lexically_relative(root).generic_string()))
      stale.push_back(entry.path());
  }
  for (const fs::path& path : stale) {
    fs::remove(path, error);
    if (error) return io_failure(path, "cannot be removed: " + error.message());
  }
  return {};
}

}  // namespace

Status write_if_changed(const fs::path& file, std::string_view text) {
  std::error_code error;
  if (fs::file_size(file, error) == text.size() && !error) {
    const Result<std::string> old = read_text(file);
    if (old && *old == text) return {};
  }
  fs::create_directories(file.parent_path(), error);
  // Whole or not at all: a build that is stopped here must not find half a file.
  const fs::path partial = file.string() + ".partial";
  std::ofstream stream(partial, std::ios::binary);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (!stream) return io_failure(partial, "cannot be written");
  fs::rename(partial, file, error);
  return error ? io_failure(file, "cannot be written: " + error.message()) : Status();
}

Status write_files(const fs::path& folder, const Files& files) {
  for (const auto& [path, text] : files) {
    if (Status ok = write_if_changed(folder / path, text); !ok) return ok;
  }
  return remove_stale(folder, folder / "units", files);
}

}  // namespace quarry::generator
