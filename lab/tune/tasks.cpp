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

constexpr std::int64_t most_m = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t most_shards = 1'000'000;

/// Powers of two from low to high, and both ends.
std::vector<std::int64_t> powers_in(const MRange& range) {
  std::vector<std::int64_t> values = {range.low};
  for (std::int64_t power = 1; power < range.high; power *= 2) {
    if (power > range.low) values.push_back(power);
  }
  values.push_back(range.high);
  return values;
}

/// In the middle, and for wide intervals a multiple of 8.
std::int64_t middle_of(std::int64_t low, std::int64_t high) {
  const std::int64_t middle = low + (high - low) / 2;
  return high - low > 32 ? middle / 8 * 8 : middle;
}

/// M from which the winner changes with each round of a device that tiles begin or fill, back and forth: the
/// same winner at two values says little of those between them.
constexpr std::int64_t many_rounds = 256;
/// Rows of a tile, about. Nearer values of M have mostly the same tiles.
constexpr std::int64_t tile_rows = 128;

/// Whether nothing between two neighbours is measured.
bool are_near(std::int64_t low, std::int64_t high, bool have_same_winner) {
  if (have_same_winner) return low < many_rounds || high - low <= low / 8;
  return high - low <= std::clamp<std::int64_t>(low / 16, 1, tile_rows);
}

/// A number of the environment; absent where there is no such variable.
Result<std::optional<std::int64_t>> environment_number(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::optional<std::int64_t>();
  const Result<std::int64_t> number = parse_integer(name, text, 0, std::numeric_limits<std::int32_t>::max());
  if (!number) return number.status();
  return std::optional(*number);
}

}  // namespace

Result<MRange> parse_m_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots != text.npos) {
    const Result<std::int64_t> low = parse_integer("--m", text.substr(0, dots), 1, most_m);
    const Result<std::int64_t> high = parse_integer("--m", text.substr(dots + 2), 1, most_m);
    if (low && high && *low < *high) return MRange{*low, *high};
  }
  return Status(StatusCode::parse_error, "--m takes a range such as 1..8192, not " + quoted(text));
}

std::string task_text(const TuneTask& task) {
  const std::string text = command_text(task.problem);
  if (!task.m) return text;
  return text + " --m " + std::to_string(task.m->low) + ".." + std::to_string(task.m->high);
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

std::optional<Probe> next_probe(const MRange& range, const std::map<std::int64_t, std::string>& winners) {
  const std::vector<std::int64_t> first = powers_in(range);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!winners.contains(first[i])) return Probe{first[i], i == 0 ? first[i] - 1 : first[i - 1]};
  }
  for (auto low = winners.begin(), high = std::next(low); high != winners.end(); low = high++) {
    if (are_near(low->first, high->first, low->second == high->second)) continue;
    return Probe{middle_of(low->first, high->first), low->first};
  }
  return std::nullopt;
}

std::vector<std::int64_t> likely_probes(const MRange& range) {
  const std::vector<std::int64_t> first = powers_in(range);
  std::vector<std::int64_t> all = first;
  for (std::size_t i = 1; i < first.size(); ++i) {
    if (!are_near(first[i - 1], first[i], false)) all.push_back(middle_of(first[i - 1], first[i]));
  }
  return all;
}

std::size_t first_probes(const MRange& range) { return powers_in(range).size(); }

}  // namespace quarry::lab
