#include "lab/device/lap_timer.hpp"

#include <atomic>
#include <chrono>
#include <vector>

#include "registry/device/cuda_call.hpp"
#include "registry/device/runtime.hpp"

namespace quarry::lab {

using detail::cuda_status;
using detail::CurrentDevice;
using detail::device_status;

struct LapTimer::State {
  int device = 0;
  cudaStream_t stream = nullptr;
  /// Of lap i: 2 i begins, 2 i + 1 ends.
  std::vector<cudaEvent_t> events;
  std::atomic<bool> released = false;
};

namespace {

/// Runs on a thread of the CUDA runtime, in the stream's order.
void wait_for_release(void* released) {
  constexpr std::chrono::milliseconds longest(20);
  const auto end = std::chrono::steady_clock::now() + longest;
  const auto& flag = *static_cast<const std::atomic<bool>*>(released);
  while (!flag.load(std::memory_order_acquire) && std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

void LapTimer::Destroy::operator()(State* state) const {
  const CurrentDevice current(state->device);
  state->released = true;
  if (state->stream != nullptr) {
    (void)cudaStreamSynchronize(state->stream);  // nothing may look at the flag any more
    (void)cudaStreamDestroy(state->stream);
  }
  for (const cudaEvent_t event : state->events) (void)cudaEventDestroy(event);
  delete state;
}

Result<LapTimer> LapTimer::make(int device, std::size_t laps) {
  if (Status s = device_status(device); !s) return s;
  const CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  LapTimer timer;
  timer.state_.reset(new State);
  timer.state_->device = device;
  if (Status s = cuda_status(cudaStreamCreate(&timer.state_->stream), "make a stream"); !s) return s;
  for (std::size_t i = 0; i < 2 * laps; ++i) {
    cudaEvent_t event = nullptr;
    if (Status s = cuda_status(cudaEventCreate(&event), "make an event"); !s) return s;
    timer.state_->events.push_back(event);
  }
  return timer;
}

CUstream_st* LapTimer::stream() const { return state_->stream; }

std::size_t LapTimer::laps() const { return state_->events.size() / 2; }

Status LapTimer::begin(std::size_t lap) const {
  return cuda_status(cudaEventRecord(state_->events[2 * lap], state_->stream), "record an event");
}

Status LapTimer::end(std::size_t lap) const {
  return cuda_status(cudaEventRecord(state_->events[2 * lap + 1], state_->stream), "record an event");
}

Result<double> LapTimer::seconds(std::size_t lap) const {
  const cudaEvent_t begin = state_->events[2 * lap];
  const cudaEvent_t end = state_->events[2 * lap + 1];
  if (Status s = cuda_status(cudaEventSynchronize(end), "finish the timed work"); !s) return s;
  float milliseconds = 0;
  if (Status s = cuda_status(cudaEventElapsedTime(&milliseconds, begin, end), "read the time"); !s) return s;
  return static_cast<double>(milliseconds) * 1e-3;
}

Status LapTimer::hold() const {
  state_->released.store(false, std::memory_order_release);
  return cuda_status(cudaLaunchHostFunc(state_->stream, wait_for_release, &state_->released),
                     "hold the stream");
}

void LapTimer::release() const { state_->released.store(true, std::memory_order_release); }

}  // namespace quarry::lab
