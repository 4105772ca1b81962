// Tasks that several tunings share: each is taken once, and all end at about the same time.
#include "lab/tune/sharing.hpp"

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <thread>

#include "lab/tune/problem_lines.hpp"
#include "lab/tune/tables.hpp"
#include "lab/tune/tuner.hpp"
#include "quarry/quarry.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;
using detail::TestFolder;
using test::h200;

/// A list that is there.
Result<TaskQueue> queue_of(std::span<const std::uint32_t> order) {
  Result<TaskQueue> queue = TaskQueue::make(order.size());
  if (queue) queue->publish(order, 1);
  return queue;
}

/// Problems of very different sizes.
std::vector<TuneTask> some_tasks(std::size_t count, std::mt19937& random) {
  std::vector<TuneTask> tasks;
  for (std::size_t i = 0; i < count; ++i) {
    const auto extent = [&] {
      return std::to_string(1U << std::uniform_int_distribution<unsigned>(4, 13)(random));
    };
    const std::string shape = extent() + "x" + extent() + "x" + std::to_string(16 * (i + 1));
    tasks.push_back({*parse_command_text("gemm " + shape + " --a bf16:row --b bf16:col")});
  }
  return tasks;
}

/// Time that goes on by what is measured, for several tunings in threads: a task is taken by the tuning that
/// is free first, however long the threads take in truth.
class SimulatedTime {
 public:
  explicit SimulatedTime(std::size_t tunings) : clocks_(tunings), is_waiting_(tunings) {}

  /// Returns when no other tuning can be free before this one. @param now of its clock
  void wait_for_turn(std::size_t tuning, double now) {
    std::unique_lock lock(mutex_);
    clocks_[tuning] = now;
    is_waiting_[tuning] = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return is_first(tuning); });
    is_waiting_[tuning] = false;
  }
  void end(std::size_t tuning) {
    const std::lock_guard lock(mutex_);
    is_waiting_[tuning] = true;
    clocks_[tuning] = std::numeric_limits<double>::infinity();
    changed_.notify_all();
  }

 private:
  bool is_first(std::size_t tuning) const {
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
      if (!is_waiting_[i] || std::pair(clocks_[i], i) < std::pair(clocks_[tuning], tuning)) return false;
    }
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<double> clocks_;
  std::vector<char> is_waiting_;
};

/// A device on which each problem takes so many seconds.
class SlowTimes : public Meter {
 public:
  explicit SlowTimes(const std::map<std::string, double>& seconds) : seconds_(seconds) {}
  std::vector<std::string> measured;

  void expect(std::vector<Problem>) override {}
  double now() override { return now_; }
  Result<std::vector<KernelTime>> measure(const Problem& problem) override {
    measured.push_back(command_text(problem));
    now_ += seconds_.at(measured.back());
    const Result<Candidate> best = find_best(arguments_of(problem), {}, {.device = &h200()});
    if (!best) return best.status();
    return std::vector<KernelTime>{{.kernel = std::string(best->name()),
                                    .controls = best->controls(),
                                    .workspace = best->workspace(),
                                    .gaps_us = {1, 1, 1}}};
  }

 private:
  const std::map<std::string, double>& seconds_;
  double now_ = 0;
};

struct Outcome {
  std::vector<std::string> measured;
  TuneReport sum;
  double end = 0;  ///< of the last tuning
};

