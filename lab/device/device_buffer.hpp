/// Device memory that frees itself, and copies to and from it. For the command and tests: runs allocate
/// nothing. No CUDA header is needed to include this.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "quarry/status.hpp"

namespace quarry::lab {

/// Memory of one CUDA device, 256-byte aligned; its contents are undefined at first. Movable.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;

  /// `bytes` bytes (0 is legal) on a device. no_device where there is none such, device_error where memory
  /// runs out.
  static Result<DeviceBuffer> allocate(std::size_t bytes, int device);

  void* data() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }

  /// Sets every byte.
  Status fill(unsigned char value) const;
  /// Fills the buffer with copies of its first `period` bytes, from 1 to bytes(), and waits.
  Status repeat(std::size_t period) const;
  /// Copies `bytes` bytes, at most bytes(), from or to host memory, and waits. A download waits for all work
  /// of the device first and reports its errors; it starts `offset` bytes into the buffer.
  Status upload(const void* from, std::size_t bytes) const;
  Status download(void* to, std::size_t offset, std::size_t bytes) const;

 private:
  struct Free {
    void operator()(void* memory) const;
  };

  std::unique_ptr<void, Free> memory_;
  std::size_t bytes_ = 0;
  int device_ = 0;
};

/// Waits for all work of a device; device_error when any of it failed.
Status synchronize(int device);

/// Seconds that `launch` takes the device, which puts work on its legacy stream: the median of several bursts
/// between CUDA events, after some to warm up, with a rest before each. Fails as `launch` does.
Result<double> median_seconds(int device, const std::function<Status()>& launch);

}  // namespace quarry::lab
