#include "lab/tune/tasks.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "lab/operation.hpp"
#include "lab/problems/problem_text.hpp"
#include "lab/text.hpp"
#include "lab/tune/problem_lines.hpp"
#include "registry/tuning/digest.hpp"

namespace quarry::lab {
namespace {

constexpr std::int64_t most_shards = 1'000'000;

/// A number of the environment; absent where there is no such variable.
Result<std::optional<std::int64_t>> environment_number(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::optional<std::int64_t>();
  const Result<std::int64_t> number = parse_integer(name, text, 0, std::numeric_limits<std::int32_t>::max());
  if (!number) return number.status();
  return std::optional(*number);
}

}  // namespace

std::string task_text(const TuneTask& task) {
  const std::string text = command_text(task.problem);
  if (!task.m) return text;
  return text + " --m " + to_string(*task.m);
}

bool has_m(Operation operation) {
  const LabWords& words = lab_of(operation).words;
  return words.shape.starts_with("M") && !words.shape_members.empty();
}

Problem with_m(const Problem& problem, std::int64_t m) {
  std::string text = command_text(problem);
  const std::size_t begin = text.find(' ') + 1;
  text.replace(begin, text.find('x', begin) - begin, std::to_string(m));
  const Result<Problem> other = parse_command_text(text);
  return other ? *other : problem;
}

Result<Shard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != text.npos) {
    const Result<std::int64_t> index = parse_integer("--shard", text.substr(0, slash), 0, most_shards);
    const Result<std::int64_t> count = parse_integer("--shard", text.substr(slash + 1), 1, most_shards);
    if (index && count && *index < *count)
      return Shard{static_cast<std::size_t>(*index), static_cast<std::size_t>(*count)};
  }
  return Status(StatusCode::parse_error,
                "--shard takes a part such as 0/16, counted from 0, not " + quoted(text));
}

Result<std::optional<Shard>> slurm_shard() {
  const auto id = environment_number("SLURM_ARRAY_TASK_ID");
  if (!id) return id.status();
  if (!*id) return std::optional<Shard>();
  const auto least = environment_number("SLURM_ARRAY_TASK_MIN");
  if (!least) return least.status();
  const auto count = environment_number("SLURM_ARRAY_TASK_COUNT");
  if (!count) return count.status();
  const std::int64_t index = **id - (*least).value_or(0);
  if (!*count || index < 0 || index >= **count) {
    return Status(StatusCode::parse_error,
                  "SLURM_ARRAY_TASK_ID less SLURM_ARRAY_TASK_MIN is not below SLURM_ARRAY_TASK_COUNT: the "
                  "array's numbers must follow one another; otherwise say --shard");
  }
  return std::optional(Shard{static_cast<std::size_t>(index), static_cast<std::size_t>(**count)});
}

bool is_in(const TuneTask& task, const Shard& shard) {
  return detail::digest_of(task_text(task)).low % shard.count == shard.index;
}

std::vector<TuneTask> tasks_in(std::span<const TuneTask> tasks, const Shard& shard) {
  std::vector<TuneTask> part;
  std::ranges::copy_if(tasks, std::back_inserter(part),
                       [&](const TuneTask& task) { return is_in(task, shard); });
  return part;
}

}  // namespace quarry::lab
