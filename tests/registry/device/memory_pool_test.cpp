// Pools without a device; tests/registry/device/devices/ has them on devices, tests/gpu/ on a GPU.
#include "quarry/memory_pool.hpp"

#include <type_traits>
#include <utility>

#include "registry/device/runtime.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

static_assert(!std::is_copy_constructible_v<MemoryPool> && !std::is_copy_constructible_v<PooledWorkspace>);
static_assert(std::is_nothrow_move_constructible_v<MemoryPool>);
static_assert(std::is_nothrow_move_assignable_v<PooledWorkspace>);

TEST_CASE("a pool needs a device, and initial bytes within its maximum", "[workspace]") {
  CHECK(MemoryPool::create({.initial_bytes = 2, .max_bytes = 1}).status().code() ==
        StatusCode::invalid_arguments);
  for (const int device : {-1, detail::device_count(), 1000})
    CHECK(MemoryPool::create({.device = device}).status().code() == StatusCode::no_device);
}

TEST_CASE("an empty workspace of a pool needs no device", "[workspace]") {
  PooledWorkspace empty;
  PooledWorkspace moved = std::move(empty);
  moved = PooledWorkspace();
  CHECK(Workspace(moved).data == nullptr);
  CHECK(Workspace(moved).bytes == 0);
}
