#include "lab/device/device_buffer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "registry/device/cuda_call.hpp"
#include "registry/device/runtime.hpp"

namespace quarry::lab {

using detail::cuda_status;
using detail::CurrentDevice;
using detail::device_status;

namespace {

/// A pair of CUDA events around some work.
class Stopwatch {
 public:
  Stopwatch() {
    status_ = cuda_status(cudaEventCreate(&begin_), "make an event");
    if (status_) status_ = cuda_status(cudaEventCreate(&end_), "make an event");
  }
  ~Stopwatch() {
    if (begin_ != nullptr) (void)cudaEventDestroy(begin_);
    if (end_ != nullptr) (void)cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Seconds of `launches` launches.
  Result<double> measure(const std::function<Status()>& launch, int launches) const {
    if (!status_) return status_;
    if (Status s = cuda_status(cudaEventRecord(begin_), "record an event"); !s) return s;
    for (int i = 0; i < launches; ++i) {
      if (Status s = launch(); !s) return s;
    }
    if (Status s = cuda_status(cudaEventRecord(end_), "record an event"); !s) return s;
    if (Status s = cuda_status(cudaEventSynchronize(end_), "finish the timed work"); !s) return s;
    float milliseconds = 0;
    const Status read = cuda_status(cudaEventElapsedTime(&milliseconds, begin_, end_), "read the time");
    if (!read) return read;
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  Status status_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

void DeviceBuffer::Free::operator()(void* memory) const { (void)cudaFree(memory); }

Result<DeviceBuffer> DeviceBuffer::allocate(std::size_t bytes, int device) {
  if (Status s = device_status(device); !s) return s;
  const CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
  if (Status s = cuda_status(error, "allocate " + std::to_string(bytes) + " bytes of device memory"); !s)
    return s;
  DeviceBuffer buffer;
  buffer.memory_.reset(memory);
  buffer.bytes_ = bytes;
  buffer.device_ = device;
  return buffer;
}

Status DeviceBuffer::upload(const void* from, std::size_t bytes) const {
  const CurrentDevice current(device_);
  if (Status s = current.status(); !s) return s;
  if (Status s =
          cuda_status(cudaMemcpy(memory_.get(), from, bytes, cudaMemcpyHostToDevice), "copy to the device");
      !s)
    return s;
  return synchronize(device_);  // a copy from pageable memory may return before it has arrived
}

Status DeviceBuffer::download(void* to, std::size_t offset, std::size_t bytes) const {
  if (Status s = synchronize(device_); !s) return s;
  const CurrentDevice current(device_);
  if (Status s = current.status(); !s) return s;
  const std::byte* const from = static_cast<const std::byte*>(memory_.get()) + offset;
  return cuda_status(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copy from the device");
}

Status DeviceBuffer::fill(unsigned char value) const {
  const CurrentDevice current(device_);
  if (Status s = current.status(); !s) return s;
  return cuda_status(cudaMemset(memory_.get(), value, bytes_), "fill device memory");
}

Status DeviceBuffer::repeat(std::size_t period) const {
  const CurrentDevice current(device_);
  if (Status s = current.status(); !s) return s;
  std::byte* const first = static_cast<std::byte*>(memory_.get());
  for (std::size_t filled = period; filled < bytes_;) {
    const std::size_t more = std::min(filled, bytes_ - filled);
    const cudaError_t error = cudaMemcpy(first + filled, first, more, cudaMemcpyDeviceToDevice);
    if (Status s = cuda_status(error, "copy on the device"); !s) return s;
    filled += more;
  }
  return synchronize(device_);
}

Status synchronize(int device) {
  const CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  return cuda_status(cudaDeviceSynchronize(), "finish the device's work");
}

Result<double> median_seconds(int device, const std::function<Status()>& launch) {
  constexpr double burst_seconds = 2e-3;
  constexpr int most_launches = 1000;
  // An idle device takes about that long to reach the clock that it works at.
  constexpr std::chrono::milliseconds warm_up(150);
  // Without rest, large problems are timed at the clock that the power limit leaves them.
  constexpr std::chrono::milliseconds rest(20);
  const CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  const Stopwatch stopwatch;
  if (Result<double> warm = stopwatch.measure(launch, 3); !warm) return warm;
  Result<double> three = stopwatch.measure(launch, 3);
  if (!three) return three;
  // As many launches a burst as make the events' own time small.
  const double one = std::max(*three / 3, 1e-7);
  const int launches = std::clamp(static_cast<int>(burst_seconds / one), 1, most_launches);
  const auto warm_at = std::chrono::steady_clock::now() + warm_up;
  while (std::chrono::steady_clock::now() < warm_at) {
    if (Result<double> burst = stopwatch.measure(launch, launches); !burst) return burst;
  }
  std::array<double, 11> seconds = {};
  for (double& each : seconds) {
    std::this_thread::sleep_for(rest);
    Result<double> burst = stopwatch.measure(launch, launches);
    if (!burst) return burst;
    each = *burst / launches;
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace quarry::lab
