#include "lab/problems/matrices.hpp"

namespace quarry::lab {

double memory_bytes(const TensorView& view) {
  const Matrices m(view);
  if (m.is_empty()) return 0;
  double last = 0;
  for (std::size_t i = view.is_pointer_array ? 1 : 0; i < view.rank; ++i) {
    const bool grouped =
        (i + 2U == view.rank && groups_rows(view.tag)) || (i + 1U == view.rank && groups_columns(view.tag));
    const std::int64_t steps = grouped ? (view.extents[i] - 1) / interleave : view.extents[i] - 1;
    last +=
        static_cast<double>(steps) * static_cast<double>(view.strides[i]) + (grouped ? interleave - 1 : 0);
  }
  const double matrices = m.is_array() ? static_cast<double>(m.count()) : 1;
  return matrices * (last + 1) * bits_of(m.type()) / 8;
}

double element_bytes(const TensorView& view) {
  double elements = 1;
  for (std::size_t i = 0; i < view.rank; ++i) elements *= static_cast<double>(view.extents[i]);
  return elements * bits_of(view.dtype) / 8;
}

}  // namespace quarry::lab
