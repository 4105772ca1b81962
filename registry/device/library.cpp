#include "registry/device/library.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "registry/device/cuda_call.hpp"
#include "registry/device/device_model.hpp"
#include "registry/row.hpp"

namespace quarry::detail {
namespace {

/// Shared memory that a kernel can have without asking for more.
constexpr unsigned default_shared_memory = 48 * 1024;
constexpr int most_devices = 64;

/// What is loaded of one entry.
struct Function {
  std::atomic<cudaKernel_t> kernel = nullptr;
  /// Bit d: ready to be launched on device d.
  std::atomic<std::uint64_t> ready_on = 0;
};

/// What is loaded of the whole table. Lives to the end of the process, as CUDA's own state does.
struct Loaded {
  std::unique_ptr<Function[]> functions;       // by entry
  std::unique_ptr<cudaLibrary_t[]> libraries;  // by unit; null: not loaded. Guarded by loading_mutex
};

constinit std::atomic<Loaded*> all_loaded = nullptr;
constinit std::mutex loading_mutex;

Status no_memory() { return {StatusCode::device_error, "Out of memory for the table of loaded kernels"}; }

/// @pre loading_mutex is held
Loaded* loaded_table() {
  if (Loaded* const there = all_loaded.load(std::memory_order_acquire)) return there;
  std::unique_ptr<Loaded> made(new (std::nothrow) Loaded);
  if (!made) return nullptr;
  made->functions.reset(new (std::nothrow) Function[entries().size()]);
  made->libraries.reset(new (std::nothrow) cudaLibrary_t[units().size()]());
  if (!made->functions || !made->libraries) return nullptr;
  all_loaded.store(made.get(), std::memory_order_release);
  return made.release();
}

Status not_precompiled(const Entry& entry, int cc) {
  const std::string what = "No machine code of `" + std::string(entry.name) + "` for compute capability " +
                           std::to_string(cc / 10) + "." + std::to_string(cc % 10) + " in this library";
  if (entry.unit < 0)
    return {StatusCode::not_precompiled, what + ": it was left out when the library was built"};
  std::string built;
  for (const int target : precompiled_targets()) {
    built += (built.empty() ? "" : ", ") + std::to_string(target / 10) + "." + std::to_string(target % 10);
  }
  return {StatusCode::not_precompiled, what + ": it was built for " + built};
}

/// Ok when code may be loaded now: not while the stream is capturing.
Status may_load(CUstream_st* stream, const Entry& entry) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  // The legacy stream answers with this error while another stream is capturing that it would wait for.
  const bool capturing = error == cudaErrorStreamCaptureImplicit || capture != cudaStreamCaptureStatusNone;
  if (capturing) {
    (void)cudaGetLastError();
    return {StatusCode::not_loaded, "`" + std::string(entry.name) +
                                        "` is not loaded yet, and cannot be while the stream is capturing: "
                                        "prepare or run it once before"};
  }
  return cuda_status(error, "use the stream");
}

/// Lets this thread load code while others capture streams, without breaking their captures.
class RelaxedCapture {
 public:
  RelaxedCapture() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Loads the unit's fatbin unless that is done.
cudaError_t load_library(cudaLibrary_t& library, const Unit& unit) {
  if (library != nullptr) return cudaSuccess;
  return cudaLibraryLoadData(&library, unit.begin, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

/// Makes a kernel ready for the current device: its shared memory, and its code, which would otherwise be
/// loaded by the first launch, and that may be while a stream is capturing.
cudaError_t make_ready(cudaKernel_t kernel, unsigned shared_memory) {
  const void* const function = kernel;
  if (shared_memory > default_shared_memory) {
    const cudaError_t error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   static_cast<int>(shared_memory));
    if (error != cudaSuccess) return error;
  }
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, function);
}

/// Loads the entry for the current device. @pre loading_mutex is held
cudaError_t load(Loaded& loaded, const Entry& entry, Function& function, unsigned shared_memory) {
  const auto unit = static_cast<std::size_t>(entry.unit);
  if (const cudaError_t e = load_library(loaded.libraries[unit], units()[unit]); e != cudaSuccess) return e;
  cudaKernel_t kernel = function.kernel.load(std::memory_order_relaxed);
  if (kernel == nullptr) {
    const std::string name(entry.name);
    const cudaError_t e = cudaLibraryGetKernel(&kernel, loaded.libraries[unit], name.c_str());
    if (e != cudaSuccess) return e;
    function.kernel.store(kernel, std::memory_order_relaxed);
  }
  return make_ready(kernel, shared_memory);
}

Result<DeviceFunction> load_slowly(std::uint32_t number, int device, unsigned shared_memory,
                                   std::optional<CUstream_st*> stream) {
  const Entry& entry = entries()[number];
  const DeviceModel* const model = cached_device_model(device);
  if (model == nullptr || device >= most_devices) return device_model(device).status();
  if (!has_machine_code(number, model->cc)) return not_precompiled(entry, model->cc);

  const std::lock_guard lock(loading_mutex);
  Loaded* const loaded = loaded_table();
  if (loaded == nullptr) return no_memory();
  Function& function = loaded->functions[number];
  const std::uint64_t bit = std::uint64_t{1} << device;
  if ((function.ready_on.load(std::memory_order_relaxed) & bit) == 0) {
    if (stream) {
      if (Status s = may_load(*stream, entry); !s) return s;
    }
    const RelaxedCapture relaxed;
    const cudaError_t error = load(*loaded, entry, function, shared_memory);
    if (error == cudaErrorNoKernelImageForDevice) {
      (void)cudaGetLastError();
      return not_precompiled(entry, model->cc);
    }
    if (Status s = cuda_status(error, "load `" + std::string(entry.name) + "`"); !s) return s;
    function.ready_on.fetch_or(bit, std::memory_order_release);
  }
  return DeviceFunction{function.kernel.load(std::memory_order_relaxed)};
}

}  // namespace

bool has_machine_code(std::uint32_t entry, int cc) {
  if (entries()[entry].unit < 0) return false;
  return std::ranges::any_of(precompiled_targets(),
                             [cc](int target) { return target / 10 == cc / 10 && target <= cc; });
}

Result<DeviceFunction> load_function(std::uint32_t entry, int device, unsigned shared_memory,
                                     std::optional<CUstream_st*> stream) {
  if (const Loaded* const loaded = all_loaded.load(std::memory_order_acquire)) [[likely]] {
    const Function& function = loaded->functions[entry];
    if (function.ready_on.load(std::memory_order_acquire) >> device & 1) [[likely]] {
      return DeviceFunction{function.kernel.load(std::memory_order_relaxed)};
    }
  }
  return load_slowly(entry, device, shared_memory, stream);
}

std::optional<std::uint32_t> find_entry(std::string_view name) {
  const std::span<const std::uint32_t> sorted = entries_by_name();
  const auto found =
      std::ranges::lower_bound(sorted, name, {}, [](std::uint32_t i) { return entries()[i].name; });
  if (found == sorted.end() || entries()[*found].name != name) return std::nullopt;
  return *found;
}

}  // namespace quarry::detail
