/// Memory pools of the stand-in: they count, and take from the device in pieces as the driver does.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "registry/device/devices/stand_in.hpp"

namespace quarry::stand_in {
namespace {

constexpr std::size_t piece = std::size_t{2} << 20;

struct Pool {
  int device = 0;
  std::size_t most = 0;
  std::uint64_t keeps = 0;
  std::uint64_t used = 0, peak_used = 0, reserved = 0, peak_reserved = 0;
};

struct Allocation {
  Pool* pool;
  std::size_t bytes;
};

std::mutex mutex;  // of all below
std::map<void*, Allocation> allocations;
std::vector<const CUstream_st*> streams;
std::size_t pools = 0;
std::size_t taken = 0;

std::uint64_t& field(Pool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrUsedMemCurrent: return pool.used;
    case cudaMemPoolAttrUsedMemHigh: return pool.peak_used;
    case cudaMemPoolAttrReservedMemCurrent: return pool.reserved;
    case cudaMemPoolAttrReservedMemHigh: return pool.peak_reserved;
    default: return pool.keeps;
  }
}

std::size_t in_pieces(std::size_t bytes) { return (bytes + piece - 1) / piece * piece; }

Pool& of(cudaMemPool_t pool) { return *reinterpret_cast<Pool*>(pool); }

}  // namespace

std::size_t live_pools() {
  const std::lock_guard lock(mutex);
  return pools;
}

std::vector<const CUstream_st*> take_pool_streams() {
  const std::lock_guard lock(mutex);
  return std::exchange(streams, {});
}

}  // namespace quarry::stand_in

using namespace quarry::stand_in;

extern "C" {

cudaError_t __wrap_cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  ++pools;
  const std::size_t most = properties->maxSize == 0 ? std::size_t{1} << 38 : properties->maxSize;
  *pool =
      reinterpret_cast<cudaMemPool_t>(new Pool{.device = properties->location.id, .most = in_pieces(most)});
  return cudaSuccess;
}

cudaError_t __wrap_cudaMemPoolDestroy(cudaMemPool_t pool) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  --pools;
  for (auto& [memory, allocation] : allocations) {
    if (allocation.pool == &of(pool)) allocation.pool = nullptr;
  }
  delete &of(pool);
  return cudaSuccess;
}

cudaError_t __wrap_cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  Pool& p = of(pool);
  field(p, attribute) = *static_cast<std::uint64_t*>(value);
  p.peak_used = std::max(p.peak_used, p.used);
  p.peak_reserved = std::max(p.peak_reserved, p.reserved);
  return cudaSuccess;
}

cudaError_t __wrap_cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  *static_cast<std::uint64_t*>(value) = field(of(pool), attribute);
  return cudaSuccess;
}

cudaError_t __wrap_cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t keep) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  Pool& p = of(pool);
  p.reserved =
      std::min<std::uint64_t>(p.reserved, std::max<std::uint64_t>(in_pieces(keep), in_pieces(p.used)));
  return cudaSuccess;
}

cudaError_t __wrap_cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t pool,
                                           cudaStream_t stream) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  Pool& p = of(pool);
  if (current_device() != p.device) return cudaErrorInvalidValue;
  if (p.used + bytes > p.most) return cudaErrorMemoryAllocation;
  p.used += bytes;
  p.peak_used = std::max(p.peak_used, p.used);
  p.reserved = std::max<std::uint64_t>(p.reserved, in_pieces(p.used));
  p.peak_reserved = std::max(p.peak_reserved, p.reserved);
  *memory = memory_of(p.device, (std::size_t{3} << 38) + taken);
  taken += (bytes + 255) / 256 * 256;  // pieces do not overlap
  allocations[*memory] = {&p, bytes};
  streams.push_back(stream);
  return cudaSuccess;
}

cudaError_t __wrap_cudaFreeAsync(void* memory, cudaStream_t stream) {
  const std::lock_guard lock(quarry::stand_in::mutex);
  const auto found = allocations.find(memory);
  if (found == allocations.end()) return cudaErrorInvalidValue;
  Pool* const pool = found->second.pool;
  if (pool != nullptr) {
    if (current_device() != pool->device) return cudaErrorInvalidValue;
    pool->used -= found->second.bytes;
    if (pool->reserved > pool->keeps) pool->reserved = in_pieces(pool->used);
  }
  allocations.erase(found);
  streams.push_back(stream);
  return cudaSuccess;
}

cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

}  // extern "C"
