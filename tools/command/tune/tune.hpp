/// quarry tune: what its parts share.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lab/tune/sharing.hpp"
#include "lab/tune/tasks.hpp"
#include "tools/command/common/problem_flags.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {

struct TuneFlags {
  ProblemFlags problem;
  std::string log;
  std::string m;
  std::string output;
  bool again = false;
  std::string budget;
  std::string shard;
  std::string devices;
  /// Of a process that another one started: see lab::QueuePlace.
  std::string queue;
  std::string top = "32";
  std::string prune = "3";
  std::string repeats = "11";
  std::string gap_ms = "10";
  std::string seed;
  std::string times;
  std::string device_model;
  std::vector<std::string> merge;
  std::string show;
  std::string svg;
  std::string export_folder;
  std::string targets;
  ListingFlags listing;
};

/// Whether the flags name problems.
bool names_problems(const TuneFlags& flags);

/// All tasks that the flags name, of all parts. Says how many lines of a log are no problems.
Result<std::vector<lab::TuneTask>> read_tasks(const TuneFlags& flags);

/// The part of the tasks that this process does: --shard, or the task of a Slurm job array, or all.
Result<lab::Shard> read_shard(const TuneFlags& flags);

/// Measures, in this process or in one process for each device.
int tune_problems(const TuneFlags& flags);
/// Processes that --devices starts at most.
inline constexpr std::size_t most_devices = 64;
/// Devices that a new process is likely to see, found without CUDA, whose start takes long: 1 at least.
std::size_t likely_devices();
/// Runs this command in several processes, one for each device, which take their tasks from the queue. So
/// many processes start at once, and others, if there are to be more, when `publish` has returned.
/// @param publish publishes the queue; returns for how many processes
int tune_on_devices(std::size_t at_once, const lab::TaskQueue& queue,
                    const std::function<std::size_t()>& publish);

/// --merge, --export and --show.
int merge_tuning(const TuneFlags& flags);
int export_tuning(const TuneFlags& flags);
int show_tuning(const TuneFlags& flags);

}  // namespace quarry::command
