/// Copies between strided host memory and a device, through page-locked memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "quarry/status.hpp"
#include "registry/device/byte_runs.hpp"
#include "registry/device/copy_engine.hpp"

namespace quarry::detail {

/// Device memory that stands for a span of host memory.
struct DeviceSpan {
  /// Host addresses.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  /// Owns the memory, and points to where the copy of `begin` lies.
  std::shared_ptr<void> memory;

  std::byte* at(std::uint64_t address) const {
    return static_cast<std::byte*>(memory.get()) + (address - begin);
  }
};

/// Elements of an output, and the device memory that holds them.
struct CopyBack {
  const DeviceSpan* span = nullptr;
  ByteRuns runs;
};

/// Staging memory in two halves: the host fills or empties one while the other is copied.
class Staging {
 public:
  /// @param engine must outlive this
  /// @param most_bytes of staging memory, at least 512 are used
  Staging(CopyEngine& engine, std::size_t most_bytes);

  /// Copies runs, which lie within the span, to the device. When it returns they have been read.
  Status upload(const DeviceSpan& span, std::span<const ByteRuns> parts);

  /// Copies elements back, in this order, and waits for all work on the stream.
  Status download(std::span<const CopyBack> parts);

  /// Frees the memory. @pre no work on the stream uses it
  void release() { memory_.reset(); }

 private:
  struct Chunk;
  Status reserve(std::size_t bytes);
  Status next_slot();
  std::byte* slot(int number) const {
    return static_cast<std::byte*>(memory_.get()) + static_cast<std::size_t>(number) * slot_bytes_;
  }

  CopyEngine& engine_;
  std::size_t most_bytes_;
  std::shared_ptr<void> memory_;
  std::size_t slot_bytes_ = 0;  ///< of one half
  int slot_ = 0;                ///< the half that is being filled
  std::size_t used_ = 0;        ///< of it
};

}  // namespace quarry::detail
