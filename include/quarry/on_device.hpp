/// Runs on a device with tensors in host memory.
#pragma once

#include <cstddef>
#include <memory>

#include "quarry/arguments.hpp"
#include "quarry/kernel.hpp"
#include "quarry/memory_pool.hpp"
#include "quarry/status.hpp"

namespace quarry {

namespace detail {
class CopiedRuns;
}  // namespace detail

/// Device memory from an allocator of the program, in the place of a MemoryPool.
class DeviceAllocator {
 public:
  virtual ~DeviceAllocator() = default;
  /// Memory for work that is put on `stream` from now on, aligned to 256 bytes. The last owner frees it,
  /// behind all work that is on the stream by then.
  virtual Result<std::shared_ptr<void>> allocate(std::size_t bytes, CUstream_st* stream) = 0;
};

struct OnDeviceOptions {
  /// Ordinal of the CUDA device.
  int device = 0;
  /// A stream of that device, for all copies and kernels. Null: a stream of its own.
  CUstream_st* stream = nullptr;
  /// Device memory for copies and workspaces comes from here. It must outlive the object. Null: from
  /// `allocator`, else from a pool of its own.
  const MemoryPool* pool = nullptr;
  /// The same of another source of memory.
  std::shared_ptr<DeviceAllocator> allocator = nullptr;
  /// The most page-locked host memory, through which all copies go. It is allocated when the first copy needs
  /// it and kept.
  std::size_t staging_bytes = std::size_t{32} << 20;
};

/// Runs kernels on a device for tensors in host memory: inputs are copied to the device, the kernel runs
/// there, and `sync` brings the outputs back.
///
///   Result<OnDevice> device = OnDevice::create({.device = 0});
///   if (!device) return device.status();
///   Status done = device->run(arguments);  // host tensors; the best kernel
///   if (!done) return done;
///   done = device->sync();                 // the outputs are in the host tensors
///
/// `run` returns when the inputs have been read and the work is on the stream: inputs may change then,
/// outputs must live until `sync`. A later run may read the output of an earlier one before `sync`: it uses
/// the copy on the device. Between `run` and `sync` the program must not write an output.
///
/// Of a strided tensor, only its elements are read and written; bytes between them stay as they are on the
/// host. Device memory is allocated for the smallest span around the elements, once for tensors that share
/// memory. It is freed in the order of the stream: inputs behind their kernel, outputs at `sync`.
///
/// It can be moved, not copied. Calls of many threads are served one after another. Its destructor waits for
/// the stream and drops outputs that did not come back.
class OnDevice {
 public:
  /// Fails with no_device, with unsupported on a device without memory pools, with device_error if the stream
  /// belongs to another device, and with invalid_arguments if the pool does.
  static Result<OnDevice> create(const OnDeviceOptions& options = {});

  /// The same without a device: copies lie in other host memory, and kernels run on the host executor. A
  /// program can be tested with it where there is no GPU.
  static Result<OnDevice> in_host_memory(std::size_t staging_bytes = std::size_t{32} << 20);

  OnDevice(OnDevice&&) noexcept;
  OnDevice& operator=(OnDevice&&) noexcept;
  ~OnDevice();

  /// Copies the inputs of `arguments` to the device and runs the kernel there. All operands are plain or
  /// page-locked host memory; otherwise it fails with invalid_arguments and names the operand. Numbers that
  /// the epilogue reads through a pointer are copied, too. Arrays of pointers are refused with unsupported.
  /// All else fails as Kernel::run does, and then the run has no outputs. The stream and the pool of the
  /// options are ignored; a workspace that is given lies on the device.
  Status run(const Kernel& kernel, Arguments arguments, const RunOptions& options = {});

  /// The same with the best kernel for the copies on the device. Fails as find_best does, too.
  Status run(Arguments arguments, const RunOptions& options = {});

  /// Copies the outputs of all runs since the last call to the host tensors, and waits for the stream. A
  /// second call does nothing. Fails with device_error if a kernel or a copy failed: outputs that did not
  /// come back are dropped then. Fails with unsupported while the stream is being captured; nothing is lost
  /// then.
  Status sync();

  /// Waits for the stream, drops outputs that did not come back, and frees all memory. Later calls fail with
  /// invalid_arguments, but this one.
  void close();

  bool is_closed() const;

  /// Outputs that did not come back yet.
  std::size_t pending() const;

  /// The stream of the work; null in host memory and when it is closed.
  CUstream_st* stream() const;

  /// Made by `create`.
  explicit OnDevice(std::unique_ptr<detail::CopiedRuns> runs);

 private:
  std::unique_ptr<detail::CopiedRuns> runs_;
};

}  // namespace quarry
