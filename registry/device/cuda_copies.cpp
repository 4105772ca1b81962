#include <array>
#include <optional>
#include <string>
#include <utility>

#include "registry/device/copy_engine.hpp"
#include "registry/device/cuda_call.hpp"
#include "registry/device/runtime.hpp"
#include "registry/device/same_device.hpp"

namespace quarry::detail {
namespace {

std::string size_text(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

class CudaCopies final : public CopyEngine {
 public:
  explicit CudaCopies(const OnDeviceOptions& options)
      : device_(options.device),
        stream_(options.stream),
        pool_(options.pool),
        allocator_(options.pool == nullptr ? options.allocator : nullptr) {}
  ~CudaCopies() override;

  /// What can fail of the constructor.
  Status start();

  Memory memory() const override { return {MemoryKind::device, device_}; }
  CUstream_st* stream() const override { return stream_; }
  Status ready() override;
  Result<std::shared_ptr<void>> allocate(std::size_t bytes) override;
  Result<std::shared_ptr<void>> allocate_staging(std::size_t bytes) override;
  Status copy(void* to, const void* from, std::size_t bytes) override;
  Status run(const Kernel& kernel, const Arguments& arguments, const RunOptions& options) override;
  Status mark(int slot) override;
  Status wait(int slot) override;
  Status wait() override;

 private:
  int device_;
  CUstream_st* stream_;
  bool owns_stream_ = false;
  const MemoryPool* pool_;
  std::shared_ptr<DeviceAllocator> allocator_;
  std::optional<MemoryPool> own_pool_;
  std::array<cudaEvent_t, slots> marks_ = {};
};

/// Memory of the pool has been freed by then: what it was taken for is owned by what owns this.
CudaCopies::~CudaCopies() {
  const CurrentDevice current(device_);
  for (cudaEvent_t mark : marks_) {
    if (mark != nullptr) (void)cudaEventDestroy(mark);
  }
  if (owns_stream_) (void)cudaStreamDestroy(stream_);
  (void)cudaGetLastError();
}

Status CudaCopies::start() {
  const CurrentDevice current(device_);
  if (Status s = current.status(); !s) return s;
  if (stream_ == nullptr) {
    const cudaError_t error = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    if (Status s = cuda_status(error, "create a stream"); !s) return s;
    owns_stream_ = true;
  }
  for (cudaEvent_t& mark : marks_) {
    const cudaError_t error = cudaEventCreateWithFlags(&mark, cudaEventDisableTiming);
    if (Status s = cuda_status(error, "create an event"); !s) return s;
  }
  if (pool_ != nullptr || allocator_ != nullptr) return {};
  Result<MemoryPool> pool = MemoryPool::create({.device = device_});
  if (!pool) return pool.status();
  pool_ = &own_pool_.emplace(*std::move(pool));
  return {};
}

/// A graph would repeat the copies, but not what the host does before and behind them.
Status CudaCopies::ready() {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream_, &capture);
  if (Status s = cuda_status(error, "use the stream of OnDevice"); !s) return s;
  if (capture == cudaStreamCaptureStatusNone) return {};
  return {StatusCode::unsupported,
          "The stream of OnDevice is being captured: copies of host tensors cannot be a part of a graph"};
}

Result<std::shared_ptr<void>> CudaCopies::allocate(std::size_t bytes) {
  if (pool_ == nullptr) return allocator_->allocate(bytes, stream_);
  Result<PooledWorkspace> memory = pool_->workspace(bytes, stream_);
  if (!memory) return memory.status();
  const auto owner = std::make_shared<PooledWorkspace>(*std::move(memory));
  return std::shared_ptr<void>(owner, owner->data());
}

Result<std::shared_ptr<void>> CudaCopies::allocate_staging(std::size_t bytes) {
  const CurrentDevice current(device_);
  if (Status s = current.status(); !s) return s;
  void* memory = nullptr;
  const cudaError_t error = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
  const std::string what = "allocate " + size_text(bytes) + " of page-locked memory for copies";
  if (Status s = cuda_status(error, what); !s) return s;
  return std::shared_ptr<void>(memory, [](void* freed) {
    if (cudaFreeHost(freed) != cudaSuccess) (void)cudaGetLastError();
  });
}

Status CudaCopies::copy(void* to, const void* from, std::size_t bytes) {
  const CurrentDevice current(device_);
  if (Status s = current.status(); !s) return s;
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_);
  return error == cudaSuccess ? Status() : cuda_status(error, "copy " + size_text(bytes));
}

Status CudaCopies::run(const Kernel& kernel, const Arguments& arguments, const RunOptions& options) {
  RunOptions on_stream = options;
  on_stream.stream = stream_;
  return kernel.run(arguments, on_stream);
}

Status CudaCopies::mark(int slot) {
  return cuda_status(cudaEventRecord(marks_[static_cast<std::size_t>(slot)], stream_), "mark a copy");
}

Status CudaCopies::wait(int slot) {
  return cuda_status(cudaEventSynchronize(marks_[static_cast<std::size_t>(slot)]), "wait for a copy");
}

Status CudaCopies::wait() {
  const CurrentDevice current(device_);
  if (Status s = current.status(); !s) return s;
  return cuda_status(cudaStreamSynchronize(stream_), "wait for runs on the device");
}

}  // namespace

Result<std::unique_ptr<CopyEngine>> cuda_copies(const OnDeviceOptions& options) {
  if (Status s = device_status(options.device); !s) return s;
  if (Status s = check_stream("OnDevice", options.stream, options.device); !s) return s;
  if (options.pool != nullptr && options.pool->device() != options.device) {
    return Status(StatusCode::invalid_arguments,
                  "The memory pool is on device " + std::to_string(options.pool->device()) +
                      ", and OnDevice on device " + std::to_string(options.device));
  }
  auto made = std::make_unique<CudaCopies>(options);
  if (Status s = made->start(); !s) return s;
  return std::unique_ptr<CopyEngine>(std::move(made));
}

}  // namespace quarry::detail
