/// What a tuning is asked to measure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/problems/problem.hpp"
#include "registry/tuning/measurement.hpp"

namespace quarry::lab {

/// Values of M from low to high.
struct MRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// "1..8192", 1 <= low < high. Fails with parse_error.
Result<MRange> parse_m_range(std::string_view text);

/// A problem, or all problems that differ from it in M alone.
struct TuneTask {
  Problem problem;
  std::optional<MRange> m = std::nullopt;
};

/// The task in one line: the problem in the words of the command line, with its range where it has one.
std::string task_text(const TuneTask& task);

/// The problem with another M. @pre its shape begins with M
Problem with_m(const Problem& problem, std::int64_t m);
/// Whether problems of the operation have a shape that begins with M.
bool has_m(Operation operation);

/// A part of a job: the tasks whose number, made of their text, is `index` modulo `count`. So the same tasks
/// are in a part whatever their order, and however many others there are.
struct Shard {
  std::size_t index = 0;
  std::size_t count = 1;
};

/// "3/16": part 3 (from 0) of 16. Fails with parse_error, also for an index that is not below the count.
Result<Shard> parse_shard(std::string_view text);
/// The part of a task of a Slurm job array: SLURM_ARRAY_TASK_ID less SLURM_ARRAY_TASK_MIN, of
/// SLURM_ARRAY_TASK_COUNT. Absent outside of such an array; fails with parse_error where the variables make
/// no sense.
Result<std::optional<Shard>> slurm_shard();

bool is_in(const TuneTask& task, const Shard& shard);
std::vector<TuneTask> tasks_in(std::span<const TuneTask> tasks, const Shard& shard);

/// An M to measure, and the M above which the measurement stands.
struct Probe {
  std::int64_t m = 0;
  std::int64_t above = 0;
};

/// The next M to measure in a range; absent where it is done. First powers of two, then between neighbours
/// that have different winners, until those are a sixteenth apart, or 128; above 256 also between neighbours
/// that have the same one, until those are an eighth apart.
/// @param winners of each M that was measured, as texts that tell kernels apart
std::optional<Probe> next_probe(const MRange& range, const std::map<std::int64_t, std::string>& winners);

/// Values of M that are worth compiling for ahead: those that next_probe asks for at first, and those that it
/// may ask for next, between neighbours, in its order.
std::vector<std::int64_t> likely_probes(const MRange& range);

/// How many values of M next_probe asks for at first.
std::size_t first_probes(const MRange& range);

}  // namespace quarry::lab
