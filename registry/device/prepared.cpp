#include "registry/device/prepared.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "operations/common/tensor_checks.hpp"
#include "registry/device/device_model.hpp"
#include "registry/device/same_device.hpp"
#include "registry/operation.hpp"

namespace quarry::detail {

Status prepare_launch(const Row& row, const Controls& controls, Arguments arguments, PreparedLaunch& prepared,
                      bool assume_supported) {
  if (Status s = check_arguments(row, arguments); !s) return s;
  const OperationInfo& info = info_of(arguments.operation());
  OperandList operands;
  info.operands(arguments.data(), operands);
  const Result<RunPlace> place = place_of(operands);
  if (!place) return place.status();
  const DeviceModel* real = nullptr;
  if (place->kind == RunPlace::Kind::device) {
    real = cached_device_model(place->device);
    if (real == nullptr) return device_model(place->device).status();
  }
  prepared.place = *place;
  prepared.pointers = pointers_of(operands);
  if (assume_supported) {
    info.prepare_unchecked(row, controls, arguments.data(), operands, prepared.launch);
    return {};
  }
  return info.prepare(row, controls, arguments.data(), operands, real, prepared.launch);
}

Status check_pointers(const Launch& launch, const PlanOperands& pointers) {
  for (const PlanOperandNeed& use : launch.uses) {
    if (pointers[use.name] == nullptr) return {StatusCode::invalid_arguments, Reason::null_data, use.name};
  }
  return {};
}

/// What is wrong with an operand that is less aligned than the launch needs.
static Status misaligned(const PlanOperandNeed& use, const void* data) {
  if (use.is_array) return check_array_address(use.name, data);
  const auto got = std::int64_t{1} << std::countr_zero(reinterpret_cast<std::uintptr_t>(data));
  const int bits = bits_of(use.dtype);
  return {StatusCode::unsupported, Reason::pointer_alignment, use.name, use.alignment * 8 / bits,
          got * 8 / bits};
}

Status check_alignments(const Launch& launch, const PlanOperands& pointers) {
  for (const PlanOperandNeed& use : launch.uses) {
    const void* const data = pointers[use.name];
    if (reinterpret_cast<std::uintptr_t>(data) % use.alignment != 0) return misaligned(use, data);
  }
  return {};
}

Status check_workspace(const Workspace& workspace, std::size_t bytes) {
  constexpr std::uintptr_t alignment = 256;
  if (bytes == 0) return {};
  const std::size_t given = workspace.data == nullptr ? 0 : workspace.bytes;
  if (given < bytes) {
    return {StatusCode::invalid_workspace, Reason::workspace_size, Operand::workspace,
            static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(given)};
  }
  if (reinterpret_cast<std::uintptr_t>(workspace.data) % alignment != 0) {
    return {StatusCode::invalid_workspace, Reason::workspace_alignment, Operand::workspace,
            static_cast<std::int64_t>(alignment)};
  }
  return {};
}

Status check_places(const Launch& launch, const PlanOperands& pointers, int device) {
  if (!has_several_devices()) return {};
  for (const bool output : {true, false}) {  // where the output lies says most of a mixture
    for (const PlanOperandNeed& use : launch.uses) {
      if (use.is_output != output) continue;
      if (Status s = check_pointer(StatusCode::invalid_arguments, use.name, pointers[use.name], device); !s)
        return s;
    }
  }
  return {};
}

Status check_workspace_device(const Workspace& workspace, std::size_t bytes, int device) {
  if (bytes == 0) return {};
  return check_pointer(StatusCode::invalid_workspace, Operand::workspace, workspace.data, device);
}

PlanOperands pointers_of(const OperandList& operands) {
  PlanOperands pointers;
  for (const OperandRef& operand : operands) pointers[operand.name] = operand.view->data;
  for (const ScalarRef& scalar : operands.scalars()) pointers[scalar.name] = scalar.scalar->pointer;
  return pointers;
}

PlanOperands operands_of(Arguments arguments) {
  OperandList operands;
  info_of(arguments.operation()).operands(arguments.data(), operands);
  return pointers_of(operands);
}

static std::string text_of(const RunPlace& place) {
  if (place.kind == RunPlace::Kind::host) return "on the host";
  return "on CUDA device " + std::to_string(place.device);
}

Status check_kinds(const OperandList& operands, const RunPlace& place) {
  for (const OperandRef& operand : operands) {
    const Memory memory = operand.view->memory;
    if (memory.kind == MemoryKind::automatic) continue;
    const bool on_host = memory.kind == MemoryKind::host;
    const bool elsewhere = memory.kind == MemoryKind::device && memory.device != place.device;
    if (on_host == (place.kind == RunPlace::Kind::host) && !elsewhere) continue;
    return invalid("Operand `" + std::string(to_string(operand.name)) + "` lies in " +
                   (on_host ? "host memory" : "memory of CUDA device " + std::to_string(memory.device)) +
                   ": the plan runs " + text_of(place));
  }
  return {};
}

}  // namespace quarry::detail
