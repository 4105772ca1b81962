#include "tests/kernels/arch/device_side.hpp"

#include <cstddef>
#include <utility>

#include "registry/device/tensor_map.hpp"
#include "tests/kernels/arch/probe_params.hpp"

/// Where embed.S put the probes' code.
extern "C" const std::byte quarry_arch_probes[];       // NOLINT: a name for the assembler
extern "C" const std::byte quarry_arch_probes_sm90[];  // NOLINT: a name for the assembler

namespace quarry::test {
namespace {

std::string text_of(cudaError_t error) {
  return error == cudaSuccess ? "" : std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

/// Device memory that holds words.
class DeviceWords {
 public:
  explicit DeviceWords(const Words& words) : bytes_(words.size() * sizeof words[0]) {
    error_ = cudaMalloc(&data_, bytes_ == 0 ? 1 : bytes_);
    if (error_ == cudaSuccess) error_ = cudaMemcpy(data_, words.data(), bytes_, cudaMemcpyHostToDevice);
  }
  ~DeviceWords() { (void)cudaFree(data_); }
  DeviceWords(const DeviceWords&) = delete;
  DeviceWords& operator=(const DeviceWords&) = delete;

  cudaError_t error() const { return error_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  /// Appends what the memory holds now.
  cudaError_t append_to(Words& words) const {
    const std::size_t before = words.size();
    words.resize(before + bytes_ / sizeof words[0]);
    return cudaMemcpy(words.data() + before, data_, bytes_, cudaMemcpyDeviceToHost);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
  cudaError_t error_;
};

/// Makes the probe's tensor map. @return what is wrong, "" where nothing is
std::string make_map(const Probe& probe, probes::ProbeParams& params) {
  if (!probe.tensor.exists()) return "";
  const Status status = detail::encode_tensor_map(
      probe.tensor.fields(probe.tensor.is_out ? params.out : params.in), params.map);
  return status ? "" : status.message();
}

cudaError_t launch(cudaKernel_t kernel, const Probe& probe, probes::ProbeParams params) {
  cudaLaunchConfig_t config = {};
  config.gridDim = {probe.grid, 1, 1};
  config.blockDim = {static_cast<unsigned>(probes::usual.threads), 1, 1};
  config.dynamicSmemBytes = probe.shared_memory;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {probe.cluster, 1, 1};
  config.attrs = &cluster;
  config.numAttrs = probe.cluster > 1 ? 1 : 0;
  void* arguments[] = {&params};
  const cudaError_t error = cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments);
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

}  // namespace

DeviceSide::DeviceSide() {
  int device = 0;
  cudaDeviceProp properties = {};
  (void)cudaGetDevice(&device);
  (void)cudaGetDeviceProperties(&properties, device);
  runs_sm90_ = properties.major == 9 && properties.minor == 0;
  cudaError_t error =
      cudaLibraryLoadData(&library_, quarry_arch_probes, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error == cudaSuccess && runs_sm90_) {
    error = cudaLibraryLoadData(&library_sm90_, quarry_arch_probes_sm90, nullptr, nullptr, 0, nullptr,
                                nullptr, 0);
  }
  fault_ = text_of(error);
}

DeviceSide::~DeviceSide() {
  for (const cudaLibrary_t library : {library_, library_sm90_}) {
    if (library != nullptr) (void)cudaLibraryUnload(library);
  }
}

std::string DeviceSide::description() const {
  int device = 0;
  int driver = 0;
  cudaDeviceProp properties = {};
  (void)cudaGetDevice(&device);
  (void)cudaGetDeviceProperties(&properties, device);
  (void)cudaDriverGetVersion(&driver);
  return std::string(properties.name) + " (compute capability " + std::to_string(properties.major) + "." +
         std::to_string(properties.minor) + "), driver for CUDA " + std::to_string(driver / 1000) + "." +
         std::to_string(driver % 1000 / 10);
}

SideResult DeviceSide::run(const Probe& probe, const Words& inputs, std::uint32_t fill) const {
  cudaKernel_t kernel = nullptr;
  cudaError_t error =
      cudaLibraryGetKernel(&kernel, probe.sm90 ? library_sm90_ : library_, probe.entry().c_str());
  if (error != cudaSuccess) return {"no entry " + probe.entry() + ": " + text_of(error), {}};
  const DeviceWords in(inputs);
  const DeviceWords out(Words(probe.out_words, fill));
  const DeviceWords counters(Words(probe.counters, 0));
  for (const DeviceWords* memory : {&in, &out, &counters}) {
    if (memory->error() != cudaSuccess) return {text_of(memory->error()), {}};
  }
  probes::ProbeParams params = {.in = in.as<const unsigned>(),
                                .out = out.as<unsigned>(),
                                .counters = counters.as<int>(),
                                .count = static_cast<int>(probe.items),
                                .tensor_words = static_cast<int>(probe.tensor.words()),
                                .box_words = static_cast<int>(probe.tensor.box_words()),
                                .map = {}};
  if (std::string fault = make_map(probe, params); !fault.empty()) return {std::move(fault), {}};
  error = launch(kernel, probe, params);
  if (error != cudaSuccess) return {text_of(error), {}};
  SideResult result;
  error = out.append_to(result.words);
  if (error == cudaSuccess) error = counters.append_to(result.words);
  result.fault = text_of(error);
  return result;
}

}  // namespace quarry::test
