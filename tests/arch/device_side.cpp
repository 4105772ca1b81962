#include "tests/arch/device_side.hpp"

#include <cstddef>
#include <utility>

#include "tests/arch/probe_params.hpp"

/// Where embed.S put the probes' code.
extern "C" const std::byte quarry_arch_probes[];  // NOLINT: a name for the assembler

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

cudaError_t launch(cudaKernel_t kernel, const Probe& probe, probes::ProbeParams params) {
  cudaLaunchConfig_t config = {};
  config.gridDim = {probe.grid, 1, 1};
  config.blockDim = {static_cast<unsigned>(probes::usual.threads), 1, 1};
  config.dynamicSmemBytes = probe.shared_memory;
  void* arguments[] = {&params};
  const cudaError_t error = cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments);
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

}  // namespace

DeviceSide::DeviceSide() {
  fault_ =
      text_of(cudaLibraryLoadData(&library_, quarry_arch_probes, nullptr, nullptr, 0, nullptr, nullptr, 0));
}

DeviceSide::~DeviceSide() {
  if (library_ != nullptr) (void)cudaLibraryUnload(library_);
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
  cudaError_t error = cudaLibraryGetKernel(&kernel, library_, probe.entry().c_str());
  if (error != cudaSuccess) return {"no entry " + probe.entry() + ": " + text_of(error), {}};
  const DeviceWords in(inputs);
  const DeviceWords out(Words(probe.out_words, fill));
  const DeviceWords counters(Words(probe.counters, 0));
  for (const DeviceWords* memory : {&in, &out, &counters}) {
    if (memory->error() != cudaSuccess) return {text_of(memory->error()), {}};
  }
  error = launch(
      kernel, probe,
      {in.as<const unsigned>(), out.as<unsigned>(), counters.as<int>(), static_cast<int>(probe.items)});
  if (error != cudaSuccess) return {text_of(error), {}};
  SideResult result;
  error = out.append_to(result.words);
  if (error == cudaSuccess) error = counters.append_to(result.words);
  result.fault = text_of(error);
  return result;
}

}  // namespace quarry::test
