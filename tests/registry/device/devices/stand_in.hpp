/// A stand-in of the CUDA runtime: devices of compute capability 9.0 that run nothing, two of them unless the
/// environment variable QUARRY_STAND_IN_DEVICES says otherwise. As the runtime, it launches on the device of
/// the stream whatever the pointers lead to, and notes it; a kernel that was not loaded for that device, or
/// given its shared memory there, cannot be launched.
#pragma once

#include <cstddef>
#include <vector>

struct CUstream_st;

namespace quarry::stand_in {

/// What an address leads to. Nothing is there.
void* memory_of(int device, std::size_t offset = 0);
void* managed_memory(std::size_t offset = 0);
void* pinned_memory(std::size_t offset = 0);

/// A stream of the device, and one that is a stream no more.
CUstream_st* stream_of(int device);
CUstream_st* destroyed_stream();

/// The device that is current for this thread.
int current_device();
void set_current_device(int device);

/// The devices that were given work since the last call, in order.
std::vector<int> take_launches();

/// The code that was given to the runtime for each kernel that was launched since the last call, in order.
std::vector<const void*> take_launched_code();

/// Pieces of device memory that were allocated and not freed.
std::size_t live_allocations();

/// Memory pools that were created and not destroyed.
std::size_t live_pools();

/// The streams of allocations from pools, and of their frees, since the last call, in order.
std::vector<const CUstream_st*> take_pool_streams();

/// Copies between a device and page-locked memory, which copy nothing.
struct Copies {
  std::size_t to_device = 0;  ///< bytes
  std::size_t to_host = 0;
  std::vector<const CUstream_st*> streams;
};
/// Those since the last call.
Copies take_copies();

/// Streams, events and pieces of page-locked memory that were created and not destroyed.
std::size_t live_copy_helpers();

/// How often CUDA was asked since the last call: the device of a stream, the place of a pointer.
struct Questions {
  int streams = 0;
  int pointers = 0;
};
Questions take_questions();

}  // namespace quarry::stand_in
