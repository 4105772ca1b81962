#include "registry/device/library.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <utility>

#include "operations/common/row.hpp"
#include "registry/compile/artifact_format.hpp"
#include "registry/compile/pack.hpp"
#include "registry/compile/precompiled.hpp"
#include "registry/compile/store.hpp"
#include "registry/device/cuda_call.hpp"
#include "registry/device/device_model.hpp"
#include "registry/query/index.hpp"
#include "registry/query/own_kernels.hpp"

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
  /// Where the kernel is not of a precompiled unit: the compute capability that it was compiled for. Guarded
  /// by loading_mutex
  int target = 0;
};

/// Own kernels (make_kernel) have numbers behind the table's; their functions come in chunks.
constexpr std::size_t chunk_functions = 256;
constexpr std::size_t most_chunks = 4096;

/// What is loaded. Lives to the end of the process, as CUDA's own state does.
struct Loaded {
  std::unique_ptr<Function[]> functions;                   // by entry of the table
  std::atomic<Function*> own_functions[most_chunks] = {};  // by the others' numbers
  std::unique_ptr<cudaLibrary_t[]> libraries;  // by unit; null: not loaded. Guarded by loading_mutex
  /// Where two devices need machine code of their own of an entry: the function of the second, by entry and
  /// device. Guarded by loading_mutex
  std::map<std::pair<std::uint32_t, int>, cudaKernel_t> others;

