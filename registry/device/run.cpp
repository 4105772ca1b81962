/// Kernel::run: everything in one call.
#include "operations/gemm/executor.hpp"
#include "operations/gemm/operation.hpp"
#include "registry/device/cuda_call.hpp"
#include "registry/device/host_arrays.hpp"
#include "registry/device/prepared.hpp"
#include "registry/device/same_device.hpp"

namespace quarry {

Status Kernel::run(const GemmArguments& arguments, const RunOptions& options) const {
  detail::PreparedLaunch prepared;
  if (Status s = detail::prepare_launch(*row_, controls_, arguments, prepared); !s) return s;
  if (!prepared.needed.out) return {};
  if (Status s = prepared.needed.check(detail::operands_of(arguments)); !s) return s;
  GemmLaunch& launch = prepared.launch;
  if (Status s = detail::check_workspace(options.workspace, launch.workspace_bytes); !s) return s;
  if (prepared.place.kind == detail::Place::Kind::host) {
    detail::OperandList operands;
    detail::gemm::Rules::operands(arguments, operands);
    if (Status s = detail::check_host_arrays(operands); !s) return s;
    return host::execute(host::host_kernel(*row_), launch);
  }

  const int device = prepared.place.device;
  if (Status s = detail::check_stream(name(), options.stream, device); !s) return s;
  if (Status s = detail::check_workspace_device(options.workspace, launch.workspace_bytes, device); !s)
    return s;
  const detail::CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  const Result<detail::LaunchFunctions> functions =
      detail::load_functions(*row_, launch, device, options.stream, options.compile);
  if (!functions) return functions.status();
  detail::TensorMaps maps;
  if (Status s = detail::encode_tensor_maps(launch, maps); !s) return s;
  bind_workspace(launch, options.workspace.data);
  return detail::launch_on_stream(*row_, launch, *functions, maps, {options.stream, options.overlap});
}

}  // namespace quarry
