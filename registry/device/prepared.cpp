#include "registry/device/prepared.hpp"

#include <cstdint>
#include <utility>

#include "operations/gemm/operation.hpp"
#include "operations/reduce_split_k/problem.hpp"
#include "registry/device/device_model.hpp"
#include "registry/device/same_device.hpp"
#include "registry/query/operation_info.hpp"

namespace quarry::detail {

Status OperandsNeeded::check(const PlanOperands& given) const {
  const auto missing = [](Operand operand) {
    return Status(StatusCode::invalid_arguments, Reason::null_data, operand);
  };
  if (!out) return {};
  if (partials && given.partials == nullptr) return missing(Operand::partials);
  if (inputs && given.a == nullptr) return missing(Operand::a);
  if (inputs && given.b == nullptr) return missing(Operand::b);
  if (c && given.c == nullptr) return missing(Operand::c);
  if (given.out == nullptr) return missing(Operand::out);
  if (bias && given.bias == nullptr) return missing(Operand::bias);
  if (scale && given.scale == nullptr) return missing(Operand::scale);
  if (residual && given.residual == nullptr) return missing(Operand::residual);
  if (aux && given.aux == nullptr) return missing(Operand::aux);
  return {};
}

Status OperandsNeeded::check_device(const PlanOperands& given, int device) const {
  if (!out || !has_several_devices()) return {};
  const struct {
    bool needed;
    Operand name;
    const void* data;
  } operands[] = {{out, Operand::out, given.out},
                  {partials, Operand::partials, given.partials},
                  {inputs, Operand::a, given.a},
                  {inputs, Operand::b, given.b},
                  {c, Operand::c, given.c},
                  {bias, Operand::bias, given.bias},
                  {scale, Operand::scale, given.scale},
                  {residual, Operand::residual, given.residual},
                  {aux, Operand::aux, given.aux}};
  for (const auto& operand : operands) {
    if (!operand.needed) continue;
    if (Status s = check_pointer(StatusCode::invalid_arguments, operand.name, operand.data, device); !s)
      return s;
  }
  return {};
}

/// Whether the device where the tensors lie takes a kernel whose controls were chosen by `model`.
static Status check_device(const Row& row, const GemmProblem& problem, int device, const DeviceModel& model) {
  const DeviceModel* const real = cached_device_model(device);
  if (real == nullptr) return device_model(device).status();
  return real == &model ? Status() : check_row_alone<gemm::Rules>(row, problem, *real);
}

static ArrayOperands arrays_of(const GemmArguments& arguments) {
  const Epilogue& e = arguments.epilogue;
  const auto is_array = [](const std::optional<TensorView>& view) { return view && view->is_pointer_array; };
  return {.a = arguments.a.is_pointer_array,
          .b = arguments.b.is_pointer_array,
          .c = is_array(arguments.c),
          .out = arguments.out.is_pointer_array,
          .residual = is_array(e.residual),
          .aux = is_array(e.aux)};
}

Status prepare_launch(const Row& row, const Controls& controls, const GemmArguments& arguments,
                      PreparedLaunch& prepared) {
  if (Status s = check_operation(row, Operation::gemm); !s) return s;
  OperandList operands;
  gemm::Rules::operands(arguments, operands);
  const Result<Place> place = place_of(operands);
  if (!place) return place.status();
  GemmProblem problem;
  ChosenControls chosen;
  // By the model that workspace_size goes by, so that the workspace it asked for is what the run needs.
  const DeviceModel& model = model_for(operands);
  if (Status s = resolve<gemm::Rules>(row, arguments, operands, controls, model, problem, chosen); !s)
    return s;
  if (place->kind == Place::Kind::device) {
    if (Status s = check_device(row, problem, place->device, model); !s) return s;
  }
  prepared.place = *place;
  prepared.needed.out = problem.m > 0 && problem.n > 0 && problem.batch > 0;
  prepared.needed.inputs = problem.k > 0;
  prepared.needed.c = problem.has_c;
  prepared.needed.bias = problem.has_bias;
  prepared.needed.scale = problem.has_scale;
  prepared.needed.residual = problem.has_residual;
  prepared.needed.aux = problem.has_aux;
  prepared.arrays = arrays_of(arguments);
  prepared.launch = gemm::family_of(row).launch(row.entry_config, problem, chosen);
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

Status check_workspace_device(const Workspace& workspace, std::size_t bytes, int device) {
  if (bytes == 0) return {};
  return check_pointer(StatusCode::invalid_workspace, Operand::workspace, workspace.data, device);
}

PlanOperands operands_of(const GemmArguments& arguments) {
  PlanOperands operands;
  operands.a = arguments.a.data;
  operands.b = arguments.b.data;
  operands.c = arguments.c ? arguments.c->data : nullptr;
  operands.out = const_cast<void*>(arguments.out.data);  // a view says so: outputs are written through it
  const Epilogue& e = arguments.epilogue;
  const auto data = [](const std::optional<TensorView>& view) { return view ? view->data : nullptr; };
  operands.bias = data(e.bias);
  operands.scale = data(e.scale);
  operands.residual = data(e.residual);
  operands.aux = const_cast<void*>(data(e.aux));
  return operands;
}

PlanOperands operands_of(const ReduceSplitKArguments& arguments) {
  PlanOperands operands = operands_of(in_gemm_roles(arguments));
  operands.partials = std::exchange(operands.a, nullptr);
  return operands;
}

GemmArguments with_operands(GemmArguments arguments, const PlanOperands& operands) {
  const auto set = [](std::optional<TensorView>& view, const void* data) {
    if (view) view->data = data;
  };
  Epilogue& e = arguments.epilogue;
  arguments.a.data = operands.a;
  arguments.b.data = operands.b;
  arguments.out.data = operands.out;
  set(arguments.c, operands.c);
  set(e.bias, operands.bias);
  set(e.scale, operands.scale);
  set(e.residual, operands.residual);
  set(e.aux, operands.aux);
  return arguments;
}

}  // namespace quarry::detail
