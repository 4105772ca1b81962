#include "registry/tuning/table.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "basic/read_file.hpp"
#include "basic/text.hpp"

namespace quarry::detail {
namespace {

/// Whether a text ends within a line of a table: a writer was killed.
bool ends_within_line(std::string_view text) {
  const std::string_view last = text.substr(text.rfind('\n') + 1);
  return !last.empty() && (last.starts_with(line_begin) || line_begin.starts_with(last));
}

}  // namespace

void TuningTable::add(const Measurement& measurement) {
  measurements_.try_emplace(id_of(measurement), measurement);
}

void TuningTable::join(const TuningTable& other) {
  measurements_.insert(other.measurements_.begin(), other.measurements_.end());
  damaged_ += other.damaged_;
  future_.insert(other.future_.begin(), other.future_.end());
}

void TuningTable::read(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    IdentifiedMeasurement read;
    switch (read_line(line, read)) {
      case LineVerdict::read: measurements_.try_emplace(read.id, std::move(read.measurement)); break;
      case LineVerdict::future: future_.emplace(line); break;
      case LineVerdict::damaged: ++damaged_; break;
    }
  }
}

std::string TuningTable::text() const {
  std::string text;
  for (const auto& [id, measurement] : measurements_) text += to_line(measurement) + "\n";
  for (const std::string& line : future_) text += line + "\n";
  return text;
}

Result<TuningTable> read_table(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return Status(StatusCode::file_error, "Tuning table " + quoted(path) + ": it is not a file");
  const Result<std::string> text = read_file(path, most_table_bytes);
  if (!text)
    return Status(StatusCode::file_error, "Tuning table " + quoted(path) + ": " + text.status().message());
  TuningTable table;
  table.read(*text);
  // A table whose first writer was killed has one line, which is cut short. Other lines are of somebody else.
  const bool is_cut = table.damaged() == 1 && ends_within_line(*text);
  if (table.size() == 0 && table.damaged() > 0 && table.future() == 0 && !is_cut) {
    return Status(StatusCode::parse_error,
                  "Tuning table " + quoted(path) + ": no line of it is a measurement of a tuning table");
  }
  return table;
}

}  // namespace quarry::detail
