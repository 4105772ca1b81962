#include "lab/tune/sharing.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>

#include "lab/bench/duration.hpp"
#include "lab/operation.hpp"
#include "lab/problems/problem_text.hpp"

namespace quarry::lab {
namespace {

/// The beginning of a queue's memory; the order follows.
struct Header {
  std::uint64_t taken;
  std::uint64_t size;
  std::uint64_t owner;
  std::uint64_t processes;  ///< 0 until the order is there
  // The sum of all reports.
  std::uint64_t measured;
  std::uint64_t failed;
  std::uint64_t left;
  std::uint64_t over_budget;
};

Status no_memory() {
  return {StatusCode::file_error, std::string("memory for a list of tasks: ") + std::strerror(errno)};
}

void* map(int file, std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

}  // namespace

double expected_seconds(const TuneTask& task, const DeviceMeterOptions& options, const DeviceModel& device) {
  const Problem problem =
      task.m ? with_m(task.problem, nearest_in(*task.m, task.m->high).value_or(task.m->high)) : task.problem;
  const Result<std::vector<Kernel>> kernels = kernels_to_measure(problem, options, device);
  if (!kernels) return 0;
  std::vector<double> predicted;
  for (const Kernel& kernel : *kernels) {
    const auto candidate = quarry::candidate_of(kernel, arguments_of(problem), {.device = &device});
    if (candidate) predicted.push_back(candidate->predicted_seconds());
  }
  const double seconds = expected_bench_seconds(predicted, lab_of(problem.operation()).has_controls,
                                                touched_bytes(problem), options.bench);
  return task.m ? seconds * static_cast<double>(first_probes(*task.m)) : seconds;
}

std::vector<std::uint32_t> longest_first(std::span<const TuneTask> tasks, const DeviceMeterOptions& options,
                                         const DeviceModel& device) {
  std::vector<double> seconds;
  for (const TuneTask& task : tasks) seconds.push_back(expected_seconds(task, options, device));
  std::vector<std::uint32_t> order(tasks.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t task) { return seconds[task]; });
  return order;
}

Result<TaskQueue> TaskQueue::make(std::size_t tasks) {
  const std::size_t bytes = sizeof(Header) + tasks * sizeof(std::uint32_t);
  const int file = memfd_create("quarry tune", 0);
  if (file < 0) return no_memory();
  void* const memory = ftruncate(file, static_cast<off_t>(bytes)) == 0 ? map(file, bytes) : MAP_FAILED;
  if (memory == MAP_FAILED) {
    const Status why = no_memory();
    close(file);
    return why;
  }
  // The rest of new memory is 0.
  static_cast<Header*>(memory)->size = tasks;
  static_cast<Header*>(memory)->owner = static_cast<std::uint64_t>(getpid());
  return TaskQueue(file, memory, bytes);
}

Result<TaskQueue> TaskQueue::open(int file) {
  const Status none(StatusCode::invalid_arguments,
                    "file " + std::to_string(file) + " holds no list of tasks");
  struct stat facts = {};
  if (fstat(file, &facts) != 0 || facts.st_size < static_cast<off_t>(sizeof(Header))) return none;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  void* const memory = map(file, bytes);
  if (memory == MAP_FAILED) return none;
  TaskQueue queue(file, memory, bytes);
  const std::uint64_t size = static_cast<const Header*>(memory)->size;
  if (size != queue.size()) return none;
  return queue;
}

TaskQueue::TaskQueue(int file, void* memory, std::size_t bytes)
    : file_(file),
      memory_(memory),
      bytes_(bytes),
      order_(reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(memory) + sizeof(Header)),
             (bytes - sizeof(Header)) / sizeof(std::uint32_t)) {}

TaskQueue::TaskQueue(TaskQueue&& other) noexcept
    : file_(other.file_),
      memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      order_(other.order_) {}

TaskQueue::~TaskQueue() {
  if (memory_ == nullptr) return;
  munmap(memory_, bytes_);
  close(file_);
}

int TaskQueue::owner() const { return static_cast<int>(static_cast<const Header*>(memory_)->owner); }

void TaskQueue::publish(std::span<const std::uint32_t> order, std::size_t processes) {
  std::ranges::copy(order, order_.begin());
  std::atomic_ref(static_cast<Header*>(memory_)->processes).store(processes, std::memory_order_release);
}

std::size_t TaskQueue::processes() const {
  return std::atomic_ref(static_cast<Header*>(memory_)->processes).load(std::memory_order_acquire);
}

std::size_t TaskQueue::take() { return std::atomic_ref(static_cast<Header*>(memory_)->taken).fetch_add(1); }

void TaskQueue::add(const TuneReport& report) {
  Header& header = *static_cast<Header*>(memory_);
  std::atomic_ref(header.measured).fetch_add(report.measured);
  std::atomic_ref(header.failed).fetch_add(report.failed);
  std::atomic_ref(header.left).fetch_add(report.left);
  std::atomic_ref(header.over_budget).fetch_add(report.is_over_budget ? 1 : 0);
}

TuneReport TaskQueue::sum() const {
  Header& header = *static_cast<Header*>(memory_);
  TuneReport report;
  report.measured = std::atomic_ref(header.measured).load();
  report.failed = std::atomic_ref(header.failed).load();
  report.left = std::atomic_ref(header.left).load();
  report.is_over_budget = std::atomic_ref(header.over_budget).load() > 0;
  return report;
}

Result<QueuePlace> parse_queue_place(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const Result<std::int64_t> file = parse_integer("--queue", text.substr(0, colon), 0, 1 << 20);
  if (!file) return file.status();
  const Result<std::int64_t> process =
      parse_integer("--queue", text.substr(std::min(colon + 1, text.size())), 0, 1 << 20);
  if (!process) return process.status();
  return QueuePlace{static_cast<int>(*file), static_cast<std::size_t>(*process)};
}

}  // namespace quarry::lab
