// The parts of Kernel that need no device.
#include "quarry/kernel.hpp"

#include "chosen_controls.hpp"
#include "operations/common/row_checks.hpp"
#include "registry/compile/store.hpp"
#include "registry/operation.hpp"

namespace quarry {

using namespace detail;

const KernelMetadata& Kernel::metadata() const { return row_->metadata; }

Controls Kernel::controls() const { return row_->exchanged ? exchanged(controls_) : controls_; }

bool Kernel::precompiled(int cc) const {
  return check_compute_capability(row_->metadata, cc) && has_machine_code(row_->entry, cc);
}

bool Kernel::precompiled(int cc, Arguments problem) const {
  if (!check_arguments(*row_, problem) || !check_compute_capability(row_->metadata, cc)) return false;
  return info_of(problem.operation()).has_code(*row_, problem.data(), cc);
}

Status Kernel::supports(Arguments arguments) const {
  if (Status s = check_arguments(*row_, arguments); !s) return s;
  return info_of(arguments.operation()).supports(*row_, arguments.data());
}

Result<std::size_t> Kernel::workspace_size(Arguments arguments) const {
  if (Status s = check_arguments(*row_, arguments); !s) return s;
  return info_of(arguments.operation()).workspace_size(*row_, controls_, arguments.data());
}

}  // namespace quarry
