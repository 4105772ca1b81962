#include "lab/verify/ledger.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <span>

#include "basic/read_file.hpp"
#include "basic/text.hpp"
#include "lab/problems/seed.hpp"
#include "lab/verify/built_in_ledger.hpp"
#include "registry/compile/sources.hpp"
#include "registry/compile/whole_file.hpp"

namespace quarry::lab {
namespace {

constexpr std::string_view title = "quarry ledger ";
constexpr int version = 1;

std::string checksum_text(std::string_view text) {
  char digits[17] = {};
  std::to_chars(digits, digits + 16, number_of(text), 16);
  return digits;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Takes a text apart, line by line.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text), text_(text) {}

  Status run(Ledger& ledger) {
    if (Status s = read_title(); !s) return s;
    std::string device;
    std::string sources;
    std::string kernel;
    while (next()) {
      if (line_.starts_with("end ")) return read_end(ledger);
      if (line_.starts_with("device ")) {
        device = line_.substr(7);
        sources.clear();
      } else if (line_.starts_with("sources ")) {
        sources = line_.substr(8);
        kernel.clear();
      } else if (device.empty() || sources.empty() || !read_kernel(kernel)) {
        return damaged();
      } else {
        ledger.add(device, sources, kernel, problems_);
        ++kernels_;
      }
    }
    return {StatusCode::parse_error, "it is cut short: its last line, `end`, is missing"};
  }

 private:
  /// Goes on to the next line that ends with a newline.
  bool next() {
    const std::size_t end = rest_.find('\n');
    if (end == rest_.npos) return false;
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++number_;
    return true;
  }

  Status read_title() {
    const Status foreign(StatusCode::parse_error, "it is not a ledger");
    int found = 0;
    if (!next() || !line_.starts_with(title) || !read_number(line_.substr(title.size()), found))
      return foreign;
    if (found > version) {
      return {StatusCode::parse_error, "it was written by a later Quarry: its version is " +
                                           std::to_string(found) + ", this one reads " +
                                           std::to_string(version)};
    }
    return found == version ? Status() : foreign;
  }

  /// A line "41 128x64x16_t8x4 9".
  bool read_kernel(std::string& kernel) {
    const std::size_t first = line_.find(' ');
    const std::size_t last = line_.rfind(' ');
    std::size_t shared = 0;
    if (first == line_.npos || first == last || !read_number(line_.substr(0, first), shared)) return false;
    if (!read_number(line_.substr(last + 1), problems_) || problems_ < 1) return false;
    if (shared > kernel.size()) return false;
    kernel = kernel.substr(0, shared) + std::string(line_.substr(first + 1, last - first - 1));
    return true;
  }

  Status read_end(const Ledger& ledger) {
    const auto before = static_cast<std::size_t>(line_.data() - text_.data());
    const std::string expected =
        "end " + std::to_string(ledger.size()) + " " + checksum_text(text_.substr(0, before));
    if (line_ != expected || kernels_ != ledger.size() || !rest_.empty()) return damaged();
    return {};
  }

  Status damaged() const {
    return {StatusCode::parse_error, "it is damaged, at line " + std::to_string(number_)};
  }

  std::string_view rest_;
  std::string_view text_;
  std::string_view line_;
  std::size_t number_ = 0;
  std::size_t kernels_ = 0;
  std::int64_t problems_ = 0;
};

/// Holds a lock on a folder, for processes that change the same file in it.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path) {
    const std::string parent = std::filesystem::path(path).parent_path().string();
    file_ = open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file_ < 0 || flock(file_, LOCK_EX) != 0) error_ = errno;
  }
  ~FolderLock() {
    if (file_ >= 0) close(file_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  int error() const { return error_; }

 private:
  int file_ = -1;
  int error_ = 0;
};

}  // namespace

Result<Ledger> Ledger::parse(std::string_view text) {
  Ledger ledger;
  if (Status s = Reader(text).run(ledger); !s) return s;
  return ledger;
}

