/// What runs with host tensors need of a device. No CUDA header is needed to include this.
#pragma once

#include <cstddef>
#include <memory>

#include "quarry/kernel.hpp"
#include "quarry/on_device.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail {

/// Memory, copies and kernels in the order of one stream. Used by one thread at a time.
class CopyEngine {
 public:
  /// Halves of the staging memory, of which each has a mark on the stream.
  static constexpr int slots = 2;

  virtual ~CopyEngine() = default;

  /// Where allocate()'s memory lies, as views say it.
  virtual Memory memory() const = 0;
  /// The stream of this engine; null if it has none, as in host memory.
  virtual CUstream_st* stream() const { return nullptr; }
  /// Ok where work can be put on the stream now.
  virtual Status ready() = 0;
  /// Memory of the device, aligned to 256 bytes, for work from now on. Freed behind the work that is on the
  /// stream when its last owner goes. @param bytes not 0
  virtual Result<std::shared_ptr<void>> allocate(std::size_t bytes) = 0;
  /// Host memory that copies read and write.
  virtual Result<std::shared_ptr<void>> allocate_staging(std::size_t bytes) = 0;
  /// Puts a copy between staging and device memory on the stream.
  virtual Status copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Puts a kernel on the stream. @param arguments in device memory
  virtual Status run(const Kernel& kernel, const Arguments& arguments, const RunOptions& options) = 0;
  /// Marks what is on the stream by now, and waits for what was there at the last mark (if there was one).
  virtual Status mark(int slot) = 0;
  virtual Status wait(int slot) = 0;
  /// Waits for all work.
  virtual Status wait() = 0;
};

/// On a CUDA device. Fails as OnDevice::create.
Result<std::unique_ptr<CopyEngine>> cuda_copies(const OnDeviceOptions& options);

/// In host memory, at once.
std::unique_ptr<CopyEngine> host_copies();

}  // namespace quarry::detail
