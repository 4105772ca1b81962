#include "lab/tune/tuner.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "basic/text.hpp"
#include "lab/operation.hpp"
#include "lab/tune/problem_key.hpp"
#include "registry/tuning/index.hpp"
#include "registry/tuning/table_file.hpp"

namespace quarry::lab {
namespace {

using detail::Measurement;
using detail::TuningKey;
using detail::TuningTable;

/// The measurements of one device and one state of the sources, by problem.
class Known {
 public:
  Known(const TuningTable& table, const std::string& device, const std::string& sources)
      : device_(device), sources_(sources) {
    for (const auto& [id, m] : table.measurements()) add(m);
  }

  void add(const Measurement& m) {
    if (m.sources == sources_ && m.device == device_) by_key_[m.key].push_back(m);
  }

  /// @param above where it is not m - 1, only measurements that stand for at least this interval count
  bool has(const TuningKey& key, std::int64_t above) const {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return false;
    return std::ranges::any_of(found->second, [&](const Measurement& m) { return m.above <= above; });
  }

  /// The kernel that the table chooses for a problem, less the order of tiles, which differs from one M to
  /// the next. @pre has(key)
  std::string winner(const TuningKey& key) const {
    const auto& measurements = by_key_.at(key);
    TuningTable table;
    for (const Measurement& m : measurements) table.add(m);
    const detail::TuningIndex index(table, sources_);
    const auto choices = index.find(detail::tuning_device_digest(measurements.front().device), key);
    const detail::TunedChoice& first = choices.front();
    return index.kernels()[first.kernel].name + " " + std::to_string(first.mode) + " " +
           std::to_string(first.slices);
  }

 private:
  std::string device_;
  std::string sources_;
  std::map<TuningKey, std::vector<Measurement>> by_key_;
};

/// The winners of the values of M that next_probe would ask for one after the other, as far as they are
/// known, and the first that is not.
Result<std::optional<Probe>> first_missing(const TuneTask& task, const Known& known) {
  std::map<std::int64_t, std::string> winners;
  while (const std::optional<Probe> probe = next_probe(*task.m, winners)) {
    const Result<TuningKey> key = problem_key(with_m(task.problem, probe->m));
    if (!key) return key.status();
    if (!known.has(*key, probe->above)) return probe;
    winners[probe->m] = known.winner(*key);
  }
  return std::optional<Probe>();
}

/// What is to be measured next for a task; absent where it is done. Fails for a problem that is not tuned.
Result<std::optional<Probe>> next_of(const TuneTask& task, const Known& known) {
  if (task.m) return first_missing(task, known);
  const Result<TuningKey> key = problem_key(task.problem);
  if (!key) return key.status();
  if (known.has(*key, key->m - 1)) return std::optional<Probe>();
  return std::optional(Probe{key->m, key->m - 1});
}

/// A tuning on its way.
class Tuning {
 public:
  Tuning(Meter& meter, const TuneSetting& setting, Known known)
      : meter_(meter), setting_(setting), known_(std::move(known)), start_(meter.now()) {}

  Result<TuneReport> run(std::span<const TuneTask> tasks) {
    Result<TuneReport> done = setting_.sharing ? run_shared(distinct(tasks)) : run_all(open_tasks(tasks));
    if (!done && report_.measured > 0) {
      setting_.say(std::to_string(report_.measured) + " measured before this failure: they are in " +
                   detail::quoted(setting_.table));
    }
    return done;
  }

 private:
  Result<TuneReport> run_all(const std::vector<TuneTask>& open) {
    expect(open);
    std::size_t done = 0;
    show(done, open.size());
    for (const TuneTask& task : open) {
      const Result<bool> finished = run_task(task);
      if (!finished) return finished.status();
      if (!*finished) break;
      show(++done, open.size());
    }
    report_.left = open.size() - done;
    return report_;
  }

