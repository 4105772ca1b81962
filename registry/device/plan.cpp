/// Plan: what Kernel::run does, with all that does not depend on pointers done once.
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "operations/common/row_checks.hpp"
#include "operations/common/tensor_checks.hpp"
#include "registry/device/cuda_call.hpp"
#include "registry/device/host_arrays.hpp"
#include "registry/device/plan_state.hpp"
#include "registry/device/same_device.hpp"
#include "registry/device/tensor_map.hpp"
#include "registry/operation.hpp"

namespace quarry {
namespace {

using detail::PlanState;

/// Loads and encodes what runs on a device need.
Status make_ready(PlanState& plan, const PrepareOptions& options) {
  detail::PreparedLaunch& prepared = plan.prepared;
  const int device = prepared.place.device;
  const detail::CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  const auto functions = detail::load_functions(*plan.row, prepared.launch, device, std::nullopt,
                                                {options.artifact, options.compile});
  if (!functions) return functions.status();
  plan.functions = *functions;
  return detail::encode_tensor_maps(prepared.launch, prepared.pointers, prepared.launch.image);
}

/// Keeps the tensors of a problem that has arrays of pointers.
void keep_arrays(Arguments arguments, PlanState& plan) {
  detail::OperandList operands;
  detail::info_of(arguments.operation()).operands(arguments.data(), operands);
  const auto is_array = [](const detail::OperandRef& operand) { return operand.view->is_pointer_array; };
  if (std::none_of(operands.begin(), operands.end(), is_array)) return;
  detail::KeptOperands& kept = plan.arrays.emplace();
  for (const detail::OperandRef& operand : operands) {
    kept.views[kept.count] = *operand.view;
    kept.operands[kept.count++] = operand;
  }
}

/// Checks the arrays of one run of a plan on the host.
Status check_arrays(detail::KeptOperands kept, const PlanOperands& pointers) {
  detail::OperandList operands;
  for (int i = 0; i < kept.count; ++i) {
    kept.views[i].data = pointers[kept.operands[i].name];
    kept.operands[i].view = &kept.views[i];
    operands.add(kept.operands[i]);
  }
  return detail::check_host_arrays(operands);
}

/// What a run of a plan on a device does with its image.
Status run_on_device(const PlanState& plan, const PlanOperands& pointers, std::byte* image,
                     CUstream_st* stream, const Workspace& workspace) {
  const Launch& launch = plan.prepared.launch;
  const int device = plan.prepared.place.device;
  if (Status s = detail::check_stream(plan.row->metadata.name, stream, device); !s) return s;
  if (Status s = detail::check_places(launch, pointers, device); !s) return s;
  if (Status s = detail::check_workspace_device(workspace, launch.workspace_bytes, device); !s) return s;
  const detail::CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  if (Status s = detail::move_tensor_maps(launch, pointers, image); !s) return s;
  return detail::launch_on_stream(*plan.row, launch, plan.functions, image, workspace.data,
                                  {stream, plan.overlap});
}

}  // namespace

std::size_t Plan::workspace_size() const { return state_->prepared.launch.workspace_bytes; }

std::span<const PlanOperandNeed> Plan::operands() const {
  const Launch& launch = state_->prepared.launch;
  return {launch.uses.begin(), launch.uses.end()};
}

Status Plan::run(const PlanOperands& operands, CUstream_st* stream, Workspace workspace) const {
  const detail::PreparedLaunch& prepared = state_->prepared;
  const Launch& launch = prepared.launch;
  if (operands.named_twice() != Operand::none) {
    return detail::invalid("Operand `" + std::string(to_string(operands.named_twice())) + "` is named twice");
  }
  if (launch.is_empty()) return {};
  if (Status s = detail::check_pointers(launch, operands); !s) return s;
  if (Status s = detail::check_alignments(launch, operands); !s) return s;
  if (Status s = detail::check_workspace(workspace, launch.workspace_bytes); !s) return s;
  PlanOperands pointers = operands;
  pointers[Operand::alpha] = prepared.pointers[Operand::alpha];
  pointers[Operand::beta] = prepared.pointers[Operand::beta];
  pointers[Operand::workspace] = workspace.data;
  alignas(TensorMap) std::byte image[Launch::most_image];
  std::memcpy(image, launch.image, launch.image_bytes);
  put_pointers(launch, pointers, image);
  if (prepared.place.kind == detail::RunPlace::Kind::device)
    return run_on_device(*state_, pointers, image, stream, workspace);
  if (state_->arrays) {
    if (Status s = check_arrays(*state_->arrays, pointers); !s) return s;
  }
  const detail::Row& row = *state_->row;
  return detail::info_of(row.metadata.operation).run_on_host(row, launch, image);
}

Status Plan::run(Arguments arguments, CUstream_st* stream, Workspace workspace) const {
  if (Status s = detail::check_arguments(*state_->row, arguments); !s) return s;
  detail::OperandList operands;
  detail::info_of(arguments.operation()).operands(arguments.data(), operands);
  if (Status s = detail::check_kinds(operands, state_->prepared.place); !s) return s;
  return run(detail::pointers_of(operands), stream, workspace);
}

Result<Plan> Kernel::prepare(Arguments arguments, const PrepareOptions& options) const {
  using Kind = detail::RunPlace::Kind;
  try {
    const auto plan = std::make_shared<PlanState>();
    detail::PreparedLaunch& prepared = plan->prepared;
    plan->row = row_;
    if (Status s = detail::prepare_launch(*row_, controls_, arguments, prepared); !s) return s;
    if (Status s = detail::check_given(*row_, prepared.launch, options.artifact); !s) return s;
    if (prepared.place.kind == Kind::unknown) {
      return Status(StatusCode::invalid_arguments,
                    "Nothing says where the plan will run: give operands data, or set their `memory`");
    }
    plan->overlap = options.overlap;
    if (prepared.place.kind == Kind::device) {
      if (Status s = make_ready(*plan, options); !s) return s;
    } else {
      keep_arrays(arguments, *plan);
    }
    return Plan(plan);
  } catch (const std::exception&) {
    return Status(StatusCode::device_error, "Out of memory for a plan");
  }
}

}  // namespace quarry
