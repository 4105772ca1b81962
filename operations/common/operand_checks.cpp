#include "operations/common/operand_checks.hpp"

#include <string>

#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {
namespace {

/// What earlier operands said of where the problem lies.
class KnownPlace {
 public:
  /// Whether this view can lie beside them.
  bool admits(const TensorView& view) {
    const MemoryKind kind = view.memory.kind;
    if (kind == MemoryKind::automatic) return true;
    const bool host = kind == MemoryKind::host;
    if (known_ && host != host_) return false;
    known_ = true;
    host_ = host;
    if (kind != MemoryKind::device) return true;  // managed and pinned memory goes with any device
    if (device_ >= 0 && device_ != view.memory.device) return false;
    device_ = view.memory.device;
    return true;
  }

 private:
  bool known_ = false;
  bool host_ = false;
  int device_ = -1;
};

/// Checks an operand against one output. @param other an input, or an output in front of it in the list
Status check_overlap(const OperandRef& other, const OperandRef& output) {
  const bool is_out = output.name == Operand::out;
  if (is_out && other.may_be_out && is_in_place(*other.view, *output.view)) return {};
  if (!may_overlap(*other.view, *output.view)) return {};
  return output_overlap(other.name, other.may_be_out, output.name);
}

[[gnu::noinline, gnu::cold]] Status unknown_memory(Operand name) {
  return invalid("Operand `" + std::string(to_string(name)) + "` has an unknown kind of memory");
}

}  // namespace

bool is_in_place(const TensorView& input, const TensorView& out) {
  if (input.data != out.data || input.rank != out.rank || input.tag != out.tag) return false;
  if (input.is_pointer_array != out.is_pointer_array) return false;
  for (std::size_t i = 0; i < input.rank; ++i) {
    if (input.extents[i] != out.extents[i]) return false;  // it is broadcast
    const bool is_strided = i > 0 || !input.is_pointer_array;
    if (is_strided && input.extents[i] > 1 && input.strides[i] != out.strides[i]) return false;
  }
  return true;
}

Status output_overlap(Operand operand, bool may_be_out, Operand output) {
  const int may_be_that = may_be_out && output == Operand::out ? 1 : 0;
  return {StatusCode::invalid_arguments, Reason::output_overlap, operand, may_be_that,
          static_cast<int>(output)};
}

Status check_memory(const OperandList& operands) {
  KnownPlace place;
  Placing placing(operands.front().name);
  for (const OperandRef& operand : operands) {
    const TensorView& view = *operand.view;
    if (view.memory.kind > MemoryKind::pinned || view.memory.device < 0) {
      return unknown_memory(operand.name);
    }
    if (!place.admits(view)) return placing.elsewhere(view, view.memory.kind, operand.name);
    placing.note(view, view.memory.kind, operand.name);
  }
  return {};
}

Status check_overlaps(const OperandList& operands) {
  const OperandRef* outputs[OperandList::most_tensors];
  std::size_t count = 0;
  for (const OperandRef& operand : operands) {
    if (!operand.is_output) {
      if (Status s = check_input_strides(*operand.view, operand.name); !s) return s;
    } else if (operand.view->data != nullptr) {
      outputs[count++] = &operand;
    }
  }
  if (count == 0) return {};
  for (const OperandRef& operand : operands) {
    if (operand.is_output || operand.is_unused) continue;
    for (std::size_t i = 0; i < count; ++i) {
      if (Status s = check_overlap(operand, *outputs[i]); !s) return s;
    }
  }
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t before = 0; before < i; ++before) {
      if (Status s = check_overlap(*outputs[before], *outputs[i]); !s) return s;
    }
  }
  return {};
}

Status check_data(const OperandList& operands) {
  for (const OperandRef& operand : operands) {
    if (operand.is_unused || operand.view->data != nullptr || !has_elements(*operand.view)) continue;
    return {StatusCode::invalid_arguments, Reason::null_data, operand.name};
  }
  return {};
}

}  // namespace quarry::detail