Result<Ledger> Ledger::read(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(path, error);
  if (there.type() == std::filesystem::file_type::not_found) return Ledger();
  // Opening a pipe would wait for somebody to write into it.
  if (there.type() == std::filesystem::file_type::fifo)
    return Status(StatusCode::file_error, "ledger " + detail::quoted(path) + ": it is not a file");
  const Result<std::string> text = detail::read_file(path);
  Result<Ledger> ledger = text ? parse(*text) : Result<Ledger>(text.status());
  if (ledger) return ledger;
  return Status(ledger.status().code(), "ledger " + detail::quoted(path) + ": " + ledger.status().message());
}

void Ledger::add(const std::string& device, const std::string& sources, const std::string& kernel,
                 std::int64_t problems) {
  std::int64_t& most = parts_[{device, sources}][kernel];
  most = std::max(most, problems);
}

void Ledger::merge(const Ledger& other) {
  for (const auto& [key, kernels] : other.parts_) {
    for (const auto& [kernel, problems] : kernels) add(key.first, key.second, kernel, problems);
  }
}

std::size_t Ledger::size() const {
  std::size_t all = 0;
  for (const auto& [key, kernels] : parts_) all += kernels.size();
  return all;
}

std::string Ledger::text() const {
  std::string text = std::string(title) + std::to_string(version) + "\n";
  for (const auto& [key, kernels] : parts_) {
    text += "device " + key.first + "\nsources " + key.second + "\n";
    std::string_view before;
    for (const auto& [kernel, problems] : kernels) {
      const auto shared = std::ranges::mismatch(before, kernel).in1 - before.begin();
      text += std::to_string(shared) + " " + kernel.substr(static_cast<std::size_t>(shared)) + " " +
              std::to_string(problems) + "\n";
      before = kernel;
    }
  }
  return text + "end " + std::to_string(size()) + " " + checksum_text(text) + "\n";
}

std::vector<std::string> Ledger::kernels() const {
  std::set<std::string> names;
  for (const auto& [key, kernels] : parts_) {
    for (const auto& [kernel, problems] : kernels) names.insert(kernel);
  }
  return {names.begin(), names.end()};
}

std::string Ledger::where_verified(std::string_view kernel, std::string_view sources) const {
  return places(kernel, sources, false);
}

std::string Ledger::where_code_verified(std::string_view entry, std::string_view sources) const {
  const std::string devices = places(entry, sources, true);
  return devices.empty() ? devices : "its code on " + devices;
}

/// @param of_devices without the host executor
std::string Ledger::places(std::string_view kernel, std::string_view sources, bool of_devices) const {
  // Of each device what was verified of these sources, else the most of others.
  std::map<std::string, std::pair<bool, std::int64_t>> devices;
  for (const auto& [key, kernels] : parts_) {
    const auto found = kernels.find(kernel);
    if (found == kernels.end() || (of_devices && key.first == host_executor)) continue;
    auto& known = devices[key.first];
    known = std::max(known, std::pair(key.second == sources, found->second));
  }
  std::string text;
  for (const auto& [device, known] : devices) {
    text += (text.empty() ? "" : ", ") + device + " (" + std::to_string(known.second) +
            (known.second == 1 ? " problem" : " problems") + (known.first ? ")" : ", earlier sources)");
  }
  return text;
}

Status add_to_file(const std::string& path, const Ledger& ledger) {
  // Others may come to the file by another path.
  const FolderLock lock(detail::file_behind(path));
  if (lock.error() != 0) {
    return {StatusCode::file_error,
            "cannot write " + detail::quoted(path) + ": " + std::strerror(lock.error())};
  }
  Result<Ledger> all = Ledger::read(path);
  if (!all) return all.status();
  all->merge(ledger);
  const std::string text = all->text();
  return detail::write_whole_file(path, std::as_bytes(std::span(text)));
}

Result<Ledger> known_ledger() {
  const char* const path = std::getenv("QUARRY_LEDGER");
  if (path == nullptr || *path == '\0') return Ledger::parse(built_in_ledger());
  const std::string where = "QUARRY_LEDGER: ";
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error)
    return Status(StatusCode::file_error, where + "there is no file " + detail::quoted(path));
  Result<Ledger> read = Ledger::read(path);
  if (!read) return Status(read.status().code(), where + read.status().message());
  return read;
}

std::string sources_of(std::string_view kernel) { return std::string(detail::sources_digest(kernel)); }

}  // namespace quarry::lab
