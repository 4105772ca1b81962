/// Runs with copies of host tensors, on the device.
#include "quarry/on_device.hpp"

#include <vector>

#include "gpu/device_case.hpp"
#include "lab/problems/fresh_seed.hpp"

using namespace quarry;
using namespace quarry::test;

TEST_CASE("a run with copies gives the bits of a run on the device") {
  Random random(lab::fresh_seed());
  for (const std::size_t staging : {std::size_t{512}, std::size_t{1} << 20}) {
    OnDevice on = must(OnDevice::create({.staging_bytes = staging}));
    for (int trial = 0; trial < 20; ++trial) {
      DeviceCase c(f16_shape(between(random, 1, 200), between(random, 1, 200), between(random, 1, 300)));
      const Candidate kernel = precompiled_kernels(c.arguments()).front();
      c.reset();
      const auto workspace = must(WorkspaceBuffer::on_device(kernel.workspace()));
      must(kernel.run(c.arguments(), {.workspace = workspace}));
      must(c.device.download_outputs(c.problem));
      const std::vector<std::byte> expected = c.output_bytes();
      c.problem.reset_outputs();
      must(on.run(kernel, c.problem.arguments));
      must(on.sync());
      must(c.problem.check_outputs());
      CHECK(c.output_bytes() == expected);
    }
  }
  check_no_error_left();
}

TEST_CASE("a pool of copies is flat, and is given back") {
  const MemoryPool pool = must(MemoryPool::create());
  DeviceCase c(f16_shape(256, 256, 256));
  const Candidate kernel = precompiled_kernels(c.arguments()).front();
  {
    OnDevice on = must(OnDevice::create({.pool = &pool}));
    for (int i = 0; i < 100; ++i) {
      must(on.run(kernel, c.problem.arguments));
      if (i % 10 == 9) must(on.sync());
    }
    must(cudaDeviceSynchronize());
    CHECK(must(pool.use()).used == 0);
    CHECK(must(pool.use()).peak_used <= 40 * std::size_t{256} * 256 * 2);
    must(on.run(kernel, c.problem.arguments));
  }
  must(cudaDeviceSynchronize());
  CHECK(must(pool.use()).used == 0);
  must(pool.trim());
  CHECK(must(pool.use()).reserved == 0);
  check_no_error_left();
}
