#include "show_layout.hpp"

#include "operations/common/row.hpp"
#include "output.hpp"
#include "registry/operation.hpp"

namespace quarry::command {
namespace {

/// The layouts of a kernel's device code, and whose they are.
Result<std::string> layout_text(const Kernel& kernel) {
  const detail::Row& row = detail::row_of(kernel);
  const std::string_view family = row.family->name();
  std::string text = std::string(kernel.name()) + "\n";
  if (row.exchanged)
    text += "runs, with its operands exchanged, as the transposed problem: rows are its columns\n";
  if (family == "gemm_sm80")
    return text + layouts_of(*static_cast<const gemm_sm80::Config*>(row.entry_config));
  if (family == "gemm_sm90")
    return text + layouts_of(*static_cast<const gemm_sm90::Config*>(row.entry_config));
  const std::string has_none = "`" + std::string(kernel.name()) + "` has no layouts to show: ";
  if (kernel.metadata().operation != Operation::gemm)
    return Status(StatusCode::unsupported, has_none + "it multiplies nothing");
  return Status(StatusCode::unsupported,
                has_none + "threads of " + std::string(family) +
                    " multiply one element at a time, from lines without a permutation");
}

}  // namespace

int show_layout(std::span<const Kernel> kernels) {
  std::string all;
  for (const Kernel& kernel : kernels) {
    const Result<std::string> text = layout_text(kernel);
    if (!text) return report(text.status());
    all += (all.empty() ? "" : "\n") + *text;
  }
  write_output(all);
  return done;
}

}  // namespace quarry::command
