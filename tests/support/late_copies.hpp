/// A device in host memory that does everything as late as it may: a copy when somebody waits for it or a
/// kernel needs it, a free behind the work that was there by then. Freed memory is poisoned.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "quarry/workspace.hpp"
#include "registry/device/copy_engine.hpp"
#include "support/catch_compat.hpp"

namespace quarry::test {

/// What a test sees of the engine, which OnDevice owns. It must outlive the engine.
struct LateDevice {
  int live = 0;              ///< pieces of device memory
  int staging = 0;           ///< pieces of staging memory
  int kernels = 0;           ///< that ran
  std::size_t uploaded = 0;  ///< bytes
  std::size_t downloaded = 0;
  /// The call of this number, from 1 on, fails.
  int fails_at = 0;
  int calls = 0;
};

class LateCopies final : public detail::CopyEngine {
 public:
  explicit LateCopies(LateDevice& device) : device_(device) {}
  ~LateCopies() override { do_until(0); }

  Memory memory() const override { return {MemoryKind::host, 0}; }
  Status ready() override { return next(); }

  Result<std::shared_ptr<void>> allocate(std::size_t bytes) override {
    if (Status s = next(); !s) return s;
    REQUIRE(bytes > 0);
    auto owner = std::make_shared<WorkspaceBuffer>(*WorkspaceBuffer::on_host(bytes));
    std::memset(owner->data(), 0xee, bytes);
    void* const data = owner->data();
    ++device_.live;
    return std::shared_ptr<void>(data, [this, owner = std::move(owner)](void*) mutable {
      queue_.push_back([this, owner = std::move(owner)] {
        std::memset(owner->data(), 0xdd, owner->bytes());
        --device_.live;
      });
    });
  }

  Result<std::shared_ptr<void>> allocate_staging(std::size_t bytes) override {
    if (Status s = next(); !s) return s;
    auto owner = std::make_shared<WorkspaceBuffer>(*WorkspaceBuffer::on_host(bytes));
    begin_ = static_cast<const char*>(owner->data());
    end_ = begin_ + bytes;
    ++device_.staging;
    return std::shared_ptr<void>(owner->data(), [this, owner](void*) {
      CHECK(queue_.empty());  // no copy uses it any more
      --device_.staging;
    });
  }

  Status copy(void* to, const void* from, std::size_t bytes) override {
    if (Status s = next(); !s) return s;
    const bool is_upload = from >= begin_ && from < end_;
    const bool is_download = to >= begin_ && to < end_;
    REQUIRE(is_upload != is_download);
    (is_upload ? device_.uploaded : device_.downloaded) += bytes;
    queue_.push_back([=] { std::memcpy(to, from, bytes); });
    return {};
  }

  Status run(const Kernel& kernel, const Arguments& arguments, const RunOptions& options) override {
    if (Status s = next(); !s) return s;
    do_until(0);
    ++device_.kernels;
    return kernel.run(arguments, options);
  }

  Status mark(int slot) override {
    if (Status s = next(); !s) return s;
    marks_[slot] = done_ + queue_.size();
    return {};
  }
  Status wait(int slot) override {
    if (Status s = next(); !s) return s;
    while (done_ < marks_[slot]) do_one();
    return {};
  }
  Status wait() override {
    const Status s = next();
    do_until(0);
    return s;
  }

 private:
  Status next() {
    if (++device_.calls != device_.fails_at) return {};
    return {StatusCode::device_error, "planted"};
  }
  void do_one() {
    const auto work = std::move(queue_.front());
    queue_.pop_front();
    ++done_;
    work();
  }
  void do_until(std::size_t left) {
    while (queue_.size() > left) do_one();
  }

  LateDevice& device_;
  std::deque<std::function<void()>> queue_;
  std::size_t done_ = 0;
  std::size_t marks_[slots] = {};
  const char* begin_ = nullptr;  ///< of the staging memory
  const char* end_ = nullptr;
};

}  // namespace quarry::test
