#include "lab/verify/record.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <span>
#include <sstream>

#include "basic/read_file.hpp"
#include "basic/text.hpp"
#include "basic/write_bytes.hpp"

namespace quarry::lab {
namespace {

Status file_error(const std::string& path, std::string_view what) {
  return Status(StatusCode::file_error,
                "cannot " + std::string(what) + " " + detail::quoted(path) + ": " + std::strerror(errno));
}

/// Whether a line is of a record: whole, or cut anywhere, as a process leaves it that is killed.
bool is_of_record(std::string_view line) {
  for (const Place place : {Place::host, Place::device}) {
    const std::string begin = std::string(to_string(place)) + " ";
    if (!line.empty() && begin.starts_with(line)) return true;
    if (!line.starts_with(begin)) continue;
    const std::string_view rest = line.substr(begin.size());
    const std::string_view names = rest.substr(std::min(rest.find_first_not_of("0123456789"), rest.size()));
    return names.empty() ||
           (names.size() < rest.size() && names.starts_with(' ') && std::ranges::count(names, ' ') <= 2 &&
            std::ranges::all_of(names, [](char c) { return c >= ' ' && c <= '~'; }));
  }
  return false;
}

}  // namespace

Result<VerifyRecord> VerifyRecord::open(const std::string& path, Place place, const std::string& only) {
  VerifyRecord record;
  record.path_ = path;
  record.place_ = place;
  record.only_ = only;
  struct stat there;
  if (stat(path.c_str(), &there) == 0 && S_ISFIFO(there.st_mode))
    return Status(StatusCode::file_error, "cannot write " + detail::quoted(path) + ": it is not a file");
  record.file_.reset(std::fopen(path.c_str(), "a"));
  if (!record.file_) return file_error(path, "write");

  const Result<std::string> text = detail::read_file(path, detail::most_record_bytes);
  const auto bad = [&path](const Status& why) {
    return Status(why.code(), "--resume " + detail::quoted(path) + ": " + why.message());
  };
  if (!text) return bad(text.status());
  // Without its newline a line may be half of one, and half a name may be another kernel's.
  const std::size_t whole = text->rfind('\n') + 1;
  std::istringstream file(*text);
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!is_of_record(line)) {
      return bad({StatusCode::parse_error, "it is not a record of quarry verify: line " +
                                               std::to_string(number) + " is " + detail::quoted(line) +
                                               "; name another file"});
    }
    if (file.eof()) break;
    std::istringstream words(line);
    std::string where, name, only_path, more;
    std::int64_t count = 0;
    if (!(words >> where >> count >> name)) continue;
    if (words >> only_path && words >> more) continue;
    if (where != to_string(place) || only_path != only) continue;
    std::int64_t& most = record.passed_[name];
    most = std::max(most, count);
  }
  if (whole < text->size() && ftruncate(fileno(record.file_.get()), static_cast<off_t>(whole)) != 0)
    return file_error(path, "write");
  return record;
}

Status VerifyRecord::add(std::string_view name, std::int64_t problems) {
  if (!file_) return {};
  const std::string line = std::string(to_string(place_)) + " " + std::to_string(problems) + " " +
                           std::string(name) + (only_.empty() ? "" : " " + only_) + "\n";
  errno = detail::write_bytes(fileno(file_.get()), std::as_bytes(std::span(line)));
  return errno == 0 ? Status() : file_error(path_, "write");
}

}  // namespace quarry::lab
