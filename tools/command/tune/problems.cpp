// The problems of a tuning, and the part of them that a process does.
#include <utility>
#include <vector>

#include "lab/operation.hpp"
#include "lab/tune/problem_key.hpp"
#include "lab/tune/range_parts.hpp"
#include "lab/tune/tuner.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/tune/tune.hpp"

namespace quarry::command {
namespace {

Result<std::vector<lab::Problem>> named_problems(const TuneFlags& flags) {
  if (flags.log.empty()) return read_problems(flags.problem);
  Result<std::vector<lab::Problem>> logged = read_logged_problems(flags.log, flags.problem);
  if (!logged) return logged;
  const std::size_t others =
      std::erase_if(*logged, [](const lab::Problem& each) { return !lab::check_tuned(each.operation()); });
  if (others > 0)
    message(counted(others, "problem") + " of the log " +
            (others == 1 ? "is of an operation that has" : "are of operations that have") +
            " nothing to tune");
  return logged;
}

/// Says in which parts a range is measured, and which values of M are in none.
void say_parts(const lab::RangeParts& range) {
  if (range.parts.size() > 1) {
    std::string parts;
    for (const lab::MRange& part : range.parts)
      parts.append(parts.empty() ? "" : "; ").append(lab::twos_text(part.twos));
    message("--m: M is a leading dimension, and decides alignments: each of " +
            std::to_string(range.parts.size()) + " parts of the range is measured (M: " + parts + ")");
  }
  if (range.refused != 0) {
    message("--m: values of M are left out (" + lab::twos_text(range.refused) +
            "), which make no problem: " + range.why.message());
  }
}

/// The tasks of a range: one for each of its parts. All problems of a part look like its first one.
Result<std::vector<lab::TuneTask>> tasks_of(const lab::Problem& problem, const lab::MRange& range,
                                            bool says_parts) {
  const Result<lab::RangeParts> parts = lab::parts_of(problem, range);
  if (!parts) return parts.status();
  if (says_parts) say_parts(*parts);
  std::vector<lab::TuneTask> tasks;
  for (const lab::MRange& part : parts->parts) {
    const std::int64_t first = lab::nearest_in(part, range.low).value_or(range.low);
    tasks.push_back({.problem = lab::with_m(problem, first), .m = part});
  }
  return tasks;
}

}  // namespace

bool names_problems(const TuneFlags& flags) {
  return !flags.log.empty() || !flags.problem.words.empty() || !flags.problem.shapes_file.empty();
}

Result<std::vector<lab::TuneTask>> read_tasks(const TuneFlags& flags) {
  std::optional<lab::MRange> range;
  if (!flags.m.empty()) {
    const Result<lab::MRange> read = lab::parse_m_range(flags.m);
    if (!read) return read.status();
    range = *read;
  }
  const Result<std::vector<lab::Problem>> problems = named_problems(flags);
  if (!problems) return problems.status();
  std::vector<lab::TuneTask> tasks;
  for (const lab::Problem& problem : *problems) {
    if (Status s = lab::check_tuned(problem.operation()); !s) return s;
    if (range && !lab::has_m(problem.operation()))
      return Status(StatusCode::parse_error, "--m goes with gemm alone: the shape of " +
                                                 std::string(lab::lab_of(problem.operation()).name) +
                                                 " does not begin with M");
    Result<std::vector<lab::TuneTask>> named =
        range ? tasks_of(problem, *range, flags.queue.empty()) : std::vector{lab::TuneTask{problem}};
    if (!named) return named.status();
    for (lab::TuneTask& task : *named) {
      if (Status s = check_not_empty(task.problem); !s) return s;
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

Result<lab::Shard> read_shard(const TuneFlags& flags) {
  if (!flags.shard.empty()) return lab::parse_shard(flags.shard);
  const Result<std::optional<lab::Shard>> slurm = lab::slurm_shard();
  if (!slurm) return slurm.status();
  return (*slurm).value_or(lab::Shard());
}

}  // namespace quarry::command
