#include "operations/common/row_checks.hpp"

#include <string>

namespace quarry::detail {

static constexpr auto unsupported = StatusCode::unsupported;

Status check_operation(const Row& row, Operation asked) {
  const Operation expected = row.metadata.operation;
  if (expected == asked) return {};
  return {unsupported, "Operation is unsupported: expected " + std::string(to_string(expected)) + ", got " +
                           std::string(to_string(asked))};
}

Status check_type(Operand name, DType expected, DType got) {
  if (expected == got) return {};
  return {unsupported, Reason::dtype, name, static_cast<int>(expected), static_cast<int>(got)};
}

Status check_math(Math kernel, Math allowed) {
  if (kernel == Math::exact || kernel == allowed) return {};
  return {unsupported, "Math is unsupported: expected " + std::string(to_string(kernel)) + ", got " +
                           std::string(to_string(allowed))};
}

Status check_compute_capability(const KernelMetadata& kernel, int cc) {
  if (cc >= kernel.cc && (!kernel.max_cc || cc <= *kernel.max_cc)) return {};
  return {unsupported, Reason::compute_capability, Operand::none, cc < kernel.cc ? kernel.cc : *kernel.max_cc,
          cc};
}

}  // namespace quarry::detail
