/// What a tuning is asked to measure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/problems/problem.hpp"
#include "lab/tune/m_range.hpp"

namespace quarry::lab {

/// A problem, or the problems that differ from it in M alone, with the values of M of a range.
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

}  // namespace quarry::lab
