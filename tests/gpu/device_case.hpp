/// Problems on device 0 and kernels to run them with, for the tests that need a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <utility>
#include <vector>

#include "lab/device/device_buffer.hpp"
#include "lab/device/device_operands.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"

namespace quarry::test {

/// The value of a result that must be there.
template <class T>
T must(Result<T> result) {
  INFO(result.status().message());
  REQUIRE(result);
  return *std::move(result);
}

inline void must(const Status& status) {
  INFO(status.message());
  REQUIRE(status);
}

/// A CUDA call that must succeed.
inline void must(cudaError_t error) {
  INFO(cudaGetErrorString(error));
  REQUIRE(error == cudaSuccess);
}

/// A separate stream, which does not wait for the legacy stream.
class Stream {
 public:
  Stream() { must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A random problem on both sides.
struct DeviceCase {
  using Problem = lab::OperandsOf<GemmArguments>;
  using OnDevice = lab::DeviceOperandsOf<GemmArguments>;

  Problem problem;
  OnDevice device;

  explicit DeviceCase(const GemmArguments& shape, const lab::OperandOptions& options = {}, int ordinal = 0)
      : problem(must(Problem::make(shape, options))), device(must(OnDevice::make(problem, ordinal))) {}

  const GemmArguments& arguments() const { return device.arguments; }

  PlanOperands operands() const { return detail::operands_of(device.arguments); }

  /// Readies the output on the device for a run.
  void reset() {
    problem.reset_outputs();
    must(device.upload_outputs(problem));
  }

  /// Fetches the output, checks its guards and compares it with the reference.
  void check_result(const Kernel& kernel, const lab::Reference& reference) {
    must(device.download_outputs(problem));
    must(problem.check_outputs());
    const std::int64_t k = problem.arguments.a.extents[problem.arguments.a.rank - 1U];
    const lab::Comparison result =
        lab::compare(reference, problem.arguments, lab::tolerance(kernel.metadata(), k));
    INFO(kernel.name() << ": error " << result.error << ", bound " << result.bound << " at (" << result.matrix
                       << ", " << result.row << ", " << result.column << "): " << result.expected
                       << " expected, " << result.got << " got");
    CHECK(result.within());
  }

  /// The output as it was fetched last, guards included.
  std::vector<std::byte> output_bytes() const {
    return {problem[Operand::out].storage(),
            problem[Operand::out].storage() + problem[Operand::out].storage_bytes()};
  }
};

/// Device memory for the workspace of a run.
struct DeviceWorkspace {
  lab::DeviceBuffer buffer;

  DeviceWorkspace(const Kernel& kernel, const GemmArguments& args, int ordinal = 0)
      : buffer(must(lab::DeviceBuffer::allocate(must(kernel.workspace_size(args)), ordinal))) {}
  operator Workspace() const { return {buffer.data(), buffer.bytes()}; }
};

/// The precompiled kernels for a problem, best first, or where none is, two that must be compiled; at least
/// one.
inline CandidateList precompiled_kernels(const GemmArguments& args) {
  CandidateList found = get_kernels(args, {}, {.availability = Availability::precompiled});
  if (found.empty()) found = get_kernels(args);
  INFO(found.status().message());
  REQUIRE_FALSE(found.empty());
  return found;
}

/// Whether every problem has a precompiled kernel: gemm_simt takes any, and is precompiled whole. Otherwise a
/// test over random problems may find too few.
inline bool all_problems_have_precompiled_kernels() {
  const int cc = default_device_model().cc;
  const std::vector<Kernel> kernels = get_kernels(must(Filter::parse("family == gemm_simt")));
  return std::ranges::all_of(kernels, [cc](const Kernel& kernel) { return kernel.precompiled(cc); });
}

/// Requires that at least so many runs were made, where every problem has a precompiled kernel. Fewer are
/// warned of elsewhere.
inline void check_enough(int ran, int least) {
  if (ran >= least) return;
  CAPTURE(ran, least);
  CHECK_FALSE(all_problems_have_precompiled_kernels());
  WARN("Skipped: kernels for few of the problems are precompiled");
}

/// A plain f16 problem, row-major.
inline GemmArguments f16_shape(int m, int n, int k) {
  return {.a = TensorView::row_major(nullptr, DType::f16, {m, k}),
          .b = TensorView::row_major(nullptr, DType::f16, {k, n}),
          .out = TensorView::row_major(nullptr, DType::f16, {m, n})};
}

/// That nothing before left an error in the runtime's memory.
inline void check_no_error_left() { CHECK(cudaPeekAtLastError() == cudaSuccess); }

}  // namespace quarry::test
