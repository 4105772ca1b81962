#include "quarry/memory_pool.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "registry/device/cuda_call.hpp"
#include "registry/device/runtime.hpp"

namespace quarry {
namespace {

void destroy(cudaMemPool_t pool) { (void)cudaMemPoolDestroy(pool); }

Status check_options(const MemoryPoolOptions& options) {
  if (options.max_bytes > 0 && options.initial_bytes > options.max_bytes) {
    return {StatusCode::invalid_arguments, "A memory pool cannot begin with " +
                                               std::to_string(options.initial_bytes) +
                                               " bytes: its maximum is " + std::to_string(options.max_bytes)};
  }
  return detail::device_status(options.device);
}

/// Ok where the device that is current has memory pools.
Status check_support(int device) {
  int supported = 0;
  const cudaError_t error = cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device);
  if (Status s = detail::cuda_status(error, "ask for memory pools"); !s) return s;
  if (supported != 0) return {};
  return {StatusCode::unsupported, "Device " + std::to_string(device) + " has no memory pools"};
}

Status read(cudaMemPool_t pool, cudaMemPoolAttr attribute, std::size_t& bytes) {
  std::uint64_t value = 0;
  const cudaError_t error = cudaMemPoolGetAttribute(pool, attribute, &value);
  bytes = value;
  return detail::cuda_status(error, "ask a memory pool for its use");
}

Status write(cudaMemPool_t pool, cudaMemPoolAttr attribute, std::uint64_t value) {
  return detail::cuda_status(cudaMemPoolSetAttribute(pool, attribute, &value), "set up a memory pool");
}

}  // namespace

PooledWorkspace::~PooledWorkspace() {
  if (memory_.data == nullptr) return;
  const detail::CurrentDevice current(device_);  // whose default stream a null stream is
  if (cudaFreeAsync(memory_.data, stream_) != cudaSuccess) (void)cudaGetLastError();
}

Result<MemoryPool> MemoryPool::create(const MemoryPoolOptions& options) {
  if (Status s = check_options(options); !s) return s;
  const detail::CurrentDevice current(options.device);
  if (Status s = current.status(); !s) return s;
  if (Status s = check_support(options.device); !s) return s;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {};
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = options.device;
  properties.maxSize = options.max_bytes;
  cudaMemPool_t handle = nullptr;
  const cudaError_t error = cudaMemPoolCreate(&handle, &properties);
  if (Status s = detail::cuda_status(error, "create a memory pool"); !s) return s;
  MemoryPool pool(handle, destroy, options.device);
  constexpr std::uint64_t always = std::numeric_limits<std::uint64_t>::max();
  if (Status s = write(handle, cudaMemPoolAttrReleaseThreshold, always); !s) return s;
  if (Status s = pool.workspace(options.initial_bytes, nullptr).status(); !s) return s;
  if (options.initial_bytes > 0) {
    if (Status s = detail::cuda_status(cudaStreamSynchronize(nullptr), "wait for a memory pool"); !s)
      return s;
    if (Status s = pool.reset_peaks(); !s) return s;
  }
  return pool;
}

Result<PooledWorkspace> MemoryPool::workspace(std::size_t bytes, CUstream_st* stream) const {
  if (bytes == 0) return PooledWorkspace();
  const detail::CurrentDevice current(device_);
  if (Status s = current.status(); !s) return s;
  void* memory = nullptr;
  const cudaError_t error = cudaMallocFromPoolAsync(&memory, bytes, pool_.get(), stream);
  const std::string what = "allocate a workspace of " + std::to_string(bytes) + " bytes from the pool";
  if (Status s = detail::cuda_status(error, what); !s) return s;
  return PooledWorkspace({memory, bytes}, stream, device_);
}

Result<MemoryPoolUse> MemoryPool::use() const {
  MemoryPoolUse use;
  if (Status s = read(pool_.get(), cudaMemPoolAttrUsedMemCurrent, use.used); !s) return s;
  if (Status s = read(pool_.get(), cudaMemPoolAttrUsedMemHigh, use.peak_used); !s) return s;
  if (Status s = read(pool_.get(), cudaMemPoolAttrReservedMemCurrent, use.reserved); !s) return s;
  if (Status s = read(pool_.get(), cudaMemPoolAttrReservedMemHigh, use.peak_reserved); !s) return s;
  return use;
}

Status MemoryPool::reset_peaks() const {
  if (Status s = write(pool_.get(), cudaMemPoolAttrUsedMemHigh, 0); !s) return s;
  return write(pool_.get(), cudaMemPoolAttrReservedMemHigh, 0);
}

Status MemoryPool::trim(std::size_t keep_bytes) const {
  return detail::cuda_status(cudaMemPoolTrimTo(pool_.get(), keep_bytes), "trim a memory pool");
}

}  // namespace quarry
