#include "operations/common/controls.hpp"

#include <string>

#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {

Status check_controls(const Controls& controls) {
  const int slices = controls.split_k_slices.value_or(1);
  if (controls.mode && *controls.mode > Mode::stream_k) {
    return invalid("There is no mode of number " + std::to_string(static_cast<int>(*controls.mode)));
  }
  if (slices < 1) {
    return invalid("Control `split_k_slices` must be 1 or more, and is " + std::to_string(slices));
  }
  if (slices > 1 && (controls.mode == Mode::gemm || controls.mode == Mode::stream_k)) {
    return invalid("Control `split_k_slices` is " + std::to_string(slices) +
                   ", which needs a mode of split_k_serial, split_k_parallel or split_k_cluster, not " +
                   std::string(to_string(*controls.mode)));
  }
  const int swizzle = controls.swizzle.value_or(1);
  if (swizzle != 1 && swizzle != 2 && swizzle != 4 && swizzle != 8) {
    return {StatusCode::invalid_arguments, Reason::swizzle, Operand::none, 0, swizzle};
  }
  if (controls.raster && *controls.raster > Raster::along_m) {
    return invalid("There is no raster of number " + std::to_string(static_cast<int>(*controls.raster)));
  }
  if (const int most = controls.multiprocessors.value_or(1); most < 1) {
    return {StatusCode::invalid_arguments, Reason::multiprocessors, Operand::none, 1, most};
  }
  return {};
}

Status no_such_cut(const Controls& controls) {
  if (!controls.mode)
    return {StatusCode::unsupported, Reason::split_k_slices, Operand::none, 1, *controls.split_k_slices};
  return {StatusCode::unsupported, Reason::mode, Operand::none, 0, static_cast<int>(*controls.mode)};
}

Status check_multiprocessors(const DesignMetadata& design, const Controls& controls) {
  const bool is_persistent = design.schedule && *design.schedule != Schedule::one_tile;
  if (is_persistent || !controls.multiprocessors) return {};
  return {StatusCode::unsupported, Reason::control, Operand::none, 0,
          static_cast<int>(ControlName::multiprocessors)};
}

Controls merged(const Controls& arguments, const Controls& kernel) {
  Controls result = arguments;
  if (!result.swizzle) result.swizzle = kernel.swizzle;
  if (!result.raster) result.raster = kernel.raster;
  const bool other_mode = arguments.mode && arguments.mode != kernel.mode;
  const bool other_slices = arguments.split_k_slices && arguments.split_k_slices != kernel.split_k_slices;
  if (other_mode || other_slices) return result;
  if (!result.mode) result.mode = kernel.mode;
  if (!result.split_k_slices) result.split_k_slices = kernel.split_k_slices;
  return result;
}

}  // namespace quarry::detail
