/// Kernel::run: everything in one call.
#include <string>

#include "quarry/memory_pool.hpp"
#include "registry/device/cuda_call.hpp"
#include "registry/device/host_arrays.hpp"
#include "registry/device/launch.hpp"
#include "registry/device/prepared.hpp"
#include "registry/device/same_device.hpp"
#include "registry/device/tensor_map.hpp"
#include "registry/operation.hpp"

namespace quarry {
namespace {

/// Runs a launch on the device where its operands lie.
Status run_on_device(const detail::Row& row, detail::PreparedLaunch& prepared, const RunOptions& options) {
  Launch& launch = prepared.launch;
  const int device = prepared.place.device;
  if (Status s = detail::check_stream(row.metadata.name, options.stream, device); !s) return s;
  if (Status s = detail::check_workspace_device(options.workspace, launch.workspace_bytes, device); !s)
    return s;
  const detail::CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  const Result<detail::LaunchFunctions> functions =
      detail::load_functions(row, launch, device, options.stream, {options.artifact, options.compile});
  if (!functions) return functions.status();
  if (Status s = detail::encode_tensor_maps(launch, prepared.pointers, launch.image); !s) return s;
  return detail::launch_on_stream(row, launch, *functions, launch.image, options.workspace.data,
                                  {options.stream, options.overlap});
}

/// Computes a launch on the host.
Status run_on_host(const detail::Row& row, Arguments arguments, const Launch& launch) {
  const detail::OperationInfo& info = detail::info_of(arguments.operation());
  detail::OperandList operands;
  info.operands(arguments.data(), operands);
  if (Status s = detail::check_host_arrays(operands); !s) return s;
  return info.run_on_host(row, launch, launch.image);
}

/// Computes or launches a launch whose operands were checked, with the workspace of `options`.
Status run_prepared(const detail::Row& row, Arguments arguments, detail::PreparedLaunch& prepared,
                    const RunOptions& options) {
  Launch& launch = prepared.launch;
  if (Status s = detail::check_workspace(options.workspace, launch.workspace_bytes); !s) return s;
  prepared.pointers[Operand::workspace] = options.workspace.data;
  put_pointers(launch, prepared.pointers, launch.image);
  if (prepared.place.kind == detail::RunPlace::Kind::host) return run_on_host(row, arguments, launch);
  return run_on_device(row, prepared, options);
}

/// The same with a workspace from the pool of `options`.
Status run_with_pool(const detail::Row& row, Arguments arguments, detail::PreparedLaunch& prepared,
                     const RunOptions& options) {
  const int device = prepared.place.device;
  if (options.pool->device() != device) {
    return {StatusCode::invalid_workspace, "The memory pool is on device " +
                                               std::to_string(options.pool->device()) +
                                               ", the tensors are on device " + std::to_string(device)};
  }
  if (Status s = detail::check_stream(row.metadata.name, options.stream, device); !s) return s;
  const Result<PooledWorkspace> workspace =
      options.pool->workspace(prepared.launch.workspace_bytes, options.stream);
  if (!workspace) return workspace.status();
  RunOptions with_memory = options;
  with_memory.workspace = *workspace;
  return run_prepared(row, arguments, prepared, with_memory);
}

}  // namespace

Status Kernel::run(Arguments arguments, const RunOptions& options) const {
  detail::PreparedLaunch prepared;
  if (Status s = detail::prepare_launch(*row_, controls_, arguments, prepared, options.assume_supported); !s)
    return s;
  Launch& launch = prepared.launch;
  if (Status s = detail::check_given(*row_, launch, options.artifact); !s) return s;
  if (launch.is_empty()) return {};
  if (Status s = detail::check_pointers(launch, prepared.pointers); !s) return s;
  const bool takes_from_pool = options.pool != nullptr && options.workspace.data == nullptr &&
                               launch.workspace_bytes > 0 &&
                               prepared.place.kind == detail::RunPlace::Kind::device;
  return takes_from_pool ? run_with_pool(*row_, arguments, prepared, options)
                         : run_prepared(*row_, arguments, prepared, options);
}

}  // namespace quarry
