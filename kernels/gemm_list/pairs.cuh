/// Problems of lists as an epilogue sees them: with gated pairs, the output has half of B's columns.
#pragma once

#include "common/epilogue.cuh"
#include "gemm_list/schedule.cuh"

namespace quarry {

/// What N of a problem counts in. @tparam Epilogue or code @param b and alignment of B
template <class Epilogue>
constexpr int list_unit(Layout b, int alignment) {
  return is_gated<Epilogue>() ? pair_unit(has_eights<Epilogue>(), b, alignment) : 1;
}

/// A problem whose extents are the output's.
template <class Epilogue>
QUARRY_DEVICE ListEntry output_entry(const ListEntry& problem) {
  return {problem.batch, output_extents<is_gated<Epilogue>()>(problem.extents)};
}

}  // namespace quarry
