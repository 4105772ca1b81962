/// Random problems for what the registry holds, mostly near to what some kernel takes.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "quarry/quarry.hpp"
#include "support/operation_rows.hpp"
#include "support/random_gemm.hpp"

namespace quarry::test {

/// The rows that compute GEMMs.
inline std::span<const detail::Row> gemm_rows() { return rows_of(Operation::gemm); }

/// Whether a row is for problems without scales of operands.
inline bool takes_unscaled(const detail::Row& row) {
  return row.metadata.operands.scales == ScaleSupport::none;
}

/// One that computes GEMMs of operands without scales.
inline const detail::Row& any_row(Random& random) {
  const auto rows = gemm_rows();
  for (;;) {
    const detail::Row& row = rows[random() % rows.size()];
    if (takes_unscaled(row)) return row;
  }
}

/// Gives the operands of a problem scales where a kernel needs them: A one value, each column of B another.
inline void give_scales(const KernelMetadata& kernel, GemmArguments& args) {
  if (kernel.operands.scales == ScaleSupport::none) return;
  args.a_scale = TensorView::row_major(nullptr, DType::f32, {1, 1});
  args.b_scale = TensorView::row_major(nullptr, DType::f32, {1, args.out.extents[args.out.rank - 1U]});
  args.b_scale_granularity = ScaleGranularity::column;
  if (kernel.operands.scales != ScaleSupport::zero_points) return;
  args.b_zero = TensorView::row_major(nullptr, DType::u8, {1, args.out.extents[args.out.rank - 1U]});
}

inline Types types_of(const detail::Row& row) {
  const OperandsMetadata& o = row.metadata.operands;
  return {o.a.dtype, o.b.dtype, o.accumulator, o.out.dtype};
}

inline Layouts layouts_of(const detail::Row& row) {
  const OperandsMetadata& o = row.metadata.operands;
  return {o.a.layout, o.b.layout, o.out.layout};
}

inline Controls random_controls(Random& random) {
  Controls controls;
  if (random() % 4 == 0) controls.mode = static_cast<Mode>(between(random, 0, 4));
  const bool is_whole = controls.mode == Mode::gemm || controls.mode == Mode::stream_k;
  if (random() % 4 == 0) controls.split_k_slices = is_whole ? 1 : between(random, 1, 12);
  if (random() % 4 == 0) controls.swizzle = 1 << between(random, 0, 3);
  if (random() % 4 == 0) controls.raster = static_cast<Raster>(between(random, 0, 1));
  if (random() % 8 == 0) controls.multiprocessors = between(random, 1, 200);
  return controls;
}

/// Blocks of a kernel's cluster.
inline int cluster_blocks(const DesignMetadata& design) {
  return design.cluster ? design.cluster->m * design.cluster->n : 1;
}

inline bool is_persistent(const DesignMetadata& design) {
  return design.schedule && *design.schedule != Schedule::one_tile;
}

/// Whether a kernel has a mode.
inline bool has_mode(const KernelMetadata& kernel, Mode mode) {
  switch (mode) {
    case Mode::split_k_serial: return kernel.modes.split_k_serial;
    case Mode::split_k_parallel: return kernel.modes.split_k_parallel;
    case Mode::split_k_cluster: return kernel.modes.split_k_cluster;
    case Mode::stream_k: return kernel.modes.stream_k;
    default: return true;
  }
}

/// Controls without what a kernel does not permit, whatever the problem.
inline Controls permitted(Controls controls, const KernelMetadata& kernel) {
  if (kernel.modes.stream_k) {
    controls.split_k_slices.reset();
    if (controls.mode != Mode::gemm) controls.mode = Mode::stream_k;
  } else if (controls.mode && !has_mode(kernel, *controls.mode)) {
    controls.mode = kernel.modes.split_k_parallel ? Mode::split_k_parallel : Mode::gemm;
  }
  const ModesMetadata& modes = kernel.modes;
  const bool cuts = modes.split_k_serial || modes.split_k_parallel || modes.split_k_cluster;
  if (!cuts || controls.mode == Mode::gemm) controls.split_k_slices.reset();
  if (controls.mode == Mode::split_k_cluster && controls.split_k_slices) {
    controls.split_k_slices = std::min(*controls.split_k_slices, 8);
  }
  if (!is_persistent(kernel.design)) controls.multiprocessors.reset();
  if (controls.multiprocessors) {
    controls.multiprocessors = std::max(*controls.multiprocessors, cluster_blocks(kernel.design));
  }
  return controls;
}

/// A legal problem of the types and layouts of a row; now and then strides broadcast, or are no multiple of
/// anything.
inline GemmArguments problem_for(Random& random, const detail::Row& row) {
  constexpr int extents[] = {40, 300, 5000};
  const int most = one_of(random, extents);
  constexpr int alignments[] = {1, 4, 8, 16, 16, 16};
  GemmArguments args =
      random_shape(random, types_of(row), layouts_of(row),
                   {.m = most, .n = most, .k = most, .alignment_bytes = one_of(random, alignments)});
  args.math = row.metadata.design.math;
  if (args.math == Math::exact && coin(random)) args.math = static_cast<Math>(between(random, 0, 4));
  args.controls = random_controls(random);
  const auto restrided = [&random](TensorView& view, std::int64_t stride) {
    const int first =
        view.tag == LayoutTag::strided ? view.rank - 1 : view.rank - 3;  // interleaved: the batch's
    if (first >= 0) view.strides[static_cast<std::size_t>(between(random, 0, first))] = stride;
    view.overlapping = stride > 0;
  };
  if (random() % 16 == 0) restrided(args.a, 0);
  if (random() % 16 == 0) restrided(args.b, 3);
  return args;
}

/// The built-in devices, and others by which limits are met: 8.6 with little shared memory, 7.5 that no
/// kernel runs on.
inline std::vector<DeviceModel> some_devices() {
  std::vector<DeviceModel> devices(device_models().begin(), device_models().end());
  DeviceModel small = devices.front();
  small.cc = 86;
  small.shared_memory_per_block = 99 * 1024;
  small.shared_memory_per_multiprocessor = 100 * 1024;
  small.multiprocessors = 46;
  devices.push_back(small);
  small.cc = 75;
  devices.push_back(small);
  return devices;
}

/// A device by name, which there is.
inline DeviceModel device_named(std::string_view name) { return *find_device_model(name); }

inline const DeviceModel& h200() {
  static const DeviceModel device = device_named("h200");
  return device;
}

/// What is asked of an H200.
inline FindOptions on_h200() {
  FindOptions options;
  options.device = &h200();
  return options;
}

/// f16 operands, row x column into row, packed and fake.
inline GemmArguments plain_problem(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::f16) {
  return {.a = TensorView::row_major(nullptr, type, {m, k}),
          .b = TensorView::column_major(nullptr, type, {k, n}),
          .out = TensorView::row_major(nullptr, type, {m, n})};
}

}  // namespace quarry::test
