// Measuring the problems of a tuning.
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

#include "lab/bench/cublaslt.hpp"
#include "lab/bench/yardstick.hpp"
#include "lab/problems/problem_text.hpp"
#include "lab/problems/seed.hpp"
#include "lab/progress.hpp"
#include "lab/text.hpp"
#include "lab/trials/trial.hpp"
#include "lab/tune/device_meter.hpp"
#include "lab/tune/recorded_times.hpp"
#include "lab/tune/sharing.hpp"
#include "lab/tune/tables.hpp"
#include "lab/tune/tuner.hpp"
#include "quarry/system.hpp"
#include "quarry/tuning.hpp"
#include "tools/command/common/interrupts.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/tune/tune.hpp"

namespace quarry::command {
namespace {

Result<lab::DeviceMeterOptions> read_options(const TuneFlags& flags) {
  lab::DeviceMeterOptions options;
  const Result<std::int64_t> top = lab::parse_integer("--top", flags.top, 1, 1'000'000);
  if (!top) return top.status();
  options.bench.top = static_cast<std::size_t>(*top);
  const Result<std::int64_t> repeats = lab::parse_integer("--repeats", flags.repeats, 3, 1000);
  if (!repeats) return repeats.status();
  options.bench.repeats = static_cast<int>(*repeats);
  const Result<std::int64_t> gap = lab::parse_integer("--gap-ms", flags.gap_ms, 0, 10'000);
  if (!gap) return gap.status();
  options.bench.gap = std::chrono::milliseconds(*gap);
  const Result<double> prune = lab::parse_number("--prune", flags.prune);
  if (!prune) return prune.status();
  if (*prune < 1) return Status(StatusCode::parse_error, "--prune: expected 1 or more, got " + flags.prune);
  options.prune = *prune;
  const Result<std::uint64_t> seed = lab::read_seed(flags.seed);
  if (!seed) return seed.status();
  options.seed = *seed;
  return options;
}

/// The table's path; a folder is made for the user's own one.
Result<std::string> read_output(const TuneFlags& flags) {
  if (!flags.output.empty()) return flags.output;
  const std::string path = user_tuning_path();
  if (path.empty())
    return Status(StatusCode::invalid_arguments, "where to? There is no folder of the user: give -o FILE");
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Status(StatusCode::file_error, "cannot make the folder " + lab::quoted(folder.string()) + ": " +
                                              error.message() + "; give -o FILE");
  }
  return path;
}

/// "32x4096x4096: measured, value 6 of the range".
std::string value_text(const lab::TuneProgress& progress) {
  return shape_text(*progress.last_value) + ": measured, value " + std::to_string(progress.values) +
         " of its range of M";
}

/// How far a tuning is: a bar on a terminal, elsewhere a line now and then.
class Shown {
 public:
  explicit Shown(std::size_t tasks) : bar_("tune", tasks) {}

  void operator()(const lab::TuneProgress& progress) {
    if (progress.done > shown_) bar_.advance(progress.done - shown_);
    shown_ = progress.done;
    if (progress.last_value) return say(value_text(progress));
    const auto now = std::chrono::steady_clock::now();
    constexpr std::chrono::seconds between{30};
    if (messages_are_on_terminal() || !progress.seconds_left || now - said_ < between) return;
    said_ = now;
    message(std::to_string(progress.done) + " of " + std::to_string(progress.all) + " problems, about " +
            lab::duration_text(*progress.seconds_left) + " left");
  }
  void say(const std::string& text) {
    bar_.clear();
    message(text);
  }
  void clear() { bar_.clear(); }

