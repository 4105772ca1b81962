// Two devices: streams and memory of one of them beside tensors of the other.
#include <cuda_runtime_api.h>

#include <thread>

#include "registry/device/devices/cases.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

void must(const Status& status) {
  INFO(status.message());
  REQUIRE(status);
}

/// Nothing was launched, and the current device is as it was.
void check_untouched(int current) {
  CHECK(stand_in::take_launches().empty());
  CHECK(stand_in::current_device() == current);
}

}  // namespace

// The first test, so that its threads are those that load the kernels.
TEST_CASE("threads on both devices put their work where it belongs, and refuse the rest", "[two]") {
  const std::vector<Work> works = all_work();
  constexpr int threads = 8;
  constexpr int rounds = 50;
  std::vector<std::string> faults(threads);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      const int current = thread / 2 % 2;
      stand_in::set_current_device(current);
      for (int round = 0; round < rounds; ++round) {
        const int device = (thread + round) % 2;
        for (const Work& work : works) {
          const Status right = work.run(device, stand_in::stream_of(device));
          if (!right) faults[static_cast<std::size_t>(thread)] = right.message();
          if (work.run(device, stand_in::stream_of(1 - device)))
            faults[static_cast<std::size_t>(thread)] = work.name + ": not refused";
          if (stand_in::current_device() != current)
            faults[static_cast<std::size_t>(thread)] = work.name + ": another device is current";
        }
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  CHECK(faults == std::vector<std::string>(threads));
  std::size_t expected = 0;
  for (const Work& work : works) expected += threads * rounds * work.launches;
  CHECK(stand_in::take_launches().size() == expected);
}

TEST_CASE("work on a stream of another device is refused before anything is launched", "[two]") {
  for (const Work& work : all_work()) {
    for (const int device : {0, 1}) {
      for (const int current : {0, 1}) {
        CAPTURE(work.name, device, current);
        stand_in::set_current_device(current);
        const Status status = work.run(device, stand_in::stream_of(1 - device));
        CHECK(status.code() == StatusCode::device_error);
        const std::string words = "the stream belongs to CUDA device " + std::to_string(1 - device) +
                                  ", the tensors lie on device " + std::to_string(device);
        CHECK_THAT(status.message(), Catch::Contains(words));
        check_untouched(current);
      }
    }
  }
}

TEST_CASE("work on a stream that is none is refused", "[two]") {
  for (const Work& work : all_work()) {
    CAPTURE(work.name);
    stand_in::set_current_device(0);
    const Status status = work.run(1, stand_in::destroyed_stream());
    CHECK(status.code() == StatusCode::device_error);
    CHECK_THAT(status.message(), Catch::Contains("its stream cannot be used"));
    check_untouched(0);
  }
}

TEST_CASE("work runs on the device of its tensors, whichever is current", "[two]") {
  for (const Work& work : all_work()) {
    for (const int device : {0, 1}) {
      for (CUstream_st* const stream :
           {stand_in::stream_of(device), cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread}) {
        for (const int current : {0, 1}) {
          CAPTURE(work.name, device, current);
          stand_in::set_current_device(current);
          must(work.run(device, stream));
          CHECK(stand_in::take_launches() == std::vector<int>(work.launches, device));
          CHECK(stand_in::current_device() == current);
        }
      }
    }
  }
}

TEST_CASE("a plan refuses pointers of another device by name", "[two]") {
  const Result<Plan> plan = gemm_kernel().prepare(gemm_on(1));
  must(plan.status());
  const PlanOperands right = detail::operands_of(gemm_on(1));
  const PlanOperands wrong = detail::operands_of(gemm_on(0));
  const auto refused = [&](Operand name, PlanOperands operands) {
    operands[name] = wrong[name];
    const Status status = plan->run(operands, stand_in::stream_of(1), workspace_on(1));
    INFO(status.message());
    CHECK(status.code() == StatusCode::invalid_arguments);
    CHECK(status.operand() == name);
    CHECK_THAT(status.message(), Catch::Contains("lies elsewhere: expected memory of CUDA device 1, got "
                                                 "memory of device 0"));
    check_untouched(0);
  };
  stand_in::set_current_device(0);
  refused(Operand::a, right);
  refused(Operand::b, right);
  refused(Operand::c, right);
  refused(Operand::bias, right);
  refused(Operand::residual, right);
  refused(Operand::aux, right);
  refused(Operand::out, right);
  must(plan->run(right, stand_in::stream_of(1), workspace_on(1)));
  CHECK(stand_in::take_launches() == std::vector<int>(2, 1));
}

TEST_CASE("a plan of a reduction refuses pointers of another device by name", "[two]") {
  const Result<Plan> plan = reduction_kernel().prepare(reduction_on(1));
  must(plan.status());
  const PlanOperands right = detail::operands_of(reduction_on(1));
  PlanOperands operands = right;
  operands[Operand::partials] = stand_in::memory_of(0);
  CHECK(plan->run(operands, stand_in::stream_of(1)).operand() == Operand::partials);
  operands = right;
  operands[Operand::out] = stand_in::memory_of(0);
  CHECK(plan->run(operands, nullptr).operand() == Operand::out);
  check_untouched(stand_in::current_device());
  must(plan->run(right, nullptr));
  CHECK(stand_in::take_launches() == std::vector<int>{1});
}

TEST_CASE("a workspace of another device is refused", "[two]") {
  const Kernel kernel = gemm_kernel();
  const Result<Plan> plan = kernel.prepare(gemm_on(1));
  must(plan.status());
  for (const Status& status :
       {kernel.run(gemm_on(1), {.stream = stand_in::stream_of(1), .workspace = workspace_on(0)}),
        plan->run(detail::operands_of(gemm_on(1)), nullptr, workspace_on(0))}) {
    CHECK(status.code() == StatusCode::invalid_workspace);
    CHECK_THAT(status.message(),
               Catch::Contains("Operand `workspace` lies elsewhere: expected memory of CUDA "
                               "device 1, got memory of device 0"));
  }
  check_untouched(stand_in::current_device());
}

TEST_CASE("memory that belongs to no device goes with each of them", "[two]") {
  const Result<Plan> plan = gemm_kernel().prepare(gemm_on(1));
  must(plan.status());
  PlanOperands operands = detail::operands_of(gemm_on(1));
  operands[Operand::a] = stand_in::managed_memory();
  operands[Operand::b] = stand_in::pinned_memory();
  const Workspace managed = {stand_in::managed_memory(std::size_t{1} << 30), std::size_t{1} << 30};
  must(plan->run(operands, stand_in::stream_of(1), managed));
  CHECK(stand_in::take_launches() == std::vector<int>(2, 1));
}
