/// Reductions: Kernel::run, and plans.
#include "operations/reduce_split_k/executor.hpp"
#include "operations/reduce_split_k/operation.hpp"
#include "operations/reduce_split_k/problem.hpp"
#include "registry/device/cuda_call.hpp"
#include "registry/device/device_model.hpp"
#include "registry/device/plan_state.hpp"
#include "registry/device/prepared.hpp"
#include "registry/device/same_device.hpp"
#include "registry/query/operation_info.hpp"

namespace quarry {
namespace {

using detail::PreparedReduction;

/// The state of a plan.
struct ReducePlan final : detail::PlanState {
  const detail::Row* row = nullptr;
  PreparedReduction prepared;
  detail::DeviceFunction function = nullptr;  // null for the host

  std::size_t workspace_size() const override { return 0; }
  Status run(const PlanOperands& operands, CUstream_st* stream, const Workspace& workspace) const override;
};

/// Each pointer that is needed must be that of an element.
Status check_alignments(const ReducePlan& plan, const PlanOperands& given) {
  const detail::OperandsNeeded& needed = plan.prepared.needed;
  const DType out = plan.row->metadata.operands.out.dtype;
  const DType partial = plan.row->metadata.operands.accumulator;
  const DType compute = compute_type(partial, out);
  const struct {
    bool needed;
    Operand name;
    DType type;
    const void* data;
  } operands[] = {{needed.partials, Operand::partials, partial, given.partials},
                  {needed.c, Operand::c, out, given.c},
                  {needed.bias, Operand::bias, out, given.bias},
                  {needed.scale, Operand::scale, compute, given.scale},
                  {needed.residual, Operand::residual, out, given.residual},
                  {needed.aux, Operand::aux, out, given.aux},
                  {needed.out, Operand::out, out, given.out}};
  for (const auto& operand : operands) {
    if (!operand.needed) continue;
    const auto bytes = static_cast<std::size_t>(bytes_of(operand.type));
    if (Status s = detail::check_alignment(operand.name, operand.type, operand.data, bytes); !s) return s;
  }
  return {};
}

/// Puts the pointers of a run into its launch.
void set_operands(const detail::OperandsNeeded& needed, const PlanOperands& given, ReduceParams& params) {
  params.partials = given.partials;
  params.c.data = needed.c ? given.c : nullptr;
  params.out.data = given.out;
  params.epilogue.bias = needed.bias ? given.bias : nullptr;
  params.epilogue.scale.data = needed.scale ? given.scale : nullptr;
  params.epilogue.residual.data = needed.residual ? given.residual : nullptr;
  params.epilogue.aux.data = needed.aux ? given.aux : nullptr;
}

Status ReducePlan::run(const PlanOperands& operands, CUstream_st* stream, const Workspace&) const {
  if (!prepared.needed.out) return {};
  if (Status s = prepared.needed.check(operands); !s) return s;
  if (Status s = check_alignments(*this, operands); !s) return s;
  ReduceLaunch launch = prepared.launch;
  set_operands(prepared.needed, operands, launch.params);
  if (function == nullptr) return host::execute(row->metadata, launch);
  const int device = prepared.place.device;
  if (Status s = detail::check_stream(row->metadata.name, stream, device); !s) return s;
  if (Status s = prepared.needed.check_device(operands, device); !s) return s;
  const detail::CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  return detail::launch_reduction(row->metadata.name, launch, function, stream);
}

}  // namespace

Status detail::prepare_launch(const Row& row, const ReduceSplitKArguments& arguments,
                              PreparedReduction& prepared) {
  if (Status s = check_operation(row, Operation::reduce_split_k); !s) return s;
  OperandList operands;
  reduce_split_k::Rules::operands(arguments, operands);
  const Result<Place> place = place_of(operands);
  if (!place) return place.status();
  ReduceProblem problem;
  ChosenControls none;
  const DeviceModel* device = &model_for(operands);
  if (place->kind == Place::Kind::device) {
    device = cached_device_model(place->device);
    if (device == nullptr) return device_model(place->device).status();
  }
  if (Status s = resolve<reduce_split_k::Rules>(row, arguments, operands, {}, *device, problem, none); !s)
    return s;
  prepared.place = *place;
  prepared.needed = {};
  prepared.needed.out = !is_empty(problem);
  prepared.needed.partials = true;
  prepared.needed.c = problem.has_c;
  prepared.needed.bias = problem.has_bias;
  prepared.needed.scale = problem.has_scale;
  prepared.needed.residual = problem.has_residual;
  prepared.needed.aux = problem.has_aux;
  prepared.launch = reduce_split_k::family_of(row).launch(row.entry_config, problem);
  return {};
}

Status Kernel::run(const ReduceSplitKArguments& arguments, const RunOptions& options) const {
  PreparedReduction prepared;
  if (Status s = detail::prepare_launch(*row_, arguments, prepared); !s) return s;
  if (!prepared.needed.out) return {};
  if (Status s = prepared.needed.check(detail::operands_of(arguments)); !s) return s;
  if (prepared.place.kind == detail::Place::Kind::host) return host::execute(metadata(), prepared.launch);
  const int device = prepared.place.device;
  if (Status s = detail::check_stream(name(), options.stream, device); !s) return s;
  const detail::CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  const Result<detail::DeviceFunction> function =
      detail::load_function(row_->entry, device, 0, options.stream, options.compile);
  if (!function) return function.status();
  return detail::launch_reduction(name(), prepared.launch, *function, options.stream);
}

Result<Plan> Kernel::prepare(const ReduceSplitKArguments& arguments, const PrepareOptions& options) const {
  ReducePlan plan;
  plan.row = row_;
  if (Status s = detail::prepare_launch(*row_, arguments, plan.prepared); !s) return s;
  if (plan.prepared.place.kind == detail::Place::Kind::unknown) return detail::unknown_place();
  if (plan.prepared.place.kind == detail::Place::Kind::device) {
    const int device = plan.prepared.place.device;
    const detail::CurrentDevice current(device);
    if (Status s = current.status(); !s) return s;
    const Result<detail::DeviceFunction> function =
        detail::load_function(row_->entry, device, 0, std::nullopt, options.compile);
    if (!function) return function.status();
    plan.function = *function;
  }
  return detail::make_plan(plan);
}

}  // namespace quarry
