#include "registry/device/byte_runs.hpp"

#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {
namespace {

/// Adds an extent in front of those with smaller strides.
void insert(const ByteRuns::Extent& extent, ByteRuns& runs) {
  std::size_t place = runs.rank++;
  for (; place > 0 && runs.extents[place - 1].stride < extent.stride; --place)
    runs.extents[place] = runs.extents[place - 1];
  runs.extents[place] = extent;
}

}  // namespace

ByteRuns byte_runs(const TensorView& given) {
  ByteRuns runs;
  runs.begin = reinterpret_cast<std::uintptr_t>(given.data);
  if (!has_elements(given)) return runs;
  const TensorView view = unfolded(given);
  const bool shares_bytes = bits_of(given.dtype) < 8;
  runs.bytes = bytes_for(given.dtype, 1);
  for (std::size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] == 1 || view.strides[i] == 0) continue;
    if (shares_bytes && view.strides[i] == 1) {
      runs.bytes = bytes_for(given.dtype, view.extents[i]);  // all other strides are whole bytes
    } else {
      insert({view.extents[i], bytes_for(given.dtype, view.strides[i])}, runs);
    }
  }
  for (; runs.rank > 0 && runs.extents[runs.rank - 1].stride <= runs.bytes; --runs.rank) {
    ByteRuns::Extent& least = runs.extents[runs.rank - 1];
    runs.bytes += (least.count - 1) * least.stride;
    least = {};
  }
  return runs;
}

}  // namespace quarry::detail
