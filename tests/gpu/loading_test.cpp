/// First use of kernels: loading, and what may happen meanwhile: capture, other threads.
#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "gpu/capture.hpp"
#include "gpu/device_case.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

/// A kernel that this process has not loaded yet: one that a capturing stream is refused for. Absent, with a
/// warning, if none is left: a build that precompiles some families only has few.
std::optional<Kernel> unloaded_kernel(const DeviceCase& c) {
  const Stream stream;
  for (const Candidate& kernel : precompiled_kernels(c.arguments())) {
    const DeviceWorkspace workspace(kernel, c.arguments());
    Capture capture(stream);
    const bool refused = kernel.run(c.arguments(), {.stream = stream, .workspace = workspace}).code() ==
                         StatusCode::not_loaded;
    must(capture.end());
    if (refused) return kernel;
  }
  WARN("Skipped: every kernel is loaded already");
  return std::nullopt;
}

GemmArguments f32_shape(int m, int n, int k) {
  return {.a = TensorView::row_major(nullptr, DType::f32, {m, k}),
          .b = TensorView::row_major(nullptr, DType::f32, {k, n}),
          .out = TensorView::row_major(nullptr, DType::f32, {m, n})};
}

}  // namespace

TEST_CASE("a kernel that is not loaded is refused while its stream is capturing, and the capture goes on") {
  DeviceCase c(f16_shape(64, 64, 64));
  const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
  const std::optional<Kernel> unloaded = unloaded_kernel(c);
  if (!unloaded) return;
  const Kernel& kernel = *unloaded;
  const DeviceWorkspace workspace(kernel, c.arguments());
  const Stream stream;
  {
    Capture capture(stream);
    const Status status = kernel.run(c.arguments(), {.stream = stream, .workspace = workspace});
    CHECK(status.code() == StatusCode::not_loaded);
    CHECK(status.message().find(kernel.metadata().name) != std::string::npos);
    CHECK(status.message().find("capturing") != std::string::npos);
    must(capture.end());
    CHECK(capture.nodes() == 0);
  }
  must(kernel.run(c.arguments(), {.stream = stream, .workspace = workspace}));
  c.check_result(kernel, reference);
  check_no_error_left();
}

TEST_CASE("prepare loads a kernel even during a capture, which its plan can then join") {
  DeviceCase c(f16_shape(96, 64, 64));
  const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
  const std::optional<Kernel> unloaded = unloaded_kernel(c);
  if (!unloaded) return;
  const Kernel& kernel = *unloaded;
  const DeviceWorkspace workspace(kernel, c.arguments());
  const Stream stream;
  Capture capture(stream);
  const Plan plan = must(kernel.prepare(c.arguments()));
  must(plan.run(c.operands(), stream, workspace));
  must(capture.end());
  CHECK(capture.nodes() >= 1);
  capture.replay(stream);
  c.check_result(kernel, reference);
}

TEST_CASE("loaded kernels are captured, in every mode: they neither allocate nor wait") {
  for (const Mode mode : {Mode::gemm, Mode::split_k_serial, Mode::split_k_parallel}) {
    GemmArguments shape = f16_shape(72, 136, 520);
    shape.controls = {.mode = mode, .split_k_slices = mode == Mode::gemm ? 1 : 3};
    DeviceCase c(shape);
    const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
    const Candidate kernel = precompiled_kernels(c.arguments()).front();
    const DeviceWorkspace workspace(kernel, c.arguments());
    const Plan plan = must(kernel.prepare(c.arguments()));
    const Stream stream;
    for (const bool by_plan : {false, true}) {
      c.reset();
      Capture capture(stream);
      must(by_plan ? plan.run(c.operands(), stream, workspace)
                   : kernel.run(c.arguments(), {.stream = stream, .workspace = workspace}));
      must(capture.end());
      CHECK(capture.nodes() == (mode == Mode::gemm ? 1 : 2));  // and clearing the counters, or the reduction
      must(c.device.download_outputs(c.problem));
      CHECK_FALSE(c.problem.check_outputs());  // nothing ran yet
      for (int replay = 0; replay < 2; ++replay) {
        c.reset();
        capture.replay(stream);
        c.check_result(kernel, reference);
      }
    }
  }
}

TEST_CASE("a thread that has called nothing of CUDA yet runs and prepares kernels that are loaded") {
  GemmArguments shape = f16_shape(128, 128, 128);
  DeviceCase c(shape);
  const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
  int ran = 0;
  for (const Candidate& kernel : precompiled_kernels(c.arguments())) {
    if (kernel.metadata().design.copy_engine != CopyEngine::tma || ++ran > 4) continue;
    const DeviceWorkspace workspace(kernel, c.arguments());
    must(kernel.run(c.arguments(), {.workspace = workspace}));
    const Plan plan = must(kernel.prepare(c.arguments()));
    for (const bool by_plan : {false, true}) {
      c.reset();
      Status status;
      std::thread([&] {
        status = by_plan ? plan.run(c.operands(), nullptr, workspace)
                         : kernel.run(c.arguments(), {.workspace = workspace});
      }).join();
      must(status);
      c.check_result(kernel, reference);
    }
  }
  if (ran == 0) WARN("no kernel with tensor maps is precompiled: not tried");
}