  /// Null where an own kernel's chunk is not there yet.
  Function* function(std::uint32_t entry) const {
    const std::size_t table = entries().size();
    if (entry < table) [[likely]]
      return &functions[entry];
    Function* const chunk = own_functions[(entry - table) / chunk_functions].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &chunk[(entry - table) % chunk_functions];
  }
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

/// The entry's function, made where it is not there. Null where memory ran out. @pre loading_mutex is held
Function* function_made(Loaded& loaded, std::uint32_t entry) {
  if (Function* const there = loaded.function(entry)) return there;
  const std::size_t chunk = (entry - entries().size()) / chunk_functions;
  auto* const made = new (std::nothrow) Function[chunk_functions];
  loaded.own_functions[chunk].store(made, std::memory_order_release);
  return made == nullptr ? nullptr : loaded.function(entry);
}

/// "8.0"
std::string capability(int cc) { return std::to_string(cc / 10) + "." + std::to_string(cc % 10); }

Status not_precompiled(const Entry& entry, int cc) {
  const std::string what = "No machine code of `" + std::string(entry.name) + "` for compute capability " +
                           capability(cc) + " in this library";
  if (entry.unit < 0)
    return {StatusCode::not_precompiled, what + ": it was left out when the library was built"};
  std::string built;
  for (const int target : precompiled_targets()) {
    built += (built.empty() ? "" : ", ") + capability(target);
  }
  return {StatusCode::not_precompiled, what + ": it was built for " + built};
}

/// Ok when code may be loaded now: not while the stream is capturing.
Status may_load(CUstream_st* stream, std::string_view entry) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  // The legacy stream gives this error while another stream is capturing that it would wait for.
  const bool capturing = error == cudaErrorStreamCaptureImplicit || capture != cudaStreamCaptureStatusNone;
  if (capturing) {
    (void)cudaGetLastError();
    return {StatusCode::not_loaded, "`" + std::string(entry) +
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

/// What an entry is loaded for.
struct CodeRequest {
  std::uint32_t number;
  const Entry& entry;
  int device;
  int cc;
  unsigned shared_memory;
  /// Null where its unit is precompiled.
  const ArtifactData* artifact;
};

/// The kernel of a precompiled unit.
cudaError_t kernel_of_unit(Loaded& loaded, const Entry& entry, cudaKernel_t& kernel) {
  const auto unit = static_cast<std::size_t>(entry.unit);
  if (const cudaError_t e = load_library(loaded.libraries[unit], units()[unit]); e != cudaSuccess) return e;
  return cudaLibraryGetKernel(&kernel, loaded.libraries[unit], std::string(entry.name).c_str());
}

/// The kernel of an artifact. Its library stays loaded, as units do.
cudaError_t kernel_of_artifact(const ArtifactData& artifact, cudaKernel_t& kernel) {
  cudaLibrary_t library = nullptr;
  const cudaError_t e =
      cudaLibraryLoadData(&library, artifact.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  return e != cudaSuccess ? e : cudaLibraryGetKernel(&kernel, library, artifact.entry.c_str());
}

cudaError_t kernel_for(Loaded& loaded, const CodeRequest& request, cudaKernel_t& kernel) {
  return request.artifact == nullptr ? kernel_of_unit(loaded, request.entry, kernel)
                                     : kernel_of_artifact(*request.artifact, kernel);
}

/// Loads the entry for the current device. @pre loading_mutex is held
cudaError_t load(Loaded& loaded, const CodeRequest& request, Function& function, cudaKernel_t& kernel) {
  kernel = function.kernel.load(std::memory_order_relaxed);
  const int target = request.artifact == nullptr ? 0 : request.cc;
  if (kernel == nullptr) {
    if (const cudaError_t e = kernel_for(loaded, request, kernel); e != cudaSuccess) return e;
    function.target = target;
    function.kernel.store(kernel, std::memory_order_relaxed);
  }
  if (function.target != target) {
    cudaKernel_t& other = loaded.others[{request.number, request.device}];
    if (other == nullptr) {
      if (const cudaError_t e = kernel_for(loaded, request, other); e != cudaSuccess) return e;
    }
    kernel = other;
  }
  return make_ready(kernel, request.shared_memory);
}

/// An artifact that a run was given, loaded.
struct Given {
  std::shared_ptr<const ArtifactData> artifact;  // kept, so that no other one gets its address
  cudaKernel_t kernel = nullptr;
  std::uint64_t ready_on = 0;  // bit d: on device d
};

/// Those of this process. Never destroyed: threads may run while it ends.
struct AllGiven {
  std::shared_mutex mutex;
  std::map<const ArtifactData*, Given> loaded;
};

AllGiven& all_given() {
  static AllGiven* const the = new AllGiven;
  return *the;
}

/// Whether a program may give an artifact for a device of this compute capability.
Status check_given(const ArtifactData& artifact, int cc) {
  if (artifact.origin != ArtifactOrigin::precompiled) {
    if (Status s = check_artifact(artifact); !s) return s;
  }
  if (runs_on(artifact.target, cc)) return {};
  return {StatusCode::invalid_artifact, "The artifact of `" + artifact.entry +
                                            "` is for compute capability " + capability(artifact.target) +
                                            ", and the device has " + capability(cc)};
}

/// Loads an artifact and makes it ready on the current device. @pre the mutex of AllGiven is held
cudaError_t load(Given& given, int device, unsigned shared_memory) {
  if (given.kernel == nullptr) {
    if (const cudaError_t e = kernel_of_artifact(*given.artifact, given.kernel); e != cudaSuccess) return e;
  }
  if (const cudaError_t e = make_ready(given.kernel, shared_memory); e != cudaSuccess) return e;
  given.ready_on |= std::uint64_t{1} << device;
  return cudaSuccess;
}

/// Why there is no machine code, where it could not be compiled either.
Status not_compiled(const Entry& entry, int cc, const Status& why) {
  return {why.code(), not_precompiled(entry, cc).message() + ", and it cannot be compiled: " + why.message()};
}

/// The artifact of an entry that is not precompiled: in memory, or made now.
Result<std::shared_ptr<const ArtifactData>> artifact_for(std::uint32_t number, int cc, bool compile) {
  if (auto there = artifact_in_memory(number, cc)) return there;
  const Entry& entry = entry_of(number);
  if (!compile) return not_precompiled(entry, cc);
  const Result<Artifact> made = find_artifact(number, {.target = cc});
  if (!made) return not_compiled(entry, cc, made.status());
  return made->shared_data();
}

Result<DeviceFunction> load_slowly(std::uint32_t number, int device, unsigned shared_memory,
                                   std::optional<CUstream_st*> stream, bool compile) {
  const Entry& entry = entry_of(number);
  const DeviceModel* const model = cached_device_model(device);
  if (model == nullptr || device >= most_devices) return device_model(device).status();
  if (stream) {
    if (Status s = may_load(*stream, entry.name); !s) return s;
  }
  std::shared_ptr<const ArtifactData> artifact;
  if (precompiled_target(number, model->cc) == 0) {
    auto made = artifact_for(number, model->cc, compile);
    if (!made) return made.status();
    artifact = *std::move(made);
  }

  const std::lock_guard lock(loading_mutex);
  Loaded* const loaded = loaded_table();
  Function* const function = loaded == nullptr ? nullptr : function_made(*loaded, number);
  if (function == nullptr) return no_memory();
  const RelaxedCapture relaxed;
  cudaKernel_t kernel = nullptr;
  const cudaError_t error =
      load(*loaded, {number, entry, device, model->cc, shared_memory, artifact.get()}, *function, kernel);
  if (error == cudaErrorNoKernelImageForDevice) {
    (void)cudaGetLastError();
    return not_precompiled(entry, model->cc);
  }
  if (Status s = cuda_status(error, "load `" + std::string(entry.name) + "`"); !s) return s;
  if (kernel == function->kernel.load(std::memory_order_relaxed)) {
    function->ready_on.fetch_or(std::uint64_t{1} << device, std::memory_order_release);
  }
  return DeviceFunction{kernel};
}

}  // namespace

Result<DeviceFunction> load_function(std::uint32_t entry, int device, unsigned shared_memory,
                                     std::optional<CUstream_st*> stream, bool compile) {
  if (const Loaded* const loaded = all_loaded.load(std::memory_order_acquire)) [[likely]] {
    const Function* const function = loaded->function(entry);
    if (function != nullptr && (function->ready_on.load(std::memory_order_acquire) >> device & 1) != 0)
        [[likely]] {
      return DeviceFunction{function->kernel.load(std::memory_order_relaxed)};
    }
  }
  return load_slowly(entry, device, shared_memory, stream, compile);
}

Result<DeviceFunction> load_given(const std::shared_ptr<const ArtifactData>& artifact, int device,
                                  unsigned shared_memory, std::optional<CUstream_st*> stream) try {
  AllGiven& all = all_given();
  {
    const std::shared_lock lock(all.mutex);
    const auto there = all.loaded.find(artifact.get());
    if (there != all.loaded.end() && (there->second.ready_on >> device & 1) != 0)
      return DeviceFunction{there->second.kernel};
  }
  const DeviceModel* const model = cached_device_model(device);
  if (model == nullptr || device >= most_devices) return device_model(device).status();
  if (Status s = check_given(*artifact, model->cc); !s) return s;
  if (stream) {
    if (Status s = may_load(*stream, artifact->entry); !s) return s;
  }
  const std::lock_guard lock(all.mutex);
  Given& given = all.loaded[artifact.get()];
  given.artifact = artifact;
  const RelaxedCapture relaxed;
  const cudaError_t error = load(given, device, shared_memory);
  if (Status s = cuda_status(error, "load the artifact of `" + artifact->entry + "`"); !s) return s;
  return DeviceFunction{given.kernel};
} catch (const std::exception&) {
  return no_memory();
}

std::optional<std::uint32_t> find_entry(std::string_view name) {
  if (const auto registered = find_registered_entry(name)) return registered;
  return find_own_entry(name);
}

}  // namespace quarry::detail
