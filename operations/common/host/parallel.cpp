#include "operations/common/host/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace quarry::host {

int default_threads() {
  // Asked once: the system answers from a file.
  static const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return threads;
}

void parallel_for(std::int64_t count, int threads, const std::function<void(int, std::int64_t)>& work) {
  std::atomic<std::int64_t> next = 0;
  std::atomic<bool> has_failed = false;
  std::exception_ptr failure;
  const auto work_until_done = [&](int worker) {
    try {
      for (std::int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(worker, i);
    } catch (...) {
      next.store(count);
      if (!has_failed.exchange(true)) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  try {
    const auto helpers = std::min<std::int64_t>(threads, count) - 1;
    for (int worker = 1; worker <= helpers; ++worker) others.emplace_back(work_until_done, worker);
  } catch (const std::exception&) {
    // No more threads or memory to be had: fewer do the same work.
  }
  work_until_done(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace quarry::host
