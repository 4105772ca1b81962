#include "lab/bench/record.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "basic/read_file.hpp"
#include "basic/text.hpp"
#include "basic/write_bytes.hpp"
#include "lab/bench/result_text.hpp"

namespace quarry::lab {
namespace {

using nlohmann::ordered_json;

constexpr const char* version_key = "quarry_bench_record";
constexpr int version = 1;

std::string header_text(const BenchSetup& setup) {
  ordered_json parts = ordered_json::object();
  for (const auto& [name, value] : setup) parts[name] = value;
  const ordered_json header = {{version_key, version}, {"setup", parts}};
  return header.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// The setup of a first line. Fails with a message that goes on after the file's name.
Result<BenchSetup> read_header(std::string_view line) {
  const Status foreign(StatusCode::parse_error, "it is not a record of quarry bench");
  try {
    const ordered_json header = ordered_json::parse(line);
    const int found = header.at(version_key).get<int>();
    if (found > version) {
      return Status(StatusCode::parse_error, "it was written by a later Quarry: its version is " +
                                                 std::to_string(found) + ", this one reads " +
                                                 std::to_string(version));
    }
    BenchSetup setup;
    for (const auto& [name, value] : header.at("setup").items())
      setup.emplace_back(name, value.get<std::string>());
    return found == version ? Result<BenchSetup>(std::move(setup)) : foreign;
  } catch (const ordered_json::exception&) {
    return foreign;
  }
}

/// Takes the first line off a text, without its newline.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

Result<BenchRecord> BenchRecord::read(const std::string& path) {
  BenchRecord record;
  record.path_ = path;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return record;
  const auto bad = [&path](const Status& why) {
    return Status(StatusCode::parse_error, "--resume " + detail::quoted(path) + ": " + why.message());
  };
  const Result<std::string> text = detail::read_file(path, detail::most_record_bytes);
  if (!text) return bad(text.status());
  if (text->empty()) return record;
  std::string_view rest = *text;
  Result<BenchSetup> setup = read_header(take_line(rest));
  if (!setup) return bad(setup.status());
  record.setup_ = *std::move(setup);
  record.is_whole_ = text->back() == '\n';
  while (!rest.empty()) {
    std::optional<WrittenResult> written = read_result(take_line(rest));
    if (written) record.results_[written->command].push_back(std::move(written->result));
  }
  return record;
}

std::string BenchRecord::part(const std::string& name) const {
  if (!setup_) return "";
  const auto found = std::ranges::find(*setup_, name, &BenchSetup::value_type::first);
  return found == setup_->end() ? "" : found->second;
}

Status BenchRecord::check(const BenchSetup& parts) const {
  if (!setup_) return {};
  for (const auto& [name, value] : parts) {
    const std::string then = part(name);
    if (then == value) continue;
    const auto said = [](const std::string& text) { return text.empty() ? "nothing" : detail::quoted(text); };
    return Status(StatusCode::invalid_arguments, "--resume " + detail::quoted(path_) +
                                                     ": it has results of " + name + " " + said(then) +
                                                     ", not " + said(value) + "; name another file");
  }
  return {};
}

std::vector<std::optional<BenchResult>> BenchRecord::results_of(const std::vector<Problem>& problems) const {
  std::map<std::string, std::size_t> used;
  std::vector<std::optional<BenchResult>> results;
  for (const Problem& problem : problems) {
    std::optional<BenchResult>& result = results.emplace_back();
    const std::string command = command_text(problem);
    const auto found = results_.find(command);
    if (found == results_.end()) continue;
    const std::size_t number = used[command]++;
    if (number >= found->second.size()) continue;
    result = found->second[number];
    result->problem = problem;
  }
  return results;
}

Status BenchRecord::write_line(const std::string& line) {
  const std::string whole = (is_whole_ ? "" : "\n") + line + "\n";
  is_whole_ = true;
  // Past the buffer of the stream, in which nothing is ever written.
  const int error = file_ ? detail::write_bytes(fileno(file_.get()), std::as_bytes(std::span(whole))) : EBADF;
  if (error == 0) return {};
  return Status(StatusCode::file_error,
                "cannot write " + detail::quoted(path_) + ": " + std::strerror(error));
}

Status BenchRecord::open(const BenchSetup& setup) {
  if (path_.empty()) return {};
  if (Status s = check(setup); !s) return s;
  file_.reset(std::fopen(path_.c_str(), "a"));
  if (!file_) {
    return Status(StatusCode::file_error,
                  "cannot write " + detail::quoted(path_) + ": " + std::strerror(errno));
  }
  if (setup_) return {};
  setup_ = setup;
  return write_line(header_text(setup));
}

Status BenchRecord::add(const BenchResult& result) {
  return path_.empty() ? Status() : write_line(result_text(result));
}

}  // namespace quarry::lab
