#include "quarry/on_device.hpp"

#include <exception>
#include <utility>

#include "operations/common/tensor_checks.hpp"
#include "registry/device/copied_runs.hpp"

namespace quarry {
namespace {

Status out_of_memory() { return {StatusCode::device_error, "Out of memory for OnDevice"}; }

Status moved() { return detail::invalid("This OnDevice was moved from"); }

}  // namespace

OnDevice::OnDevice(std::unique_ptr<detail::CopiedRuns> runs) : runs_(std::move(runs)) {}
OnDevice::OnDevice(OnDevice&&) noexcept = default;
OnDevice& OnDevice::operator=(OnDevice&&) noexcept = default;
OnDevice::~OnDevice() = default;

Result<OnDevice> OnDevice::create(const OnDeviceOptions& options) try {
  Result<std::unique_ptr<detail::CopyEngine>> engine = detail::cuda_copies(options);
  if (!engine) return engine.status();
  return OnDevice(std::make_unique<detail::CopiedRuns>(*std::move(engine), options.staging_bytes));
} catch (const std::exception&) {
  return out_of_memory();
}

Result<OnDevice> OnDevice::in_host_memory(std::size_t staging_bytes) try {
  return OnDevice(std::make_unique<detail::CopiedRuns>(detail::host_copies(), staging_bytes));
} catch (const std::exception&) {
  return out_of_memory();
}

Status OnDevice::run(const Kernel& kernel, Arguments arguments, const RunOptions& options) {
  return runs_ == nullptr ? moved() : runs_->run(&kernel, arguments, options);
}

Status OnDevice::run(Arguments arguments, const RunOptions& options) {
  return runs_ == nullptr ? moved() : runs_->run(nullptr, arguments, options);
}

Status OnDevice::sync() { return runs_ == nullptr ? moved() : runs_->sync(); }

void OnDevice::close() {
  if (runs_ != nullptr) runs_->close();
}

bool OnDevice::is_closed() const { return runs_ == nullptr || runs_->is_closed(); }

std::size_t OnDevice::pending() const { return runs_ == nullptr ? 0 : runs_->pending(); }

CUstream_st* OnDevice::stream() const { return runs_ == nullptr ? nullptr : runs_->stream(); }

}  // namespace quarry
