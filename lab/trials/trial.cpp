#include "lab/trials/trial.hpp"

#include <algorithm>

#include "basic/text.hpp"
#include "registry/device/runtime.hpp"

namespace quarry::lab {
namespace {

constexpr std::size_t guard_bytes = 4096;
constexpr std::size_t workspace_alignment = 256;
/// Makes NaNs of all types.
constexpr unsigned char poison = 0xff;

}  // namespace

std::string_view to_string(Place place) { return place == Place::host ? "host" : "device"; }

Result<Place> read_place(const std::string& name) {
  if (name == "host") return Place::host;
  if (name.empty()) return detail::device_count() > 0 ? Place::device : Place::host;
  if (name != "device") {
    return Status(StatusCode::parse_error, "--on: expected host or device, got " + detail::quoted(name));
  }
  if (Status there = detail::device_status(used_device); !there) return there;
  return Place::device;
}

Result<TrialProblem> TrialProblem::make(const Problem& problem, std::uint64_t seed, Place place) {
  Result<Operands> host = Operands::make(arguments_of(problem), operand_options(problem, seed));
  if (!host) return host.status();
  TrialProblem trial{*std::move(host), std::nullopt};
  if (place == Place::host) return trial;
  Result<DeviceOperands> device = DeviceOperands::make(trial.host, used_device);
  if (!device) return device.status();
  trial.device = *std::move(device);
  return trial;
}

std::string Verdict::reason() const { return status ? comparison.text() : status.message(); }

Result<TrialWorkspace> TrialWorkspace::make(std::size_t bytes, Place place) {
  TrialWorkspace made;
  made.bytes_ = bytes;
  made.on_device_ = place == Place::device;
  if (bytes == 0) return made;
  if (!made.on_device_) {
    made.host_.assign(bytes + guard_bytes + workspace_alignment, std::byte{poison});
    return made;
  }
  Result<DeviceBuffer> buffer = DeviceBuffer::allocate(bytes + guard_bytes, used_device);
  if (!buffer) return buffer.status();
  made.device_ = *std::move(buffer);
  if (Status filled = made.device_.fill(poison); !filled) return filled;
  return made;
}

Workspace TrialWorkspace::workspace() const {
  if (bytes_ == 0) return {};
  if (on_device_) return {device_.data(), bytes_};
  const auto address = reinterpret_cast<std::uintptr_t>(host_.data());
  const std::size_t offset = (workspace_alignment - address % workspace_alignment) % workspace_alignment;
  return {const_cast<std::byte*>(host_.data()) + offset, bytes_};
}

Status TrialWorkspace::check() const {
  if (bytes_ == 0) return {};
  std::vector<std::byte> guard(guard_bytes);
  if (on_device_) {
    if (Status copied = device_.download(guard.data(), bytes_, guard_bytes); !copied) return copied;
  } else {
    std::copy_n(static_cast<const std::byte*>(workspace().data) + bytes_, guard_bytes, guard.data());
  }
  if (std::ranges::count(guard, std::byte{poison}) == std::ranges::ssize(guard)) return {};
  return Status(StatusCode::device_error, "the kernel wrote past the end of its workspace");
}

Verdict run_trial(const Kernel& kernel, const Controls& controls, TrialProblem& problem,
                  const Reference& reference) {
  const HeldArguments arguments = with(controls, problem.arguments());
  const Result<std::size_t> bytes = kernel.workspace_size(arguments);
  if (!bytes) return {bytes.status()};
  const Result<TrialWorkspace> workspace =
      TrialWorkspace::make(*bytes, problem.device ? Place::device : Place::host);
  if (!workspace) return {workspace.status()};

  problem.host.reset_outputs();
  if (problem.device) {
    if (Status s = problem.device->upload_outputs(problem.host); !s) return {s};
  }
  if (Status s = kernel.run(arguments, {.workspace = workspace->workspace()}); !s) return {s};
  if (problem.device) {
    if (Status s = problem.device->download_outputs(problem.host); !s) return {s};
  }
  if (Status s = problem.host.check_outputs(); !s) return {s};
  if (Status s = workspace->check(); !s) return {s};
  return {{}, compare(reference, problem.host.arguments(), kernel.metadata())};
}

}  // namespace quarry::lab
