#include "lab/tune/recorded_times.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "basic/read_file.hpp"
#include "basic/text.hpp"
#include "lab/problems/query.hpp"
#include "lab/tune/problem_lines.hpp"
#include "quarry/registry.hpp"
#include "registry/query/tuned.hpp"

namespace quarry::lab {
namespace {

using nlohmann::json;

constexpr double most_us = 1e12;

/// Takes members of a line; the first that is missing or wrong is kept as the fault.
class Line {
 public:
  explicit Line(const json& object) : object_(object) {}

  const std::string& fault() const { return fault_; }

  std::string text(const char* key) {
    const auto found = object_.find(key);
    if (found != object_.end() && found->is_string()) return found->get<std::string>();
    return fail(key, "a text"), "";
  }
  /// Absent where it is null or missing.
  std::optional<double> number(const char* key, double least, double most) {
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return std::nullopt;
    if (found->is_number() && found->get<double>() >= least && found->get<double>() <= most)
      return found->get<double>();
    return fail(key, "a number in its bounds"), std::nullopt;
  }
  /// The same of a whole number.
  std::optional<int> integer(const char* key, int least, int most) {
    const std::optional<double> value = number(key, least, most);
    if (!value || *value == std::floor(*value))
      return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
    return fail(key, "a whole number"), std::nullopt;
  }
  template <class Parse>
  auto word(const char* key, Parse parse) -> std::optional<std::decay_t<decltype(*parse(""))>> {
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return std::nullopt;
    if (found->is_string()) {
      if (const auto value = parse(found->get<std::string>())) return *value;
    }
    return fail(key, "a known word"), std::nullopt;
  }

  void fail(const char* key, const char* expected) {
    if (fault_.empty()) fault_ = "member `" + std::string(key) + "`: expected " + expected;
  }

 private:
  const json& object_;
  std::string fault_;
};

/// Whether a control that a problem fixes is another one in what was recorded.
bool contradict(const Controls& fixed, const Controls& recorded) {
  const auto differ = [](const auto& one, const auto& other) { return one && other && *one != *other; };
  return differ(fixed.mode, recorded.mode) || differ(fixed.split_k_slices, recorded.split_k_slices) ||
         differ(fixed.swizzle, recorded.swizzle) || differ(fixed.raster, recorded.raster);
}

detail::TuningTimes one_time(double us) { return {us, us, us}; }

/// Adds what a line says. @return what is wrong with it, or ""
std::string read_record(const json& object, RecordedProblems& problems) {
  if (!object.is_object()) return "expected an object";
  Line line(object);
  constexpr double least_us = 1e-6;
  KernelTime time{.kernel = line.text("kernel"),
                  .controls = {.mode = line.word("mode", parse_mode),
                               .split_k_slices = line.integer("split_k", 1, 1 << 20),
                               .swizzle = line.integer("swizzle", 1, 8),
                               .raster = line.word("raster", parse_raster)}};
  const std::optional<double> measured = line.number("measured_us", least_us, most_us);
  if (measured) time.gaps_us = one_time(*measured);
  if (!measured) line.fail("measured_us", "a number in its bounds");
  const std::optional<double> load = line.number("back_to_back_us", least_us, most_us);
  if (load) time.load_us = one_time(*load);
  time.predicted_us = line.number("predicted_us", 0, most_us);
  const double cost = line.number("cost_s", 0, most_us).value_or(0);
  const Result<Problem> problem = parse_command_text(line.text("command"));
  if (!line.fault().empty()) return line.fault();
  if (!problem) return "member `command`: " + problem.status().message();
  RecordedProblem& record = problems[command_text(*problem)];
  record.kernels.push_back(std::move(time));
  record.cost += cost;
  return "";
}

}  // namespace

Result<RecordedFile> read_recorded_times(const std::string& path) {
  const auto in_file = [&](const std::string& why) {
    return Status(StatusCode::parse_error, "recorded times " + detail::quoted(path) + ": " + why);
  };
  const Result<std::string> text = detail::read_file(path, detail::most_record_bytes);
  if (!text) return in_file(text.status().message());
  RecordedFile file;
  std::size_t number = 0;
  // No member of a record is a list: what lists hold is not kept, however deep they are.
  const auto keep = [](int depth, json::parse_event_t, const json&) { return depth <= 1; };
  for (std::string_view left = *text; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const json object = json::parse(line, keep, false);
    const std::string fault = object.is_discarded() ? "not JSON" : read_record(object, file.problems);
    file.is_cut = !fault.empty() && left.empty() && text->back() != '\n';
    if (!fault.empty() && !file.is_cut) return in_file("line " + std::to_string(number) + ": " + fault);
  }
  if (file.problems.empty()) return in_file("there is no time in it");
  return file;
}

Result<std::vector<KernelTime>> RecordedTimes::measure(const Problem& problem) {
  auto found = problems_.find(command_text(problem));
  // What a kernel takes does not depend on the options, which only leave kernels out.
  if (found == problems_.end()) found = problems_.find(plain_text(problem));
  if (found == problems_.end())
    return Status(StatusCode::not_found, "no time was recorded of " + command_text(problem));
  now_ += found->second.cost;
  std::vector<KernelTime> right;
  Status why;
  for (KernelTime time : found->second.kernels) {
    const Result<Kernel> kernel = find_kernel(time.kernel);
    if (!kernel) {
      why = kernel.status();
      continue;
    }
    const Controls fixed = controls_of(problem);
    if (contradict(fixed, time.controls)) {
      why = Status(StatusCode::unsupported, "a time was recorded with other controls than the problem has");
      continue;
    }
    const Problem as_recorded = with(detail::completed(fixed, time.controls), problem);
    const Result<Candidate> candidate =
        candidate_of(*kernel, as_recorded, find_options(problem, {.device = &device_}));
    if (!candidate) {
      why = candidate.status();
      continue;
    }
    time.workspace = candidate->workspace();
    time.controls = candidate->controls();
    right.push_back(std::move(time));
  }
  if (right.empty()) return Status(StatusCode::unsupported, why.message());
  return right;
}

}  // namespace quarry::lab
