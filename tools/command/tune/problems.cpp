// The problems of a tuning, and the part of them that a process does.
#include <algorithm>
#include <vector>

#include "lab/operation.hpp"
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
    message(std::to_string(others) + " problems of the log are of operations that have nothing to tune");
  return logged;
}

/// The stride from one line of a matrix to the next.
std::int64_t leading_dimension(const TensorView& view) {
  if (view.rank < 2) return 0;
  return std::max(view.strides[view.rank - 2U], view.strides[view.rank - 1U]);
}

/// Says where values of M of a range may have keys of their own: the alignment of an operand whose leading
/// dimension is M changes with M.
void say_aligned_by_m(const lab::TuneTask& task) {
  const lab::HeldArguments low = arguments_of(lab::with_m(task.problem, task.m->low));
  const lab::HeldArguments high = arguments_of(lab::with_m(task.problem, task.m->high));
  detail::OperandList of_low;
  detail::OperandList of_high;
  low.list(of_low);
  high.list(of_high);
  std::string names;
  for (const detail::OperandRef& operand : of_low) {
    const detail::OperandRef* const same = of_high.find(operand.name);
    if (same == nullptr || leading_dimension(*operand.view) == leading_dimension(*same->view)) continue;
    names.append(names.empty() ? "" : ", ").append(to_string(operand.name));
  }
  if (names.empty()) return;
  message(
      "--m: the leading dimension of " + names +
      " is M: values of M with another alignment are problems of their own, which the range does not cover");
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
    // All problems of a range look like its first one.
    lab::TuneTask task{.problem = range ? lab::with_m(problem, range->low) : problem, .m = range};
    if (Status s = check_not_empty(task.problem); !s) return s;
    if (range && flags.queue.empty()) say_aligned_by_m(task);
    tasks.push_back(std::move(task));
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
