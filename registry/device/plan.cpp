/// Plan: what Kernel::run does, with all that does not depend on pointers done once.
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "operations/common/tensor_checks.hpp"
#include "operations/gemm/executor.hpp"
#include "operations/gemm/operation.hpp"
#include "registry/device/cuda_call.hpp"
#include "registry/device/host_arrays.hpp"
#include "registry/device/plan_state.hpp"
#include "registry/device/prepared.hpp"
#include "registry/device/same_device.hpp"

namespace quarry {

namespace {

using detail::check_alignment;

/// That of a GEMM.
struct GemmPlan final : detail::PlanState {
  const detail::Row* row = nullptr;
  detail::PreparedLaunch prepared;
  detail::LaunchFunctions functions;  // null for the host
  detail::TensorMaps maps = {};       // of any data; only for a device
  bool overlap = false;
  std::uintptr_t alignment_a = 1;  // bytes
  std::uintptr_t alignment_b = 1;
  std::uintptr_t alignment_out = 1;
  std::uintptr_t alignment_element = 1;  // of c, bias, residual and aux: one element of the output
  DType scale_type = DType::none;
  std::optional<GemmArguments> host_arrays;  // of a plan on the host whose operands are arrays of pointers

  std::size_t workspace_size() const override { return prepared.launch.workspace_bytes; }
  Status run(const PlanOperands& operands, CUstream_st* stream, const Workspace& workspace) const override;
};

/// What a pointer that a run is given leads to.
struct Given {
  Operand name;
  const void* data;
  bool is_array;
};

/// Of a matrix, or of an array of pointers to such.
Status check_alignment(const Given& given, DType type, std::uintptr_t bytes) {
  return given.is_array ? detail::check_array_address(given.name, given.data)
                        : check_alignment(given.name, type, given.data, bytes);
}

Status check_alignments(const GemmPlan& plan, const PlanOperands& given) {
  const OperandsMetadata& types = plan.row->metadata.operands;
  const detail::OperandsNeeded& needed = plan.prepared.needed;
  const detail::ArrayOperands& arrays = plan.prepared.arrays;
  if (needed.inputs) {
    const Given a = {Operand::a, given.a, arrays.a};
    const Given b = {Operand::b, given.b, arrays.b};
    if (Status s = check_alignment(a, types.a.dtype, plan.alignment_a); !s) return s;
    if (Status s = check_alignment(b, types.b.dtype, plan.alignment_b); !s) return s;
  }
  const DType out = types.out.dtype;
  const std::pair<bool, Given> like_out[] = {
      {needed.c, {Operand::c, given.c, arrays.c}},
      {needed.bias, {Operand::bias, given.bias, false}},
      {needed.residual, {Operand::residual, given.residual, arrays.residual}},
      {needed.aux, {Operand::aux, given.aux, arrays.aux}}};
  for (const auto& [is_needed, operand] : like_out) {
    if (!is_needed) continue;
    if (Status s = check_alignment(operand, out, plan.alignment_element); !s) return s;
  }
  if (needed.scale) {
    const auto bytes = static_cast<std::uintptr_t>(bytes_of(plan.scale_type));
    if (Status s = check_alignment(Operand::scale, plan.scale_type, given.scale, bytes); !s) return s;
  }
  return check_alignment({Operand::out, given.out, arrays.out}, out, plan.alignment_out);
}

/// Puts the pointers of a run into its launch.
void set_operands(const GemmPlan& plan, const PlanOperands& operands, GemmLaunch& launch) {
  const bool exchanged = plan.row->exchanged;
  launch.params.a.data = exchanged ? operands.b : operands.a;
  launch.params.b.data = exchanged ? operands.a : operands.b;
  const detail::OperandsNeeded& needed = plan.prepared.needed;
  const void* const c = needed.c ? operands.c : nullptr;
  launch.params.c.data = launch.reduce.params.c.data = c;
  launch.params.out.data = launch.reduce.params.out.data = operands.out;
  for (EpilogueParams* e : {&launch.params.epilogue, &launch.reduce.params.epilogue}) {
    e->bias = needed.bias ? operands.bias : nullptr;
    e->scale.data = needed.scale ? operands.scale : nullptr;
    e->residual.data = needed.residual ? operands.residual : nullptr;
    e->aux.data = needed.aux ? operands.aux : nullptr;
  }
  launch.map_a.data = launch.params.a.data;
  launch.map_b.data = launch.params.b.data;
  launch.map_out.data = launch.params.out.data;
}

/// What pointers of a plan's runs must be multiples of, beside what its kernel needs.
void set_alignments(GemmPlan& plan) {
  const OperandsMetadata& types = plan.row->metadata.operands;
  const GemmLaunch& launch = plan.prepared.launch;
  const auto bytes = [](const OperandMetadata& o) {
    return static_cast<std::uintptr_t>(o.alignment) * static_cast<std::uintptr_t>(bytes_of(o.dtype));
  };
  constexpr std::uintptr_t of_maps = 16;
  plan.alignment_a = bytes(types.a);
  plan.alignment_b = bytes(types.b);
  plan.alignment_element = static_cast<std::uintptr_t>(bytes_of(types.out.dtype));
  plan.scale_type = compute_type(types.accumulator, types.out.dtype);
  plan.alignment_out = launch.map_out.has_box() ? of_maps : plan.alignment_element;
}

/// Loads and encodes what runs on a device need.
Status make_ready(GemmPlan& plan, const PrepareOptions& options) {
  const int device = plan.prepared.place.device;
  const GemmLaunch& launch = plan.prepared.launch;
  const detail::CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  const auto functions = detail::load_functions(*plan.row, launch, device, std::nullopt, options.compile);
  if (!functions) return functions.status();
  plan.functions = *functions;
  return detail::encode_tensor_maps(launch, plan.maps);
}

Status GemmPlan::run(const PlanOperands& operands, CUstream_st* stream, const Workspace& workspace) const {
  const GemmPlan& plan = *this;
  if (!plan.prepared.needed.out) return {};
  if (Status s = plan.prepared.needed.check(operands); !s) return s;
  if (Status s = check_alignments(plan, operands); !s) return s;
  if (Status s = detail::check_workspace(workspace, workspace_size()); !s) return s;
  GemmLaunch launch = plan.prepared.launch;
  set_operands(plan, operands, launch);
  if (plan.functions.kernel == nullptr) {
    if (plan.host_arrays) {
      const GemmArguments arguments = detail::with_operands(*plan.host_arrays, operands);
      detail::OperandList list;
      detail::gemm::Rules::operands(arguments, list);
      if (Status s = detail::check_host_arrays(list); !s) return s;
    }
    return host::execute(host::host_kernel(*plan.row), launch);
  }

  const int device = plan.prepared.place.device;
  if (Status s = detail::check_stream(plan.row->metadata.name, stream, device); !s) return s;
  if (Status s = plan.prepared.needed.check_device(operands, device); !s) return s;
  if (Status s = detail::check_workspace_device(workspace, workspace_size(), device); !s) return s;
  const detail::CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  detail::TensorMaps maps = plan.maps;
  if (Status s = detail::move_tensor_maps(launch, maps); !s) return s;
  bind_workspace(launch, workspace.data);
  return detail::launch_on_stream(*plan.row, launch, plan.functions, maps, {stream, plan.overlap});
}

}  // namespace

Status detail::unknown_place() {
  return {StatusCode::invalid_arguments,
          "Nothing says where the plan will run: give operands data, or set their `memory`"};
}

Status detail::check_alignment(Operand operand, DType type, const void* data, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if (address % bytes == 0) return {};
  const std::int64_t got = (std::int64_t{1} << std::countr_zero(address)) / bytes_of(type);
  return {StatusCode::unsupported, Reason::alignment, operand,
          static_cast<std::int64_t>(bytes) / bytes_of(type), got};
}

std::size_t Plan::workspace_size() const { return state_->workspace_size(); }

Status Plan::run(const PlanOperands& operands, CUstream_st* stream, Workspace workspace) const {
  return state_->run(operands, stream, workspace);
}

Result<Plan> Kernel::prepare(const GemmArguments& arguments, const PrepareOptions& options) const {
  GemmPlan plan;
  plan.row = row_;
  if (Status s = detail::prepare_launch(*row_, controls_, arguments, plan.prepared); !s) return s;
  if (plan.prepared.place.kind == detail::Place::Kind::unknown) return detail::unknown_place();
  plan.overlap = options.overlap;
  const bool on_host = plan.prepared.place.kind == detail::Place::Kind::host;
  if (on_host && plan.prepared.arrays.any()) plan.host_arrays = arguments;
  set_alignments(plan);
  if (plan.prepared.place.kind == detail::Place::Kind::device) {
    if (Status s = make_ready(plan, options); !s) return s;
  }
  return detail::make_plan(plan);
}

}  // namespace quarry
