/// How the processes of one host share a tuning: each takes the next task from one list, the longest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "lab/tune/device_meter.hpp"
#include "lab/tune/tasks.hpp"
#include "lab/tune/tuner.hpp"

namespace quarry::lab {

/// Seconds that measuring a task is likely to take on a device, by the predicted times of its kernels; of a
/// range, its first values.
double expected_seconds(const TuneTask& task, const DeviceMeterOptions& options, const DeviceModel& device);

/// Numbers of tasks, the one that is likely to take longest first: who takes the next one when it is free
/// ends at about the same time as the others.
std::vector<std::uint32_t> longest_first(std::span<const TuneTask> tasks, const DeviceMeterOptions& options,
                                         const DeviceModel& device);

/// A list of task numbers in memory that processes share, and how many of them were taken. The process that
/// makes it starts the others, which inherit its file. They start while it still finds out the list, because
/// the start of CUDA takes each of them long.
class TaskQueue {
 public:
  /// Room for the numbers of so many tasks. Fails with file_error where there is no such memory.
  static Result<TaskQueue> make(std::size_t tasks);
  /// Opens the queue of an inherited file. Fails with invalid_arguments for any other file.
  static Result<TaskQueue> open(int file);

  TaskQueue(TaskQueue&& other) noexcept;
  TaskQueue& operator=(TaskQueue&&) = delete;
  ~TaskQueue();

  /// What a child opens.
  int file() const { return file_; }
  std::size_t size() const { return order_.size(); }
  /// The process that made it.
  int owner() const;

  /// Opens the list to the others. @pre as many numbers as there is room for
  /// @param processes that take part, above 0: processes with greater numbers do not
  void publish(std::span<const std::uint32_t> order, std::size_t processes);
  /// How many take part; 0 until the list is there.
  std::size_t processes() const;

  /// @pre the list is there, as for take()
  std::uint32_t operator[](std::size_t place) const { return order_[place]; }
  /// The first place of the list that nobody took before, by any process; size() and more: none is left.
  std::size_t take();

  /// Adds what became of one process's tuning, for the one that made the queue.
  void add(const TuneReport& report);
  /// The sum of what was added.
  TuneReport sum() const;

 private:
  TaskQueue(int file, void* memory, std::size_t bytes);

  int file_;
  void* memory_;
  std::size_t bytes_;
  std::span<std::uint32_t> order_;
};

/// Who takes part in sharing: "FILE:3", the queue's file and process 3 (from 0). Fails with parse_error.
struct QueuePlace {
  int file = 0;
  std::size_t process = 0;
};
Result<QueuePlace> parse_queue_place(std::string_view text);

}  // namespace quarry::lab
