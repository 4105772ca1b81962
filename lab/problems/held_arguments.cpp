#include "lab/problems/held_arguments.hpp"

#include "registry/operation.hpp"

namespace quarry::lab {

void list_operands(const Arguments& arguments, detail::OperandList& operands) {
  detail::info_of(arguments.operation()).operands(arguments.data(), operands);
}

void HeldArguments::list(detail::OperandList& operands) const { list_operands(*this, operands); }

HeldArguments with(const Controls& controls, HeldArguments arguments) {
  if (Controls* const own = arguments.controls()) *own = controls;
  return arguments;
}

}  // namespace quarry::lab
