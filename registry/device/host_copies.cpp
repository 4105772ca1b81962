#include <cstring>
#include <utility>

#include "quarry/workspace.hpp"
#include "registry/device/copy_engine.hpp"

namespace quarry::detail {
namespace {

Result<std::shared_ptr<void>> host_memory(std::size_t bytes) {
  Result<WorkspaceBuffer> buffer = WorkspaceBuffer::on_host(bytes);
  if (!buffer) return buffer.status();
  const auto owner = std::make_shared<WorkspaceBuffer>(*std::move(buffer));
  return std::shared_ptr<void>(owner, owner->data());
}

class HostCopies final : public CopyEngine {
 public:
  Memory memory() const override { return {MemoryKind::host, 0}; }
  Status ready() override { return {}; }
  Result<std::shared_ptr<void>> allocate(std::size_t bytes) override { return host_memory(bytes); }
  Result<std::shared_ptr<void>> allocate_staging(std::size_t bytes) override { return host_memory(bytes); }
  Status copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
    return {};
  }
  Status run(const Kernel& kernel, const Arguments& arguments, const RunOptions& options) override {
    return kernel.run(arguments, options);
  }
  Status mark(int) override { return {}; }
  Status wait(int) override { return {}; }
  Status wait() override { return {}; }
};

}  // namespace

std::unique_ptr<CopyEngine> host_copies() { return std::make_unique<HostCopies>(); }

}  // namespace quarry::detail
