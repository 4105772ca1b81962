#include "registry/operation.hpp"

#include <string>
#include <type_traits>

#include "operations/common/row_checks.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {

Status check_arguments(const Arguments& arguments) {
  const auto number = static_cast<std::size_t>(arguments.operation());
  if (number >= operations().size())
    return invalid("There is no operation of number " + std::to_string(number));
  const OperationInfo& info = operations()[number];
  if (arguments.bytes() == info.argument_bytes) return {};
  return invalid("The arguments of " + std::string(info.name) + " have " + std::to_string(arguments.bytes()) +
                 " bytes, and this library expects " + std::to_string(info.argument_bytes) +
                 ": the program was compiled with the headers of another version");
}

Status check_arguments(const Row& row, const Arguments& arguments) {
  if (Status s = check_arguments(arguments); !s) return s;
  return check_operation(row, arguments.operation());
}

const Row& row_of(const Kernel& kernel) {
  // A kernel refers to its row's metadata, which is the row's first member.
  static_assert(std::is_standard_layout_v<Row> && offsetof(Row, metadata) == 0);
  return reinterpret_cast<const Row&>(kernel.metadata());
}

}  // namespace quarry::detail
