#include "registry/device/host_operands.hpp"

#include <string>

#include "operations/common/operand_list.hpp"
#include "operations/common/tensor_checks.hpp"
#include "registry/device/memory.hpp"
#include "registry/operation.hpp"

namespace quarry::detail {
namespace {

std::string operand_text(Operand name) { return "Operand `" + std::string(to_string(name)) + "`"; }

/// Ok for plain and page-locked host memory.
Status check_is_host(const void* data, const Memory& said, Operand name) {
  const Memory memory = said.kind == MemoryKind::automatic ? locate(data) : said;
  if (memory.kind == MemoryKind::host || memory.kind == MemoryKind::pinned) return {};
  const std::string place = memory.kind == MemoryKind::managed
                                ? std::string("managed memory")
                                : "memory of CUDA device " + std::to_string(memory.device);
  return invalid(operand_text(name) + " lies in " + place +
                 ": OnDevice copies tensors in host memory only. If all tensors lie there, run the kernel "
                 "without it");
}

Status check_view(const OperandRef& operand) {
  const TensorView& view = *operand.view;
  if (Status s = check_tensor(view, operand.name, 1, TensorView::max_rank); !s) return s;
  if (view.is_pointer_array) {
    return {StatusCode::unsupported, operand_text(operand.name) +
                                         " is an array of pointers, whose matrices OnDevice does not copy: "
                                         "use a strided batch"};
  }
  if (view.data == nullptr) {
    if (operand.is_unused || !has_elements(view)) return {};
    return {StatusCode::invalid_arguments, Reason::null_data, operand.name};
  }
  return check_is_host(view.data, view.memory, operand.name);
}

}  // namespace

Status find_host_operands(const Arguments& arguments, const Kernel& kernel, const Memory& place,
                          std::vector<HostOperand>& operands) {
  OperandList list;
  info_of(arguments.operation()).operands(arguments.data(), list);
  for (const OperandRef& operand : list) {
    if (operand.view->dtype == DType::none) continue;  // stands for an operand that is missing
    if (Status s = check_view(operand); !s) return s;
    auto& view = const_cast<TensorView&>(*operand.view);
    if (view.data != nullptr) {
      operands.push_back({.data = &view.data,
                          .on_host = view,
                          .runs = byte_runs(view),
                          .is_output = operand.is_output,
                          .is_read = !operand.is_unused && (!operand.is_output || operand.may_stay)});
    }
    view.memory = place;
  }
  const DType number = kernel.metadata().operands.accumulator == DType::f64 ? DType::f64 : DType::f32;
  for (const ScalarRef& scalar : list.scalars()) {
    const void*& data = const_cast<Scalar*>(scalar.scalar)->pointer;
    if (data == nullptr) continue;
    if (Status s = check_is_host(data, {}, scalar.name); !s) return s;
    const TensorView view = TensorView::vector(data, number, 1);  // s32 has as many bytes as f32
    operands.push_back({.data = &data, .on_host = view, .runs = byte_runs(view), .is_read = true});
  }
  return {};
}

}  // namespace quarry::detail
