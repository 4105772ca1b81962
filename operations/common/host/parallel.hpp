/// Loops over independent pieces of work, spread over threads.
#pragma once

#include <cstdint>
#include <functional>

namespace quarry::host {

/// Threads to use when nobody says: the processors of this machine, at least one.
int default_threads();

/// Calls `work(worker, i)` once for each i in [0, count), from up to `threads` threads at a time, of which
/// the caller is one; `worker` in [0, threads) tells them apart, so that each can have memory of its own.
/// Returns when all are done. Where no thread can be started, those there are do the work. If `work` throws,
/// no further piece is begun, and the first exception is thrown here when all threads have ended.
void parallel_for(std::int64_t count, int threads,
                  const std::function<void(int worker, std::int64_t i)>& work);

}  // namespace quarry::host
