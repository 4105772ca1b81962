// Pools of scratch memory on devices.
#include "quarry/memory_pool.hpp"

#include <cstdint>
#include <utility>

#include "registry/device/devices/cases.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

MemoryPool pool_of(const MemoryPoolOptions& options) {
  Result<MemoryPool> pool = MemoryPool::create(options);
  INFO(pool.status().message());
  REQUIRE(pool);
  return *std::move(pool);
}

MemoryPoolUse use_of(const MemoryPool& pool) {
  const Result<MemoryPoolUse> use = pool.use();
  REQUIRE(use);
  return *use;
}

}  // namespace

TEST_CASE("a pool has its initial bytes, counts workspaces, keeps memory and is trimmed", "[two]") {
  for (const int device : {0, 1}) {
    stand_in::set_current_device(1 - device);
    {
      const MemoryPool pool = pool_of({.device = device, .initial_bytes = 5 * mebibyte});
      CHECK(stand_in::live_pools() == 1);
      CHECK(pool.device() == device);
      MemoryPoolUse use = use_of(pool);
      CHECK(use.used == 0);
      CHECK(use.peak_used == 0);
      CHECK(use.reserved >= 5 * mebibyte);
      {
        Result<PooledWorkspace> one = pool.workspace(3 * mebibyte, stand_in::stream_of(device));
        const Result<PooledWorkspace> two = pool.workspace(4 * mebibyte, stand_in::stream_of(device));
        REQUIRE(one);
        REQUIRE(two);
        CHECK(detail::locate(one->data()) == Memory{MemoryKind::device, device});
        CHECK(reinterpret_cast<std::uintptr_t>(one->data()) % 256 == 0);
        CHECK(one->bytes() == 3 * mebibyte);
        CHECK(one->data() != two->data());
        CHECK(use_of(pool).used == 7 * mebibyte);
        PooledWorkspace moved = *std::move(one);
        CHECK(Workspace(moved).bytes == 3 * mebibyte);
        moved = PooledWorkspace();
        CHECK(use_of(pool).used == 4 * mebibyte);
      }
      use = use_of(pool);
      CHECK(use.used == 0);
      CHECK(use.peak_used == 7 * mebibyte);
      CHECK(use.reserved >= 7 * mebibyte);
      REQUIRE(pool.reset_peaks());
      CHECK(use_of(pool).peak_used == 0);
      REQUIRE(pool.trim(2 * mebibyte));
      CHECK(use_of(pool).reserved == 2 * mebibyte);
      REQUIRE(pool.trim());
      CHECK(use_of(pool).reserved == 0);
      CHECK(stand_in::current_device() == 1 - device);
    }
    CHECK(stand_in::live_pools() == 0);
  }
}

TEST_CASE("a pool that cannot be, or cannot grow, is an error", "[two]") {
  const Status both = MemoryPool::create({.initial_bytes = 3, .max_bytes = 2}).status();
  CHECK(both.code() == StatusCode::invalid_arguments);
  CHECK_THAT(both.message(), Catch::Contains("begin with 3 bytes") && Catch::Contains("maximum is 2"));
  for (const int device : {-1, 2})
    CHECK(MemoryPool::create({.device = device}).status().code() == StatusCode::no_device);
  CHECK(MemoryPool::create({.initial_bytes = std::size_t{1} << 60}).status().code() ==
        StatusCode::device_error);
  CHECK(stand_in::live_pools() == 0);

  const MemoryPool pool = pool_of({.max_bytes = 4 * mebibyte});
  const Result<PooledWorkspace> all = pool.workspace(4 * mebibyte, nullptr);
  REQUIRE(all);
  const Status full = pool.workspace(1, nullptr).status();
  CHECK(full.code() == StatusCode::device_error);
  CHECK_THAT(full.message(), Catch::Contains("Cannot allocate a workspace of 1 bytes from the pool"));
  const Result<PooledWorkspace> nothing = pool.workspace(0, nullptr);
  REQUIRE(nothing);
  CHECK(nothing->data() == nullptr);
}

TEST_CASE("a run takes its workspace from the pool, on its stream, and gives it back", "[two]") {
  const Kernel kernel = gemm_kernel();
  for (const int device : {0, 1}) {
    const MemoryPool pool = pool_of({.device = device});
    CUstream_st* const stream = stand_in::stream_of(device);
    (void)stand_in::take_launches();
    (void)stand_in::take_pool_streams();
    const Status done = kernel.run(gemm_on(device), {.stream = stream, .pool = &pool});
    INFO(done.message());
    REQUIRE(done);
    CHECK(stand_in::take_launches() == std::vector<int>{device, device});
    CHECK(stand_in::take_pool_streams() == std::vector<const CUstream_st*>{stream, stream});
    const MemoryPoolUse use = use_of(pool);
    CHECK(use.used == 0);
    CHECK(use.peak_used == *kernel.workspace_size(gemm_on(device)));

    const Result<Plan> plan = kernel.prepare(gemm_on(device));
    REQUIRE(plan);
    REQUIRE(plan->run(gemm_on(device), stream, *pool.workspace(plan->workspace_size(), stream)));
    CHECK(stand_in::take_pool_streams() == std::vector<const CUstream_st*>{stream, stream});
    CHECK(use_of(pool).used == 0);

    // The caller's own memory comes first, and a kernel without need takes none.
    REQUIRE(
        kernel.run(gemm_on(device), {.stream = stream, .workspace = workspace_on(device), .pool = &pool}));
    REQUIRE(reduction_kernel().run(reduction_on(device), {.stream = stream, .pool = &pool}));
    CHECK(stand_in::take_pool_streams().empty());
  }
}

TEST_CASE("a run refuses a pool of another device, a stream of another device and a full pool", "[two]") {
  const Kernel kernel = gemm_kernel();
  const MemoryPool other = pool_of({.device = 1});
  const Status refused = kernel.run(gemm_on(0), {.pool = &other});
  CHECK(refused.code() == StatusCode::invalid_workspace);
  CHECK_THAT(refused.message(), Catch::Contains("pool is on device 1") && Catch::Contains("on device 0"));
  const Status elsewhere = kernel.run(gemm_on(1), {.stream = stand_in::stream_of(0), .pool = &other});
  CHECK(elsewhere.code() == StatusCode::device_error);
  CHECK(use_of(other).peak_used == 0);

  const MemoryPool small = pool_of({.max_bytes = 1});
  const Result<PooledWorkspace> rest = small.workspace(2 * mebibyte, nullptr);
  REQUIRE(rest);
  CHECK(kernel.run(gemm_on(0), {.pool = &small}).code() == StatusCode::device_error);
}
