/// The room of works that the copying warp finds for others (handed_list.cuh), in kernels whose lists take
/// long.
#pragma once

#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

/// Works that are under way at most: with ping_pong, one warpgroup asks for two behind the other one's.
inline constexpr int handed_works = 4;
inline constexpr int handed_work_bytes = 32;

/// Where they lie in shared memory, in sixteens, and their barriers behind them; how many bytes there are:
/// the works, with two barriers each.
constexpr int handed_works_offset(const Config& c) { return (shared_memory_bytes(c) + 15) / 16 * 16; }
constexpr int handed_barriers_offset(const Config& c) {
  return handed_works_offset(c) + handed_works * handed_work_bytes;
}
inline constexpr int all_handed_bytes = handed_works * (handed_work_bytes + 16);

}  // namespace quarry::gemm_sm90
