/// quarry::reorder: on the host, or by a kernel.
#include "quarry/reorder.hpp"

#include <limits>
#include <string>

#include "entry_text.hpp"
#include "operations/common/tensor_checks.hpp"
#include "registry/device/cuda_call.hpp"
#include "registry/device/launch.hpp"
#include "registry/device/library.hpp"
#include "registry/device/memory.hpp"
#include "registry/device/same_device.hpp"
#include "registry/host/reorder.hpp"

namespace quarry {
namespace {

bool has_elements(const TensorView& view) {
  for (std::size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] == 0) return false;
  }
  return true;
}

/// Where a tensor lies. @pre it has data
Result<Memory> memory_of(const TensorView& view, Operand name) {
  if (view.memory.kind > MemoryKind::pinned || view.memory.device < 0) {
    return detail::invalid("Operand `" + std::string(to_string(name)) +
                           "` lies in no kind of memory that there is");
  }
  return view.memory.kind == MemoryKind::automatic ? detail::locate(view.data) : view.memory;
}

/// The device that copies; -1: the host. Managed and pinned memory goes with any device.
Result<int> place_of(const TensorView& from, const TensorView& to) {
  const Result<Memory> source = memory_of(from, Operand::from);
  if (!source) return source.status();
  const Result<Memory> target = memory_of(to, Operand::to);
  if (!target) return target.status();
  const bool host = target->kind == MemoryKind::host;
  const auto fixed = [](const Memory& memory) { return memory.kind == MemoryKind::device; };
  const bool two_devices = fixed(*source) && fixed(*target) && source->device != target->device;
  if (host != (source->kind == MemoryKind::host) || two_devices) {
    return detail::invalid(
        "Operand `from` lies elsewhere than `to`: both must be in host memory, or in memory of one device");
  }
  if (host) return -1;
  return fixed(*source) ? source->device : target->device;
}

Status reorder_on(int device, const TensorView& from, const TensorView& to, const ReorderOptions& options) {
  const ReorderParams params = host::reorder_params(from, to);
  const long long grid = reorder_matrix::grid(params.rows, params.columns, params.batch);
  constexpr long long grid_limit = std::numeric_limits<int>::max();
  if (grid > grid_limit)
    return {StatusCode::unsupported, detail::Reason::grid_limit, Operand::none, grid_limit, grid};
  const reorder_matrix::Config config = {bytes_of(to.dtype)};
  const std::string name = reorder_name(to.dtype);
  const std::optional<std::uint32_t> entry = detail::find_entry(name);
  if (!entry) return {StatusCode::not_precompiled, "The kernel `" + name + "` is not in this library"};

  if (Status s = detail::check_stream(name, options.stream, device); !s) return s;
  const detail::CurrentDevice current(device);
  if (Status s = current.status(); !s) return s;
  const auto shared_memory = static_cast<unsigned>(reorder_matrix::shared_memory_bytes(config));
  const Result<detail::DeviceFunction> function =
      detail::load_function(*entry, device, shared_memory, options.stream, options.compile);
  if (!function) return function.status();
  const detail::GridShape shape = {.grid = static_cast<unsigned>(grid),
                                   .threads = static_cast<unsigned>(reorder_matrix::threads(config)),
                                   .shared_memory = shared_memory};
  return detail::launch_function(name, *function, shape, options.stream, &params);
}

}  // namespace

Status reorder(const TensorView& from, const TensorView& to, const ReorderOptions& options) {
  if (Status s = host::check_reorder(from, to); !s) return s;
  if (!has_elements(to)) return {};
  constexpr auto no_data = detail::Reason::null_data;
  if (from.data == nullptr) return {StatusCode::invalid_arguments, no_data, Operand::from};
  if (to.data == nullptr) return {StatusCode::invalid_arguments, no_data, Operand::to};
  const Result<int> device = place_of(from, to);
  if (!device) return device.status();
  if (*device >= 0) return reorder_on(*device, from, to, options);
  host::reorder(from, to);
  return {};
}

}  // namespace quarry