/// Tunes on so many devices that share the tasks.
Outcome tune_side_by_side(const std::vector<TuneTask>& tasks, std::size_t devices,
                          const std::map<std::string, double>& seconds, const std::string& table,
                          std::optional<double> budget = std::nullopt) {
  Result<TaskQueue> queue = queue_of(longest_first(tasks, {}, h200()));
  REQUIRE(queue);
  SimulatedTime time(devices);
  std::deque<SlowTimes> meters;
  for (std::size_t i = 0; i < devices; ++i) meters.emplace_back(seconds);
  std::vector<Result<TuneReport>> reports(devices, TuneReport());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < devices; ++i) {
    threads.emplace_back([&, i] {
      TuneSetting setting;
      setting.table = table;
      setting.device = "NVIDIA H200";
      setting.sources = tuning_sources();
      setting.budget_seconds = budget;
      setting.say = [](const std::string&) {};
      setting.sharing.emplace();
      setting.sharing->take = [&, i]() -> std::optional<Sharing::Taken> {
        time.wait_for_turn(i, meters[i].now());
        const std::size_t place = queue->take();
        if (place >= queue->size()) return std::nullopt;
        return Sharing::Taken{(*queue)[place], place};
      };
      reports[i] = tune(tasks, meters[i], setting);
      time.end(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Outcome outcome;
  for (std::size_t i = 0; i < devices; ++i) {
    REQUIRE(reports[i]);
    outcome.measured.insert(outcome.measured.end(), meters[i].measured.begin(), meters[i].measured.end());
    outcome.sum.measured += reports[i]->measured;
    outcome.sum.known += reports[i]->known;
    outcome.sum.failed += reports[i]->failed;
    outcome.sum.left += reports[i]->left;
    outcome.end = std::max(outcome.end, meters[i].now());
  }
  return outcome;
}

/// Seconds that differ from what is expected by up to a third, with half a second for each problem.
std::map<std::string, double> some_seconds(const std::vector<TuneTask>& tasks, std::mt19937& random) {
  std::map<std::string, double> seconds;
  std::uniform_real_distribution<double> factor(0.75, 1.33);
  for (const TuneTask& task : tasks)
    seconds[command_text(task.problem)] = 0.5 + expected_seconds(task, {}, h200()) * factor(random);
  return seconds;
}

}  // namespace

TEST_CASE("each place of a queue is taken once, by whoever shares its memory") {
  std::vector<std::uint32_t> order(5000);
  std::iota(order.rbegin(), order.rend(), 0U);
  Result<TaskQueue> queue = queue_of(order);
  REQUIRE(queue);
  std::vector<std::vector<std::uint32_t>> taken(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    threads.emplace_back([&, i] {
      Result<TaskQueue> same = TaskQueue::open(dup(queue->file()));
      if (!same) return;
      for (std::size_t place = same->take(); place < same->size(); place = same->take())
        taken[i].push_back((*same)[place]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::uint32_t> all;
  for (const auto& part : taken) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all, std::greater());
  CHECK(all == order);
  CHECK(queue->take() >= queue->size());
}

TEST_CASE("others see a list when it is published") {
  Result<TaskQueue> queue = TaskQueue::make(3);
  REQUIRE(queue);
  Result<TaskQueue> same = TaskQueue::open(dup(queue->file()));
  REQUIRE(same);
  CHECK(same->size() == 3);
  CHECK(same->owner() == getpid());
  CHECK(same->processes() == 0);
  queue->publish(std::vector<std::uint32_t>{2, 0, 1}, 4);
  CHECK(same->processes() == 4);
  CHECK((*same)[0] == 2);
  CHECK((*same)[2] == 1);
  CHECK(same->take() == 0);
  CHECK(queue->take() == 1);
}

TEST_CASE("a queue adds up what became of its processes") {
  const std::vector<std::uint32_t> order(3);
  Result<TaskQueue> queue = queue_of(order);
  REQUIRE(queue);
  CHECK(!queue->sum().has_nothing());
  queue->add({.left = 2, .is_over_budget = true});
  CHECK(queue->sum().has_nothing());
  Result<TaskQueue> same = TaskQueue::open(dup(queue->file()));
  REQUIRE(same);
  same->add({.measured = 1, .failed = 1, .left = 1});
  CHECK(queue->sum().measured == 1);
  CHECK(queue->sum().failed == 1);
  CHECK(queue->sum().left == 3);
  CHECK(queue->sum().is_over_budget);
  CHECK(!queue->sum().has_nothing());
}

TEST_CASE("files that are no queue, and places that are none") {
  CHECK(TaskQueue::open(-1).status().code() == StatusCode::invalid_arguments);
  const TestFolder folder;
  for (const char* bad : {"", ":", "3", "3:", ":0", "3:0/2", "-1:0", "3:-1", "x:0", "3:x"})
    CHECK(!parse_queue_place(bad));
  const Result<QueuePlace> place = parse_queue_place("7:1");
  REQUIRE(place);
  CHECK(place->file == 7);
  CHECK(place->process == 1);
}

TEST_CASE("tasks that take long come first") {
  std::vector<TuneTask> tasks;
  for (const char* text :
       {"gemm 16x16x16 --a bf16:row", "gemm 8192x8192x8192 --a bf16:row", "gemm 2048x2048x2048 --a bf16:row"})
    tasks.push_back({*parse_command_text(text)});
  CHECK(longest_first(tasks, {}, h200()) == std::vector<std::uint32_t>{1, 2, 0});
}

TEST_CASE("devices that share tasks end at about the same time") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const std::size_t devices : {2U, 4U}) {
    const TestFolder folder;
    const auto tasks = distinct(some_tasks(16 * devices, random));
    const auto seconds = some_seconds(tasks, random);
    double sum = 0;
    double longest = 0;
    for (const auto& [text, each] : seconds) {
      sum += each;
      longest = std::max(longest, each);
    }
    const Outcome outcome = tune_side_by_side(tasks, devices, seconds, folder.path() + "/table.jsonl");
    CHECK(outcome.measured.size() == tasks.size());
    CHECK(std::set<std::string>(outcome.measured.begin(), outcome.measured.end()).size() == tasks.size());
    CHECK(outcome.sum.measured == tasks.size());
    CHECK(outcome.sum.left == 0);
    // A problem that takes longer than a device's share is what the others wait for.
    const double best = std::max(sum / static_cast<double>(devices), longest);
    CHECK(outcome.end <= 1.05 * best);
  }
}

TEST_CASE("shared tasks go on where they were stopped") {
  std::mt19937 random(7);
  const TestFolder folder;
  const std::string table = folder.path() + "/table.jsonl";
  const auto tasks = distinct(some_tasks(24, random));
  const auto seconds = some_seconds(tasks, random);
  const Outcome part = tune_side_by_side(tasks, 3, seconds, table, 3.0);
  CHECK(part.sum.measured > 0);
  CHECK(part.sum.left > 0);
  CHECK(part.sum.measured + part.sum.left == tasks.size());
  const Outcome rest = tune_side_by_side(tasks, 2, seconds, table);
  CHECK(rest.sum.known == part.sum.measured);
  CHECK(rest.sum.measured == part.sum.left);
  CHECK(rest.sum.left == 0);
}
