// Owned scratch memory on the host; tests/registry/device/devices/ has it on devices.
#include "quarry/workspace.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "quarry/gemm.hpp"
#include "quarry/registry.hpp"
#include "quarry/system.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

static_assert(!std::is_copy_constructible_v<WorkspaceBuffer> && !std::is_copy_assignable_v<WorkspaceBuffer>);
static_assert(std::is_nothrow_move_constructible_v<WorkspaceBuffer>);

TEST_CASE("a workspace of host memory is as large and as aligned as runs need it", "[workspace]") {
  for (const std::size_t bytes : {1, 4, 255, 256, 257, 100'000}) {
    Result<WorkspaceBuffer> buffer = WorkspaceBuffer::on_host(bytes);
    REQUIRE(buffer);
    CHECK(buffer->bytes() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer->data()) % 256 == 0);
    std::memset(buffer->data(), 1, bytes);
    const void* const data = buffer->data();
    WorkspaceBuffer moved = *std::move(buffer);
    const Workspace workspace = moved;
    CHECK(buffer->bytes() == 0);
    CHECK(workspace.data == data);
    CHECK(workspace.bytes == bytes);
    moved = WorkspaceBuffer();
    CHECK(moved.data() == nullptr);
  }
}

TEST_CASE("no bytes need no memory and no device", "[workspace]") {
  for (const Result<WorkspaceBuffer>& buffer :
       {WorkspaceBuffer::on_host(0), WorkspaceBuffer::on_device(0, 1000)}) {
    REQUIRE(buffer);
    CHECK(buffer->data() == nullptr);
    CHECK(buffer->bytes() == 0);
  }
}

TEST_CASE("memory that there is not is an error", "[workspace]") {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t too_much : {most / 2, most - 256, most - 255, most - 1, most}) {
    const Status host = WorkspaceBuffer::on_host(too_much).status();
    CHECK(host.code() == StatusCode::device_error);
    CHECK_THAT(host.message(),
               Catch::Contains("Out of memory for a workspace of " + std::to_string(too_much)));
  }
  for (const int device : {-1, device_count()})
    CHECK(WorkspaceBuffer::on_device(64, device).status().code() == StatusCode::no_device);
}

TEST_CASE("a run takes the buffer as its workspace", "[workspace]") {
  alignas(16) float a[32 * 64];
  alignas(16) float b[64 * 32];
  alignas(16) float out[32 * 32];
  std::fill_n(a, 32 * 64, 1.0F);
  std::fill_n(b, 64 * 32, 2.0F);
  GemmArguments args{.a = TensorView::row_major(a, DType::f32, {32, 64}),
                     .b = TensorView::row_major(b, DType::f32, {64, 32}),
                     .out = TensorView::row_major(out, DType::f32, {32, 32})};
  args.controls = {.mode = Mode::split_k_parallel, .split_k_slices = 2};
  const Result<Candidate> best = find_best(args);
  REQUIRE(best);
  REQUIRE(best->workspace() > 0);
  const Result<WorkspaceBuffer> buffer = WorkspaceBuffer::on_host(best->workspace());
  REQUIRE(buffer);
  REQUIRE(best->run(args, {.workspace = *buffer}));
  CHECK(std::all_of(out, out + 32 * 32, [](float v) { return v == 128; }));
}