  Result<TuneReport> run_shared(const std::vector<TuneTask>& tasks) {
    const Sharing& sharing = *setting_.sharing;
    std::vector<TuneTask> mine;
    for (const std::size_t number : sharing.ahead) {
      if (!is_done(tasks.at(number))) mine.push_back(tasks[number]);
    }
    expect(mine);
    while (const std::optional<Sharing::Taken> taken = sharing.take()) {
      const TuneTask& task = tasks.at(taken->task);
      if (is_done(task)) {
        ++report_.known;
        continue;
      }
      const Result<bool> finished = run_task(task);
      if (!finished) return finished.status();
      if (!*finished) return stop_sharing(tasks);
      show(taken->place + 1, tasks.size());
    }
    return report_;
  }

  /// Takes the other tasks, so that they are counted.
  TuneReport stop_sharing(const std::vector<TuneTask>& tasks) {
    ++report_.left;
    while (const std::optional<Sharing::Taken> taken = setting_.sharing->take())
      ++(is_done(tasks.at(taken->task)) ? report_.known : report_.left);
    return report_;
  }

  /// Whether the table had all of a task when the tuning began, and it is not to be measured again.
  bool is_done(const TuneTask& task) const {
    const Result<std::optional<Probe>> next = next_of(task, known_);
    return next && !*next && !setting_.again;
  }

  std::vector<TuneTask> open_tasks(std::span<const TuneTask> tasks) {
    std::vector<TuneTask> open;
    for (const TuneTask& task : distinct(tasks)) {
      if (is_done(task)) {
        ++report_.known;
      } else {
        open.push_back(task);
      }
    }
    return open;
  }

  void expect(const std::vector<TuneTask>& open) {
    std::vector<Problem> problems;
    for (const TuneTask& task : open) {
      if (!task.m) problems.push_back(task.problem);
      if (!task.m) continue;
      for (const std::int64_t m : likely_probes(*task.m)) problems.push_back(with_m(task.problem, m));
    }
    meter_.expect(std::move(problems));
  }

  /// Whether the task is done, or failed; false where the tuning is to end.
  Result<bool> run_task(const TuneTask& task) {
    // Measured again, a task begins with nothing known of it.
    const Known nothing(TuningTable(), setting_.device, setting_.sources);
    Known anew = nothing;
    Known& known = setting_.again ? anew : known_;
    for (std::size_t values = 1;; ++values) {
      const Result<std::optional<Probe>> next = next_of(task, known);
      if (!next) return fail(task.m ? task_text(task) : shape_text(task.problem), next.status());
      if (!*next) {
        if (values == 1) ++report_.known;  // another task of this run had the same question
        return true;
      }
      if (is_over()) return false;  // and a table that is not there is not made
      if (Status s = check_table(); !s) return s;
      const Problem problem = task.m ? with_m(task.problem, (*next)->m) : task.problem;
      const Result<std::vector<Measurement>> measured = measure(problem, **next);
      if (!measured && ends_all(measured.status())) return measured.status();
      if (measured) device_failures_ = 0;
      if (!measured) return fail(shape_text(problem), measured.status());
      if (Status s = detail::append_to_table(setting_.table, *measured); !s) return s;
      for (const Measurement& each : *measured) known.add(each);
      ++report_.measured;
      if (task.m) show_value(problem, values);
    }
  }

  /// Ok where the table can be written: known before anything is measured for it.
  Status check_table() {
    if (is_checked_) return {};
    is_checked_ = true;
    return detail::append_to_table(setting_.table, {});
  }

  /// A device that failed fails for all problems to come; one problem alone may have no right result.
  bool ends_all(const Status& status) {
    if (status.code() == StatusCode::no_device) return true;
    if (status.code() != StatusCode::device_error) return false;
    return ++device_failures_ > 1;
  }

  Result<bool> fail(const std::string& what, const Status& why) {
    setting_.say(what + ": " + why.message());
    ++report_.failed;
    return true;
  }

