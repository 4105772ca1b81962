#include "registry/device/needed_code.hpp"

#include "operations/common/row.hpp"
#include "registry/operation.hpp"
#include "registry/query/own_kernels.hpp"

namespace quarry::detail {

Result<std::vector<NeededCode>> needed_code(const Kernel& kernel, Arguments problem,
                                            const DeviceModel* device) {
  const Row& row = row_of(kernel);
  const OperationInfo& info = info_of(problem.operation());
  OperandList operands;
  info.operands(problem.data(), operands);
  Launch launch;
  if (Status s = info.prepare(row, kernel.entry_controls(), problem.data(), operands, device, launch); !s)
    return s;
  std::vector<NeededCode> needed;
  for (const Step& step : launch.steps) {
    if (step.kind != Step::Kind::kernel) continue;
    const std::uint32_t entry = entry_of_step(row, launch, step);
    if (entry == no_entry)
      return Status(StatusCode::not_precompiled, "a kernel that follows it is not in this library");
    needed.push_back({entry, step.shared_memory});
  }
  return needed;
}

}  // namespace quarry::detail