 private:
  lab::Progress bar_;
  std::size_t shown_ = 0;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

std::string report_text(const lab::TuneReport& report, const std::string& table) {
  const auto count = [](std::size_t number, const char* what) { return std::to_string(number) + " " + what; };
  return lab::quoted(table) + ": " + count(report.measured, "measured, ") +
         count(report.known, "known already, ") + count(report.failed, "failed, ") +
         count(report.left, "left") + "\n";
}

/// What a person does to go on.
std::string next_step(bool again) {
  if (!again) return "the same command goes on";
  return "the same command begins again; without --again it measures what the table does not have";
}

/// Orders the table and writes its index. Says why where it cannot: the measurements are in the table all the
/// same.
bool write_index(const std::string& table) {
  lab::OddLines odd;
  const auto indexed = lab::merge_tables({}, table, odd);
  if (!indexed) {
    message("the measurements are in " + lab::quoted(table) +
            "; its index could not be written: " + indexed.status().message());
    return false;
  }
  if (odd.damaged > 0) message("damaged lines of the table left out: " + std::to_string(odd.damaged));
  return true;
}

/// Of a budget that ended before the first problem.
int say_nothing(const std::string& table) {
  message("nothing was measured: the budget ended before the first problem; " + lab::quoted(table) +
          " is as it was");
  return failed;
}

int run_tasks(const std::vector<lab::TuneTask>& tasks, lab::Meter& meter, lab::TuneSetting setting,
              Shown& shown) {
  listen_to_interrupts();  // which end the tuning behind the present problem
  const std::string next = next_step(setting.again);
  setting.is_stopped = is_interrupted;
  setting.say = [&](const std::string& text) { shown.say(text); };
  setting.progress = std::ref(shown);
  const Result<lab::TuneReport> done = lab::tune(tasks, meter, setting);
  shown.clear();
  if (!done) return report(done.status());
  write_output(report_text(*done, setting.table));
  if (done->is_stopped) message("stopped; " + next);
  if (done->is_over_budget) message("the budget is spent; " + next);
  const bool is_indexed = done->measured == 0 || write_index(setting.table);
  if (setting.sharing) {
    setting.sharing->report(*done);
  } else if (done->has_nothing()) {
    return say_nothing(setting.table);
  }
  return done->failed > 0 || done->is_stopped || !is_indexed ? failed : command::done;
}

Result<lab::TuneSetting> read_setting(const TuneFlags& flags) {
  lab::TuneSetting setting;
  const Result<std::string> output = read_output(flags);
  if (!output) return output.status();
  setting.table = *output;
  setting.sources = lab::tuning_sources();
  setting.again = flags.again;
  if (!flags.budget.empty()) {
    const Result<double> budget = lab::parse_number("--budget", flags.budget);
    if (!budget) return budget.status();
    if (*budget < 0)
      return Status(StatusCode::parse_error, "--budget: expected 0 or more, got " + flags.budget);
    setting.budget_seconds = *budget;
  }
  return setting;
}

int tune_from_records(const std::vector<lab::TuneTask>& tasks, lab::RecordedProblems records,
                      const DeviceModel& device, lab::TuneSetting setting) {
  setting.device = lab::tuning_device(device);
  lab::RecordedTimes meter(std::move(records), device);
  Shown shown(tasks.size());
  return run_tasks(tasks, meter, std::move(setting), shown);
}

int tune_here(const std::vector<lab::TuneTask>& tasks, lab::DeviceMeterOptions options,
              lab::TuneSetting setting) {
  const Result<DeviceModel> device = device_model(lab::used_device);
  if (!device) return report(device.status());
  const Result<lab::DeviceBuffer> workspace =
      lab::DeviceBuffer::allocate(lab::bench_workspace, lab::used_device);
  if (!workspace) return report(workspace.status());
  if (!compiler_status()) {
    message("there is no compiler: only precompiled kernels are timed");
    options.bench.availability = Availability::precompiled;
  }
  setting.device = lab::tuning_device(*device);
  setting.date = [] { return static_cast<std::int64_t>(std::time(nullptr)); };
  Shown shown(tasks.size());
  const Filter any;
  const lab::BenchSetting bench{.filter = any,
                                .options = options.bench,
                                .device = *device,
                                .kind = lab::CublasLt::kind,
                                .library = nullptr,
                                .workspace = *workspace,
                                .say = [&](const std::string& text) { shown.say(text); }};
  lab::DeviceMeter meter(bench, options);
  return run_tasks(tasks, meter, std::move(setting), shown);
}

/// Devices that are asked for, which is no number of them: all that there are.
constexpr std::size_t all_devices = std::numeric_limits<std::size_t>::max();

/// Devices that are asked for; 0: the used one, in this process.
Result<std::size_t> read_devices(const TuneFlags& flags) {
  if (flags.devices.empty()) return std::size_t{0};
  if (flags.devices == "all" && !flags.times.empty())
    return Status(StatusCode::parse_error,
                  "--devices: recorded times have no devices: expected a number of processes, not `all`");
  if (flags.devices == "all") return all_devices;
  const Result<std::int64_t> count =
      lab::parse_integer("--devices", flags.devices, 1, static_cast<std::int64_t>(most_devices));
  if (!count) return Status(StatusCode::parse_error, count.status().message() + ", or all");
  return static_cast<std::size_t>(*count);
}

/// Whether several processes can read what the flags name: a pipe is empty for the second one.
Status check_shared_files(const TuneFlags& flags) {
  for (const std::string* const path : {&flags.log, &flags.problem.shapes_file, &flags.times}) {
    if (path->empty() || std::filesystem::is_regular_file(*path)) continue;
    return {StatusCode::parse_error,
            "--devices: each process reads " + lab::quoted(*path) + ", which is not a file"};
  }
  return {};
}

/// Processes that take part, when CUDA has started here. Where there is no device, one says so.
std::size_t processes_for(std::size_t devices, const TuneFlags& flags) {
  if (!flags.times.empty()) return devices;
  if (!cuda_status(lab::used_device)) return 1;
  return devices == all_devices ? static_cast<std::size_t>(device_count()) : devices;
}

/// @param devices 2 or more, or all
int share_tasks(std::size_t devices, const std::vector<lab::TuneTask>& tasks,
                const lab::DeviceMeterOptions& options, const TuneFlags& flags, const std::string& table) {
  Result<lab::TaskQueue> queue = lab::TaskQueue::make(tasks.size());
  if (!queue) return report(queue.status());
  const std::size_t at_once = devices == all_devices ? likely_devices() : devices;
  const int exit = tune_on_devices(std::min(at_once, tasks.size()), *queue, [&] {
    const std::size_t processes = std::min(processes_for(devices, flags), tasks.size());
    const Result<DeviceModel> device = read_device_model(flags.device_model);
    queue->publish(lab::longest_first(tasks, options, device ? *device : default_device_model()), processes);
    return processes;
  });
  return exit == done && queue->sum().has_nothing() ? say_nothing(table) : exit;
}

/// Ends this process as SIGTERM does when the one that started it has ended, however that was.
void end_with_parent() { (void)prctl(PR_SET_PDEATHSIG, SIGTERM); }

/// Waits until the process that started this one has published its queue. @return whether this one takes part
bool wait_for_list(const lab::TaskQueue& queue, std::size_t process) {
  while (queue.processes() == 0) {
    if (getppid() != queue.owner()) return false;  // it has ended
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return process < queue.processes();
}

/// Has a process that --devices started take its tasks from the queue. @param queue outlives the setting
/// @return whether it takes part
Result<bool> join_queue(const TuneFlags& flags, std::size_t tasks, std::optional<lab::TaskQueue>& queue,
                        lab::TuneSetting& setting) {
  if (flags.queue.empty()) return true;
  end_with_parent();
  const Result<lab::QueuePlace> place = lab::parse_queue_place(flags.queue);
  if (!place) return place.status();
  Result<lab::TaskQueue> opened = lab::TaskQueue::open(place->file);
  if (!opened) return opened.status();
  queue.emplace(*std::move(opened));
  const Status changed(StatusCode::invalid_arguments, "the problems changed while processes were started");
  if (queue->size() != tasks) return changed;
  // CUDA starts here while it starts in the other processes. What is wrong with the device is said later.
  if (flags.times.empty()) (void)lab::synchronize(lab::used_device);
  if (!wait_for_list(*queue, place->process)) return false;
  lab::Sharing sharing;
  for (std::size_t i = 0; i < queue->size(); ++i) {
    if ((*queue)[i] >= tasks) return changed;
    if (i % queue->processes() == place->process) sharing.ahead.push_back((*queue)[i]);
  }
  sharing.take = [&queue]() -> std::optional<lab::Sharing::Taken> {
    const std::size_t next = queue->take();
    if (next >= queue->size()) return std::nullopt;
    return lab::Sharing::Taken{(*queue)[next], next};
  };
  sharing.report = [&queue](const lab::TuneReport& report) { queue->add(report); };
  setting.sharing = std::move(sharing);
  return true;
}

}  // namespace

int tune_problems(const TuneFlags& flags) {
  // The process that started this one may be interrupted before this one measures.
  if (!flags.queue.empty()) listen_to_interrupts();
  const Result<lab::DeviceMeterOptions> options = read_options(flags);
  if (!options) return report(options.status());
  const Result<lab::Shard> shard = read_shard(flags);
  if (!shard) return report(shard.status());
  const Result<std::size_t> devices = read_devices(flags);
  if (!devices) return report(devices.status());
  if (*devices > 1) {
    if (Status s = check_shared_files(flags); !s) return report(s);
  }
  const Result<std::vector<lab::TuneTask>> all = read_tasks(flags);
  if (!all) return report(all.status());
  Result<lab::TuneSetting> setting = read_setting(flags);
  if (!setting) return report(setting.status());
  lab::RecordedProblems records;
  if (!flags.times.empty()) {
    Result<lab::RecordedFile> read = lab::read_recorded_times(flags.times);
    if (!read) return report(read.status());
    if (read->is_cut)
      message("the last line of " + lab::quoted(flags.times) + " is cut short: it was skipped");
    records = std::move(read->problems);
  }
  if (!flags.device_model.empty()) {
    if (const Result<DeviceModel> named = read_device_model(flags.device_model); !named)
      return report(named.status());
  }
  const std::vector<lab::TuneTask> tasks = lab::distinct(lab::tasks_in(*all, *shard));
  if (*devices > 1 && tasks.size() > 1) return share_tasks(*devices, tasks, *options, flags, setting->table);
  std::optional<lab::TaskQueue> queue;
  const Result<bool> takes_part = join_queue(flags, tasks.size(), queue, *setting);
  if (!takes_part) return report(takes_part.status());
  if (!*takes_part) return done;
  if (flags.times.empty()) {
    if (Status there = cuda_status(lab::used_device); !there)
      return report(Status(there.code(), "nothing can be timed here: " + there.message()));
    return tune_here(tasks, *options, *setting);
  }
  const Result<DeviceModel> device = read_device_model(flags.device_model);
  if (!device) return report(device.status());
  return tune_from_records(tasks, std::move(records), *device, *setting);
}

}  // namespace quarry::command
