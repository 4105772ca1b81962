#include "operations/conv2d/lab/controls.hpp"

#include <algorithm>
#include <string>

#include "operations/common/controls.hpp"
#include "operations/conv2d/lab/definition.hpp"

namespace quarry::lab::conv2d {
namespace {

/// Taps of an axis that a position of the image has a part in, at most, where outputs lie `stride` apart.
std::int64_t most_taps(std::int64_t image, std::int64_t taps, std::int64_t padding, std::int64_t stride,
                       std::int64_t dilation, bool flips) {
  std::int64_t most = 0;
  for (std::int64_t position = 0; position < std::min(image, stride); ++position) {
    std::int64_t count = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::int64_t turned = flips ? taps - 1 - tap : tap;
      count += (position + padding - turned * dilation) % stride == 0;
    }
    most = std::max(most, count);
  }
  return most;
}

/// Products of one output, as far as none is in the padding: with phases, of one that has the most taps.
std::int64_t terms_of(const KernelMetadata& kernel, const Conv2dArguments& args) {
  if (args.epilogue.alpha.pointer == nullptr && args.epilogue.alpha.value == 0) return 0;
  const bool has_phases =
      args.direction == Direction::dgrad && kernel.design.strides == WindowStrides::strided;
  if (!has_phases) return terms_of_output(args);
  const auto& x = args.out.extents;
  const auto& w = args.b.extents;
  return w[0] / args.groups *
         most_taps(x[1], w[1], args.padding.height, args.stride.height, args.dilation.height, args.flips) *
         most_taps(x[2], w[2], args.padding.width, args.stride.width, args.dilation.width, args.flips);
}

/// Whether a kernel cannot cut K into as many slices as are asked for.
bool has_too_many_slices(const KernelMetadata& kernel, const Conv2dArguments& args) {
  constexpr int portable_cluster = 8;
  const Controls& controls = args.controls;
  const std::int64_t slices = controls.split_k_slices.value_or(1);
  const ModesMetadata& modes = kernel.modes;
  const bool never = !modes.split_k_serial && !modes.split_k_parallel && !modes.split_k_cluster;
  const bool by_cluster =
      controls.mode == Mode::split_k_cluster || (!modes.split_k_serial && !modes.split_k_parallel);
  return slices > 1 &&
         (never || slices > least_k_tiles(kernel, args) || (by_cluster && slices > portable_cluster));
}

}  // namespace

bool has_one_order(const KernelMetadata& kernel) {
  return kernel.design.iterator == WindowIterator::window && kernel.direction != Direction::wgrad;
}

std::int64_t least_k_tiles(const KernelMetadata& kernel, const Conv2dArguments& args) {
  const int tile = kernel.design.tile.k;
  return std::max<std::int64_t>((terms_of(kernel, args) + tile - 1) / tile, 1);
}

std::optional<bool> breaks_controls(const Status& status, const KernelMetadata& kernel,
                                    const Conv2dArguments& args) {
  const Controls& controls = args.controls;
  const DesignMetadata& design = kernel.design;
  const Cluster cluster = design.cluster.value_or(Cluster{});
  const bool is_persistent = design.schedule && *design.schedule != Schedule::one_tile;
  switch (status.reason()) {
    case Reason::mode: return controls.mode && !detail::permits(kernel.modes, {.mode = controls.mode});
    case Reason::split_k_slices: return has_too_many_slices(kernel, args);
    case Reason::multiprocessors:
      return controls.multiprocessors && *controls.multiprocessors < cluster.m * cluster.n;
    case Reason::control: break;
    default: return std::nullopt;
  }
  const std::string message = status.message();
  const auto names = [&](std::string_view control) { return message.find(control) != message.npos; };
  if (names("`multiprocessors`")) return controls.multiprocessors && !is_persistent;
  if (names("`swizzle`")) return has_one_order(kernel) && controls.swizzle.value_or(1) != 1;
  return names("`raster`") && has_one_order(kernel) && controls.raster == Raster::along_m;
}

}  // namespace quarry::lab::conv2d
