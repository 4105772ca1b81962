// Runs with copies of host tensors on devices.
#include "quarry/on_device.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "registry/device/devices/cases.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

constexpr std::size_t matrix_bytes = std::size_t{64} * 64 * 2;

/// f16 matrices of 64 x 64 in host memory.
struct HostProduct {
  std::vector<std::uint16_t> a = std::vector<std::uint16_t>(64 * 64), b = a, out = a;

  GemmArguments arguments() {
    const auto matrix = [](std::vector<std::uint16_t>& values) {
      return TensorView::row_major(values.data(), DType::f16, {64, 64});
    };
    return {.a = matrix(a), .b = matrix(b), .out = matrix(out)};
  }
};

OnDevice made(const OnDeviceOptions& options) {
  Result<OnDevice> device = OnDevice::create(options);
  INFO(device.status().message());
  REQUIRE(device);
  return *std::move(device);
}

void check_done(const Status& status) {
  INFO(status.message());
  CHECK(status);
}

/// Memory of a pool, counted.
class Counting final : public DeviceAllocator {
 public:
  explicit Counting(const MemoryPool& pool) : pool_(pool) {}
  Result<std::shared_ptr<void>> allocate(std::size_t bytes, CUstream_st* stream) override {
    ++calls;
    Result<PooledWorkspace> memory = pool_.workspace(bytes, stream);
    if (!memory) return memory.status();
    const auto owner = std::make_shared<PooledWorkspace>(*std::move(memory));
    return std::shared_ptr<void>(owner, owner->data());
  }
  int calls = 0;

 private:
  const MemoryPool& pool_;
};

}  // namespace

TEST_CASE("copies and kernels go on one stream of the device, and all is freed", "[two]") {
  const Kernel kernel = gemm_kernel();
  for (const int device : {0, 1}) {
    stand_in::set_current_device(1 - device);
    (void)stand_in::take_launches();
    (void)stand_in::take_pool_streams();
    (void)stand_in::take_copies();
    {
      OnDevice on = made({.device = device});
      HostProduct p;
      CUstream_st* const stream = on.stream();
      CHECK(stream == stand_in::stream_of(device));
      check_done(on.run(kernel, p.arguments()));
      CHECK(stand_in::take_launches() == std::vector<int>{device, device});
      check_done(on.sync());
      check_done(on.sync());
      const stand_in::Copies copies = stand_in::take_copies();
      CHECK(copies.to_device == 2 * matrix_bytes);
      CHECK(copies.to_host == matrix_bytes);
      CHECK(std::ranges::count(copies.streams, stream) == 3);
      const auto pools = stand_in::take_pool_streams();
      CHECK(pools.size() == 8);  // A, B, the output and the workspace, and back
      CHECK(std::ranges::count(pools, stream) == 8);
    }
    CHECK(stand_in::live_copy_helpers() == 0);
    CHECK(stand_in::live_pools() == 0);
    CHECK(stand_in::current_device() == 1 - device);
  }
}

TEST_CASE("a run with copies takes memory and stream of its program", "[two]") {
  const Kernel kernel = gemm_kernel();
  Result<MemoryPool> pool = MemoryPool::create({.device = 1});
  REQUIRE(pool);
  HostProduct p;
  {
    OnDevice on = made({.device = 1, .stream = stand_in::stream_of(1), .pool = &*pool});
    CHECK(stand_in::live_pools() == 1);
    check_done(on.run(kernel, p.arguments()));
    CHECK(pool->use()->used == matrix_bytes);  // of the output
    check_done(on.sync());
    CHECK(pool->use()->used == 0);
    CHECK(pool->use()->peak_used > 3 * matrix_bytes);
  }
  const auto counting = std::make_shared<Counting>(*pool);
  {
    OnDevice on = made({.device = 1, .allocator = counting});
    check_done(on.run(kernel, p.arguments()));
    CHECK(counting->calls == 4);
  }
  CHECK(pool->use()->used == 0);
  CHECK(stand_in::live_copy_helpers() == 0);
}

TEST_CASE("what belongs to another device is refused, and leaves nothing behind", "[two]") {
  Result<MemoryPool> pool = MemoryPool::create({.device = 1});
  REQUIRE(pool);
  CHECK(OnDevice::create({.device = 0, .pool = &*pool}).status().code() == StatusCode::invalid_arguments);
  for (CUstream_st* const stream : {stand_in::stream_of(1), stand_in::destroyed_stream()})
    CHECK(OnDevice::create({.device = 0, .stream = stream}).status().code() == StatusCode::device_error);
  CHECK(stand_in::live_copy_helpers() == 0);

  (void)stand_in::take_copies();
  OnDevice on = made({.device = 0});
  HostProduct p;
  GemmArguments args = gemm_on(1);
  Status status = on.run(gemm_kernel(), args);
  CHECK(status.code() == StatusCode::invalid_arguments);
  CHECK(status.message().starts_with("Operand `out` lies in memory of CUDA device 1"));
  args = p.arguments();
  args.b.data = stand_in::managed_memory();
  status = on.run(gemm_kernel(), args);
  CHECK(status.message().starts_with("Operand `b` lies in managed memory"));
  CHECK(on.pending() == 0);
  CHECK(stand_in::take_copies().to_device == 0);
}

TEST_CASE("memory that is not there fails a run, and the next one works", "[two]") {
  Result<MemoryPool> pool = MemoryPool::create({.device = 0, .max_bytes = 1});  // a piece of the driver
  REQUIRE(pool);
  OnDevice on = made({.device = 0, .pool = &*pool});
  std::vector<float> large(1024 * 1024), out(1024 * 1024);
  const auto matrix = [](std::vector<float>& values) {
    return TensorView::row_major(values.data(), DType::f32, {1024, 1024});
  };
  const Status status = on.run(GemmArguments{.a = matrix(large), .b = matrix(large), .out = matrix(out)});
  CHECK(status.code() == StatusCode::device_error);
  CHECK(pool->use()->used == 0);
  HostProduct p;
  check_done(on.run(gemm_kernel(), p.arguments()));
  check_done(on.sync());
}
