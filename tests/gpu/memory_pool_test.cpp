/// Workspaces from a pool, on the device.
#include "quarry/memory_pool.hpp"

#include <cstdint>

#include "gpu/capture.hpp"
#include "gpu/device_case.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// A problem whose kernels need a workspace.
GemmArguments split_shape(int m, int n, int k) {
  GemmArguments shape = f16_shape(m, n, k);
  shape.controls = {.mode = Mode::split_k_parallel, .split_k_slices = 4};
  return shape;
}

}  // namespace

TEST_CASE("a pool of the driver begins, grows, is bounded, and is trimmed") {
  const MemoryPool pool =
      must(MemoryPool::create({.initial_bytes = 8 * mebibyte, .max_bytes = 256 * mebibyte}));
  const MemoryPoolUse first = must(pool.use());
  CHECK(first.used == 0);
  CHECK(first.reserved >= 8 * mebibyte);
  const Stream stream;
  {
    const PooledWorkspace one = must(pool.workspace(100 * mebibyte, stream));
    CHECK(reinterpret_cast<std::uintptr_t>(one.data()) % 256 == 0);
    must(cudaMemsetAsync(one.data(), 1, one.bytes(), stream));
    CHECK(must(pool.use()).used >= 100 * mebibyte);
    CHECK(pool.workspace(std::size_t{1} << 32, stream).status().code() == StatusCode::device_error);
    check_no_error_left();
  }
  must(cudaStreamSynchronize(stream));
  const MemoryPoolUse after = must(pool.use());
  CHECK(after.used == 0);
  CHECK(after.peak_used >= 100 * mebibyte);
  CHECK(after.reserved >= 100 * mebibyte);
  must(pool.trim());
  CHECK(must(pool.use()).reserved < 100 * mebibyte);
  must(pool.reset_peaks());
  CHECK(must(pool.use()).peak_used == 0);
}

TEST_CASE("runs on many streams share a pool, and memory stays flat") {
  const MemoryPool pool = must(MemoryPool::create());
  DeviceCase c(split_shape(96, 120, 512));
  const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
  const Candidate kernel = precompiled_kernels(c.arguments()).front();
  REQUIRE(kernel.workspace() > 0);
  const Stream streams[2];
  for (int i = 0; i < 200; ++i) {
    const Stream& stream = streams[i % 2];
    if (i % 50 == 0) {
      must(cudaDeviceSynchronize());
      c.reset();
    }
    must(kernel.run(c.arguments(), {.stream = stream, .pool = &pool}));
    if (i % 50 == 0) {
      must(cudaStreamSynchronize(stream));
      c.check_result(kernel, reference);
    }
  }
  must(cudaDeviceSynchronize());
  c.check_result(kernel, reference);
  const MemoryPoolUse use = must(pool.use());
  CHECK(use.used == 0);
  CHECK(use.peak_used >= kernel.workspace());
  must(pool.trim());
  CHECK(must(pool.use()).reserved == 0);

  const Plan plan = must(kernel.prepare(c.arguments()));
  c.reset();
  must(plan.run(c.operands(), streams[0], must(pool.workspace(plan.workspace_size(), streams[0]))));
  must(cudaStreamSynchronize(streams[0]));
  c.check_result(kernel, reference);
  check_no_error_left();
}

TEST_CASE("a graph keeps a workspace of a pool as its own") {
  const MemoryPool pool = must(MemoryPool::create());
  DeviceCase c(split_shape(64, 72, 512));
  const lab::Reference reference = must(lab::compute_reference(c.problem.arguments));
  const Candidate kernel = precompiled_kernels(c.arguments()).front();
  const Stream stream;
  must(kernel.run(c.arguments(), {.stream = stream, .pool = &pool}));  // loads the kernel
  must(cudaStreamSynchronize(stream));
  Capture capture(stream);
  must(kernel.run(c.arguments(), {.stream = stream, .pool = &pool}));
  must(capture.end());
  CHECK(capture.nodes() >= 4);  // the allocation, the product, its reduction, the free
  for (int i = 0; i < 3; ++i) {
    c.reset();
    capture.replay(stream);
    c.check_result(kernel, reference);
  }
  check_no_error_left();
}
