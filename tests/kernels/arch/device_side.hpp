/// Probes on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "tests/kernels/arch/side.hpp"

namespace quarry::test {

/// The probes, loaded on the current device for as long as this lives.
class DeviceSide {
 public:
  DeviceSide();
  ~DeviceSide();
  DeviceSide(const DeviceSide&) = delete;
  DeviceSide& operator=(const DeviceSide&) = delete;

  /// Why there is none; "" where there is one.
  const std::string& fault() const { return fault_; }
  /// "NVIDIA H200 (compute capability 9.0), driver 13.0"
  std::string description() const;

  /// Whether the device has what the probe shows.
  bool can_run(const Probe& probe) const { return runs_sm90_ || !probe.sm90; }

  /// Runs a probe that it can run; `fill` is what `out` holds before.
  SideResult run(const Probe& probe, const Words& inputs, std::uint32_t fill) const;

 private:
  std::string fault_;
  bool runs_sm90_ = false;
  cudaLibrary_t library_ = nullptr;
  cudaLibrary_t library_sm90_ = nullptr;
};

}  // namespace quarry::test
