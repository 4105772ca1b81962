// Owned scratch memory on devices.
#include "quarry/workspace.hpp"

#include <cstdint>
#include <utility>

#include "registry/device/devices/cases.hpp"

using namespace quarry;
using namespace quarry::test;

TEST_CASE("a workspace lies on its device, whichever is current, and is freed once", "[two]") {
  const std::size_t before = stand_in::live_allocations();
  for (const int device : {0, 1}) {
    for (const int current : {0, 1}) {
      stand_in::set_current_device(current);
      Result<WorkspaceBuffer> buffer = WorkspaceBuffer::on_device(1000, device);
      REQUIRE(buffer);
      CHECK(stand_in::current_device() == current);
      CHECK(buffer->bytes() == 1000);
      CHECK(detail::locate(buffer->data()) == Memory{MemoryKind::device, device});
      WorkspaceBuffer moved = *std::move(buffer);
      CHECK(stand_in::live_allocations() == before + 1);
      WorkspaceBuffer other = *WorkspaceBuffer::on_device(10, device);
      other = std::move(moved);
      CHECK(stand_in::live_allocations() == before + 1);
    }
    CHECK(stand_in::live_allocations() == before);
  }
}

TEST_CASE("device memory that there is not is an error", "[two]") {
  const Status full = WorkspaceBuffer::on_device(std::size_t{1} << 60, 1).status();
  CHECK(full.code() == StatusCode::device_error);
  CHECK_THAT(full.message(), Catch::Contains("Cannot allocate a workspace of 1152921504606846976 bytes"));
  CHECK(WorkspaceBuffer::on_device(8, 2).status().code() == StatusCode::no_device);
}
