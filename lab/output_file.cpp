#include "lab/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "basic/write_bytes.hpp"
#include "lab/text.hpp"
#include "registry/compile/disk_cache_folder.hpp"
#include "registry/compile/whole_file.hpp"

namespace quarry::lab {
namespace {

Status written(const std::string& path, int error) {
  if (error == 0) return {};
  return Status(StatusCode::file_error, "cannot write " + quoted(path) + ": " + std::strerror(error));
}

}  // namespace

Status write_file(const std::string& path, std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  struct stat there = {};
  if (stat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode)) return detail::write_whole_file(path, bytes);
  const detail::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return written(path, file ? detail::write_bytes(file.number(), bytes) : errno);
}

struct GrowingFile::File {
  std::string path;
  detail::Descriptor descriptor;
};

GrowingFile::GrowingFile() = default;
GrowingFile::~GrowingFile() = default;

Status GrowingFile::open(const std::string& path) {
  detail::Descriptor descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!descriptor) return written(path, errno);
  file_ = std::make_unique<File>(File{path, std::move(descriptor)});
  return {};
}

Status GrowingFile::add(std::string_view text) {
  return written(file_->path,
                 detail::write_bytes(file_->descriptor.number(), std::as_bytes(std::span(text))));
}

}  // namespace quarry::lab
