/// What a run costs the host: nanoseconds of a bare launch of a kernel, of Plan::run and of Kernel::run with
/// the same kernel, in turns, as medians over rounds. Without a device, only what comes before the launch is
/// timed.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "lab/device/device_operands.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/launch.hpp"
#include "registry/device/prepared.hpp"
#include "registry/device/runtime.hpp"
#include "registry/device/tensor_map.hpp"
#include "registry/operation.hpp"

namespace {

using namespace quarry;

/// A round makes so many calls of each kind, fewer than the launches a stream queues before it blocks.
constexpr int calls_a_round = 200;
constexpr int rounds = 201;

struct Case {
  const char* name;
  std::function<Status()> call;
  std::vector<double> nanoseconds = {};  // a call, by round
};

/// Ends the program when something does not work.
void must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "launch_bench: %s\n", status.message().c_str());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  must(result.status());
  return *std::move(result);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Times all cases in turns and prints each beside the first.
void measure(std::vector<Case> cases, const std::function<void()>& drain) {
  using Clock = std::chrono::steady_clock;
  for (int round = 0; round < rounds; ++round) {
    for (Case& c : cases) {
      drain();
      must(c.call());
      const auto start = Clock::now();
      for (int i = 0; i < calls_a_round; ++i) (void)c.call();
      const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
      c.nanoseconds.push_back(elapsed.count() / calls_a_round);
    }
  }
  drain();
  std::printf("%-44s %10s %10s\n", "call", "ns", "over first");
  for (const Case& c : cases) {
    std::vector<double> over;
    for (std::size_t i = 0; i < c.nanoseconds.size(); ++i)
      over.push_back(c.nanoseconds[i] - cases[0].nanoseconds[i]);
    std::printf("%-44s %10.1f %10.1f\n", c.name, median(c.nanoseconds), median(over));
  }
}

GemmArguments shape() {
  return {.a = TensorView::row_major(nullptr, DType::f16, {64, 64}),
          .b = TensorView::row_major(nullptr, DType::f16, {64, 64}),
          .out = TensorView::row_major(nullptr, DType::f16, {64, 64})};
}

void measure_checks(const lab::OperandsOf<GemmArguments>& problem, const Kernel& kernel) {
  const GemmArguments& args = problem.arguments;
  detail::PreparedLaunch made;
  must(detail::prepare_launch(detail::row_of(kernel), kernel.entry_controls(), args, made));
  const PlanOperands operands = detail::operands_of(args);
  measure({{"supports", [&] { return kernel.supports(args); }},
           {"workspace_size", [&] { return kernel.workspace_size(args).status(); }},
           {"all of Kernel::run before the launch",
            [&] {
              detail::PreparedLaunch prepared;
              return detail::prepare_launch(detail::row_of(kernel), kernel.entry_controls(), args, prepared);
            }},
           {"the same, assume_supported",
            [&] {
              detail::PreparedLaunch prepared;
              return detail::prepare_launch(detail::row_of(kernel), kernel.entry_controls(), args, prepared,
                                            true);
            }},
           {"all of Plan::run before the launch",
            [&] {
              const PlanOperands pointers = operands;
              if (Status s = detail::check_pointers(made.launch, pointers); !s) return s;
              if (Status s = detail::check_alignments(made.launch, pointers); !s) return s;
              alignas(TensorMap) static thread_local std::byte image[Launch::most_image];
              std::memcpy(image, made.launch.image, made.launch.image_bytes);
              put_pointers(made.launch, pointers, image);
              return Status();
            }}},
          [] {});
}

void measure_launches(const lab::OperandsOf<GemmArguments>& problem) {
  const lab::DeviceOperandsOf<GemmArguments> device =
      must(lab::DeviceOperandsOf<GemmArguments>::make(problem, 0));
  const GemmArguments& known = device.arguments;
  GemmArguments automatic = known;
  for (TensorView* view : {&automatic.a, &automatic.b, &automatic.out}) view->memory = {};
  const CandidateList found =
      get_kernels(known, {}, {.max_workspace = 0, .availability = Availability::precompiled});
  must(found.status());
  const Kernel kernel = found.front();
  std::printf("kernel %s\n", kernel.name().data());

  detail::PreparedLaunch prepared;
  must(detail::prepare_launch(detail::row_of(kernel), kernel.entry_controls(), known, prepared));
  must(detail::encode_tensor_maps(prepared.launch, prepared.pointers, prepared.launch.image));
  const auto functions =
      must(detail::load_functions(detail::row_of(kernel), prepared.launch, 0, nullptr, {}));
  const Plan plan = must(kernel.prepare(known));
  const PlanOperands operands = detail::operands_of(known);
  cudaStream_t stream = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;

  cudaLaunchConfig_t config = {};
  const Step& step = *kernel_step(prepared.launch);
  config.gridDim = dim3(step.grid);
  config.blockDim = dim3(step.threads);
  config.dynamicSmemBytes = step.shared_memory;
  config.stream = stream;
  void* arguments[] = {prepared.launch.image + step.at};
  measure({{"bare cudaLaunchKernelExC",
            [&] {
              (void)cudaLaunchKernelExC(&config, functions.of[0], arguments);
              return Status();
            }},
           {"Plan::run", [&] { return plan.run(operands, stream); }},
           {"Kernel::run, memory given", [&] { return kernel.run(known, {.stream = stream}); }},
           {"Kernel::run, memory given, assume_supported",
            [&] { return kernel.run(known, {.stream = stream, .assume_supported = true}); }},
           {"Kernel::run, memory automatic", [&] { return kernel.run(automatic, {.stream = stream}); }}},
          [stream] { (void)cudaStreamSynchronize(stream); });
  (void)cudaStreamDestroy(stream);
}

}  // namespace

int main() {
  const lab::OperandsOf<GemmArguments> problem = must(lab::OperandsOf<GemmArguments>::make(shape()));
  const CandidateList found = get_kernels(problem.arguments);
  must(found.status());
  measure_checks(problem, found.front());
  if (!detail::runtime_status()) {
    std::printf("no device: launches are not timed (%s)\n", detail::runtime_status().message().c_str());
    return 0;
  }
  measure_launches(problem);
  return 0;
}