  bool is_over() {
    report_.is_stopped = setting_.is_stopped && setting_.is_stopped();
    report_.is_over_budget = setting_.budget_seconds && meter_.now() - start_ >= *setting_.budget_seconds;
    return report_.is_stopped || report_.is_over_budget;
  }

  Result<std::vector<Measurement>> measure(const Problem& problem, const Probe& probe) {
    const Result<TuningKey> key = problem_key(problem);
    if (!key) return key.status();
    const std::string text = command_text(problem);
    if (text.size() > detail::most_problem_bytes) {
      return Status(StatusCode::unsupported,
                    "a table holds problems of " + std::to_string(detail::most_problem_bytes) +
                        " bytes of text at most, and this one has " + std::to_string(text.size()));
    }
    const Result<std::vector<KernelTime>> times = meter_.measure(problem);
    if (!times) return times.status();
    const std::int64_t at = setting_.date ? setting_.date() : 0;
    std::vector<Measurement> measurements;
    for (const KernelTime& time : *times) {
      Measurement m{.device = setting_.device,
                    .sources = setting_.sources,
                    .operation = std::string(lab_of(problem.operation()).name),
                    .problem = text,
                    .key = *key,
                    .above = probe.above,
                    .kernel = time.kernel,
                    .controls = time.controls,
                    .workspace = time.workspace,
                    .gaps_us = time.gaps_us,
                    .load_us = time.load_us,
                    .at = at};
      m.controls.multiprocessors.reset();
      if (!detail::is_writable(m))
        return Status(StatusCode::unsupported, "a table cannot hold the measurement of " + time.kernel);
      measurements.push_back(std::move(m));
    }
    return measurements;
  }

  void show(std::size_t done, std::size_t all) {
    shown_ = {.done = done, .all = all, .seconds_left = std::nullopt};
    if (done > 0)
      shown_.seconds_left =
          (meter_.now() - start_) / static_cast<double>(done) * static_cast<double>(all - done);
    if (setting_.progress) setting_.progress(shown_);
  }

  /// The same within a range: so many of its values of M were measured, this one last.
  void show_value(const Problem& problem, std::size_t values) const {
    if (!setting_.progress) return;
    TuneProgress progress = shown_;
    progress.values = values;
    progress.last_value = problem;
    setting_.progress(progress);
  }

  Meter& meter_;
  const TuneSetting& setting_;
  Known known_;
  double start_;
  TuneReport report_;
  /// Of whole tasks.
  TuneProgress shown_;
  bool is_checked_ = false;
  /// Of problems one after the other.
  int device_failures_ = 0;
};

}  // namespace

std::vector<TuneTask> distinct(std::span<const TuneTask> tasks) {
  std::vector<TuneTask> each;
  std::set<std::string> seen;
  std::ranges::copy_if(tasks, std::back_inserter(each),
                       [&](const TuneTask& task) { return seen.insert(task_text(task)).second; });
  return each;
}

Result<TuneReport> tune(std::span<const TuneTask> tasks, Meter& meter, const TuneSetting& setting) {
  TuningTable table;
  if (access(setting.table.c_str(), F_OK) == 0) {
    Result<TuningTable> read = detail::read_table(setting.table);
    if (!read) return read.status();
    table = *std::move(read);
  }
  return Tuning(meter, setting, Known(table, setting.device, setting.sources)).run(tasks);
}

std::vector<TuneTask> missing_tasks(std::span<const TuneTask> tasks, const TuningTable& table,
                                    const std::string& device, const std::string& sources) {
  std::set<std::string> devices = {device};
  if (device.empty()) {
    for (const auto& [id, m] : table.measurements()) devices.insert(m.device);
  }
  std::vector<TuneTask> missing(tasks.begin(), tasks.end());
  for (const std::string& each : devices) {
    const Known known(table, each, sources);
    std::erase_if(missing, [&](const TuneTask& task) {
      const Result<std::optional<Probe>> next = next_of(task, known);
      return next && !*next;
    });
  }
  return missing;
}

}  // namespace quarry::lab
