/// Scratch memory of a device that follows the order of streams.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

struct CUmemPoolHandle_st;
struct CUstream_st;

namespace quarry {

struct MemoryPoolOptions {
  /// Ordinal of the CUDA device.
  int device = 0;
  /// Bytes that the pool takes from the device when it is created, so that first runs need not.
  std::size_t initial_bytes = 0;
  /// The most bytes that it takes; the driver rounds them up. 0: as many as the device has.
  std::size_t max_bytes = 0;
};

/// Bytes of a pool.
struct MemoryPoolUse {
  /// Of workspaces that are not freed, as of now and at the most.
  std::size_t used = 0;
  std::size_t peak_used = 0;
  /// Taken from the device, as of now and at the most.
  std::size_t reserved = 0;
  std::size_t peak_reserved = 0;
};

/// A workspace from a MemoryPool, aligned to 256 bytes. It is freed by its destructor, on its stream: after
/// all work that is on the stream by then. It can be moved, not copied. It may outlive the pool.
class PooledWorkspace {
 public:
  /// An empty one.
  PooledWorkspace() = default;
  PooledWorkspace(PooledWorkspace&& other) noexcept { swap(other); }
  PooledWorkspace& operator=(PooledWorkspace&& other) noexcept {
    PooledWorkspace taken(std::move(other));
    swap(taken);
    return *this;
  }
  PooledWorkspace(const PooledWorkspace&) = delete;
  PooledWorkspace& operator=(const PooledWorkspace&) = delete;
  ~PooledWorkspace();

  void* data() const { return memory_.data; }
  std::size_t bytes() const { return memory_.bytes; }
  operator Workspace() const { return memory_; }

 private:
  friend class MemoryPool;
  PooledWorkspace(Workspace memory, CUstream_st* stream, int device)
      : memory_(memory), stream_(stream), device_(device) {}
  void swap(PooledWorkspace& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(stream_, other.stream_);
    std::swap(device_, other.device_);
  }

  Workspace memory_ = {};
  CUstream_st* stream_ = nullptr;
  int device_ = 0;
};

/// A pool of the CUDA driver (cudaMemPool) for workspaces. Memory is allocated and freed in the order of a
/// stream, so nothing waits for the device, and runs on many streams share the memory:
///
///   Result<MemoryPool> pool = MemoryPool::create({.initial_bytes = 1 << 26});
///   if (!pool) return pool.status();
///   Status done = kernel.run(arguments, {.stream = stream, .pool = &*pool});
///   done = plan.run(arguments, stream, *pool->workspace(plan.workspace_size(), stream));
///
/// The pool keeps freed memory for the next runs until `trim`. It can be moved, not copied; many threads may
/// use it at the same time. Its destructor returns the memory, once its workspaces are freed.
class MemoryPool {
 public:
  /// Fails with invalid_arguments if the initial bytes exceed the maximum, with no_device, with unsupported
  /// on a device without such pools, and with device_error if there is not enough memory. Waits for the
  /// device's legacy default stream if there are initial bytes.
  static Result<MemoryPool> create(const MemoryPoolOptions& options = {});

  int device() const { return device_; }

  /// Memory for work that is put on `stream` from now on. The stream belongs to the device of the pool; null
  /// is its legacy default stream. While it is being captured, the allocation becomes a part of the graph.
  /// Fails with device_error if the pool may not grow as far. No bytes need no memory.
  Result<PooledWorkspace> workspace(std::size_t bytes, CUstream_st* stream) const;

  Result<MemoryPoolUse> use() const;

  /// The peaks begin again at what is used now.
  Status reset_peaks() const;

  /// Returns memory that no workspace uses to the device, until the pool has no more than `keep_bytes`.
  /// Memory whose use by a stream has not ended stays: synchronise before.
  Status trim(std::size_t keep_bytes = 0) const;

 private:
  using Destroy = void (*)(CUmemPoolHandle_st* pool);
  MemoryPool(CUmemPoolHandle_st* pool, Destroy destroy, int device) : pool_(pool, destroy), device_(device) {}

  std::unique_ptr<CUmemPoolHandle_st, Destroy> pool_;
  int device_;
};

}  // namespace quarry
