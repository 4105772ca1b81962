/// Operations of each kind on the devices of the stand-in.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operations/common/row.hpp"
#include "quarry/quarry.hpp"
#include "registry/compile/store.hpp"
#include "registry/device/devices/stand_in.hpp"
#include "registry/device/library.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"
#include "support/fake_artifact.hpp"

namespace quarry::test {

/// Lets an entry be loaded, whether or not this build precompiles it.
inline void have_code(std::string_view entry) {
  const std::optional<std::uint32_t> number = detail::find_entry(entry);
  REQUIRE(number);
  if (!detail::has_machine_code(*number, 90))
    REQUIRE(detail::keep_artifact(*number, fake_data(std::string(entry))));
}

/// The memory of a device, in pieces.
class Pieces {
 public:
  explicit Pieces(int device) : device_(device) {}
  void* next() { return stand_in::memory_of(device_, (++taken_) << 20); }

 private:
  int device_;
  std::size_t taken_ = 0;
};

/// f16 matrices of 64 x 64 on a device, with every operand that there is.
inline GemmArguments gemm_on(int device) {
  Pieces pieces(device);
  const auto matrix = [&] { return TensorView::row_major(pieces.next(), DType::f16, {64, 64}); };
  GemmArguments args{.a = matrix(), .b = matrix(), .c = matrix(), .out = matrix()};
  args.epilogue.beta = 1;
  args.epilogue.bias = TensorView::vector(pieces.next(), DType::f16, 64);
  args.epilogue.residual = matrix();
  args.epilogue.aux = matrix();
  return args;
}

/// A kernel for them, in a mode that needs a workspace, and that has more shared memory than all may have.
inline Kernel gemm_kernel() {
  static const Kernel kernel = [] {
    GemmArguments args = gemm_on(0);
    args.controls = {.mode = Mode::split_k_parallel, .split_k_slices = 2};
    const CandidateList found =
        get_kernels(args, *Filter::parse("family == gemm_sm80 and shared_memory > 49152"));
    INFO(found.status().message());
    REQUIRE_FALSE(found.empty());
    detail::PreparedLaunch prepared;
    const Kernel first = found.front();
    REQUIRE(detail::prepare_launch(detail::row_of(first), first.entry_controls(), args, prepared));
    REQUIRE(prepared.launch.workspace_bytes > 0);
    have_code(detail::entry_of(detail::row_of(first).entry).name);
    for (const std::uint32_t companion : detail::row_of(first).companions) {
      if (companion != detail::no_entry) have_code(detail::entry_of(companion).name);
    }
    return first;
  }();
  return kernel;
}

inline Workspace workspace_on(int device) {
  return {stand_in::memory_of(device, std::size_t{1} << 30), std::size_t{1} << 30};
}

inline ReduceSplitKArguments reduction_on(int device) {
  Pieces pieces(device);
  return {.partials = TensorView::row_major(pieces.next(), DType::f32, {3, 40, 24}),
          .out = TensorView::row_major(pieces.next(), DType::f16, {40, 24})};
}

inline Kernel reduction_kernel() {
  const Result<Kernel> kernel = find_kernel("reduce_split_k_f32_f16");
  REQUIRE(kernel);
  have_code(detail::entry_of(detail::row_of(*kernel).entry).name);
  return *kernel;
}

inline Status reorder_on(int device, CUstream_st* stream) {
  Pieces pieces(device);
  const TensorView from = TensorView::row_major(pieces.next(), DType::s8, {64, 64});
  return reorder(from, TensorView::row_interleaved32(pieces.next(), DType::s8, {64, 64}), {.stream = stream});
}

/// A way to put work of tensors of a device on a stream.
struct Work {
  std::string name;
  std::function<Status(int device, CUstream_st* stream)> run;
  std::size_t launches = 1;
};

/// All ways, which may be called by any thread. Plans are made for the device first.
inline std::vector<Work> all_work() {
  const Kernel gemm = gemm_kernel();
  const Kernel reduction = reduction_kernel();
  have_code("reorder_matrix_s8");
  return {{"run",
           [gemm](int device, CUstream_st* stream) {
             return gemm.run(gemm_on(device), {.stream = stream, .workspace = workspace_on(device)});
           },
           2},
          {"plan",
           [gemm](int device, CUstream_st* stream) {
             const Result<Plan> plan = gemm.prepare(gemm_on(device));
             return plan ? plan->run(detail::operands_of(gemm_on(device)), stream, workspace_on(device))
                         : plan.status();
           },
           2},
          {"reduction",
           [reduction](int device, CUstream_st* stream) {
             return reduction.run(reduction_on(device), {.stream = stream});
           }},
          {"plan of a reduction",
           [reduction](int device, CUstream_st* stream) {
             const Result<Plan> plan = reduction.prepare(reduction_on(device));
             return plan ? plan->run(detail::operands_of(reduction_on(device)), stream) : plan.status();
           }},
          {"reorder", reorder_on}};
}

}  // namespace quarry::test
