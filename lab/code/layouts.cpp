#include "lab/code/layouts.hpp"

#include "operations/common/row.hpp"
#include "registry/operation.hpp"

namespace quarry::lab {

Result<std::string> layout_text(const Kernel& kernel) {
  const detail::Row& row = detail::row_of(kernel);
  const std::string_view family = row.metadata.family;
  std::string text = std::string(kernel.name()) + "\n";
  if (row.exchanged)
    text += "runs, with its operands exchanged, as the transposed problem: rows are its columns\n";
  if (family == "gemm_sm80")
    return text + layouts_of(*static_cast<const gemm_sm80::Config*>(row.entry_config));
  if (family == "gemm_sm90")
    return text + layouts_of(*static_cast<const gemm_sm90::Config*>(row.entry_config));
  const std::string has_none = "`" + std::string(kernel.name()) + "` has no layouts to show: ";
  if (!is_product(kernel.metadata().operation))
    return Status(StatusCode::unsupported, has_none + "it multiplies nothing");
  if (kernel.metadata().design.math_unit == MathUnit::tensor_core)
    return Status(StatusCode::unsupported, has_none + "they are shown for gemm_sm80 and gemm_sm90 alone");
  return Status(StatusCode::unsupported,
                has_none + "threads of " + std::string(family) +
                    " multiply one element at a time, from lines without a permutation");
}

}  // namespace quarry::lab
