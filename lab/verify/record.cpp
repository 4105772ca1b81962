#include "lab/verify/record.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "basic/read_file.hpp"
#include "basic/text.hpp"

namespace quarry::lab {
namespace {

Status file_error(const std::string& path, std::string_view what) {
  return Status(StatusCode::file_error,
                "cannot " + std::string(what) + " " + detail::quoted(path) + ": " + std::strerror(errno));
}

}  // namespace

Result<VerifyRecord> VerifyRecord::open(const std::string& path, Place place, const std::string& only) {
  VerifyRecord record;
  record.path_ = path;
  record.place_ = place;
  record.only_ = only;
  record.file_.reset(std::fopen(path.c_str(), "a"));
  if (!record.file_) return file_error(path, "write");

  const Result<std::string> text = detail::read_file(path, detail::most_record_bytes);
  if (!text) {
    return Status(text.status().code(), "--resume " + detail::quoted(path) + ": " + text.status().message());
  }
  std::istringstream file(*text);
  bool whole = true;
  for (std::string line; std::getline(file, line);) {
    // Without its newline a line may be half of one, and half a name may be another kernel's.
    whole = !file.eof();
    std::istringstream words(line);
    std::string where, name, only_path, more;
    std::int64_t count = 0;
    if (!whole || !(words >> where >> count >> name)) continue;
    if (words >> only_path && words >> more) continue;
    if (where != to_string(place) || only_path != only) continue;
    std::int64_t& most = record.passed_[name];
    most = std::max(most, count);
  }
  if (!whole && (std::fputc('\n', record.file_.get()) == EOF || std::fflush(record.file_.get()) != 0)) {
    return file_error(path, "write");
  }
  return record;
}

Status VerifyRecord::add(std::string_view name, std::int64_t problems) {
  if (!file_) return {};
  const std::string line = std::string(to_string(place_)) + " " + std::to_string(problems) + " " +
                           std::string(name) + (only_.empty() ? "" : " " + only_) + "\n";
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
  if (!written || std::fflush(file_.get()) != 0) return file_error(path_, "write");
  return {};
}

}  // namespace quarry::lab