TEST_CASE("many threads use a kernel for the first time at once") {
  for (int round = 0; round < 3; ++round) {
    GemmArguments shape = f16_shape(64, 64, 64 + 8 * round);
    DeviceCase first(shape);
    const lab::Reference reference = must(lab::compute_reference(first.problem.arguments));
    const std::optional<Kernel> unloaded = unloaded_kernel(first);
    if (!unloaded) return;
    const Kernel& kernel = *unloaded;
    const DeviceWorkspace workspace(kernel, first.arguments());

    constexpr int count = 8;
    std::vector<DeviceCase> cases;
    std::vector<DeviceWorkspace> workspaces;
    for (int i = 0; i < count; ++i) {
      cases.emplace_back(shape);
      workspaces.emplace_back(kernel, first.arguments());
    }
    std::atomic<int> waiting = count;
    std::vector<Status> statuses(count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        --waiting;
        while (waiting > 0) {
        }
        statuses[i] = kernel.run(cases[i].arguments(), {.workspace = workspaces[i]});
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < count; ++i) {
      must(statuses[i]);
      cases[i].check_result(kernel, reference);
    }
  }
}

TEST_CASE("a kernel that is not precompiled and must not be compiled says so, and for which device") {
  const int cc = device_model(0)->cc;
  const std::string words = std::to_string(cc / 10) + "." + std::to_string(cc % 10);
  DeviceCase c(f32_shape(64, 64, 64));
  DeviceCase half(f16_shape(64, 64, 64));
  int found = 0;
  for (const GemmArguments& args : {c.arguments(), half.arguments()}) {
    for (const Candidate& kernel : get_kernels(args)) {
      if (kernel.precompiled(cc) || found == 5) continue;
      ++found;
      const DeviceWorkspace workspace(kernel, args);
      for (const Status& status : {kernel.run(args, {.workspace = workspace, .compile = false}),
                                   kernel.prepare(args, {.compile = false}).status()}) {
        CHECK(status.code() == StatusCode::not_precompiled);
        CHECK(status.message().find(words) != std::string::npos);
      }
    }
  }
  if (found == 0) WARN("every kernel is precompiled: not tried");
  check_no_error_left();
}

TEST_CASE("a kernel that is not precompiled is compiled when it is first needed") {
  const int cc = device_model(0)->cc;
  DeviceCase c(f16_shape(200, 136, 300));
  const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
  int found = 0;
  for (const Candidate& kernel : get_kernels(c.arguments())) {
    if (kernel.precompiled(cc) || found == 3) continue;
    ++found;
    INFO(kernel.name());
    const DeviceWorkspace workspace(kernel, c.arguments());
    Stream stream;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(kernel.run(c.arguments(), {.stream = stream, .workspace = workspace}).code() ==
          StatusCode::not_loaded);
    cudaGraph_t graph = nullptr;
    must(cudaStreamEndCapture(stream, &graph));
    must(cudaGraphDestroy(graph));
    c.reset();
    must(kernel.run(c.arguments(), {.workspace = workspace}));
    c.check_result(kernel, reference);
    must(kernel.prepare(c.arguments()).status());
    CHECK(must(kernel.compile()).origin() != ArtifactOrigin::precompiled);
  }
  if (found == 0) WARN("every kernel is precompiled: not tried");
  check_no_error_left();
}

TEST_CASE("runs on different streams do not disturb each other") {
  constexpr int count = 4;
  std::vector<DeviceCase> cases;
  std::vector<lab::Reference> references;
  GemmArguments shape = f16_shape(200, 136, 1000);
  shape.controls = {.mode = Mode::split_k_serial, .split_k_slices = 4};
  for (std::uint64_t i = 0; i < count; ++i) {
    cases.emplace_back(shape, lab::OperandOptions{.seed = i});
    references.push_back(must(lab::compute_reference(cases.back().problem.arguments)));
  }
  const Candidate kernel = precompiled_kernels(cases[0].arguments()).front();
  const Plan plan = must(kernel.prepare(cases[0].arguments()));
  std::vector<DeviceWorkspace> workspaces;
  for (const DeviceCase& c : cases) workspaces.emplace_back(kernel, c.arguments());
  const Stream streams[count];
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < count; ++i) must(plan.run(cases[i].operands(), streams[i], workspaces[i]));
  }
  for (std::size_t i = 0; i < count; ++i) cases[i].check_result(kernel, references[i]);
}
