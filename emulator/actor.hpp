/// The places of a block's threads in views, and of what works in their service beside them: see clock.hpp.
#pragma once

namespace quarry::emulator {

/// Threads of a warpgroup, and how many a block may have.
inline constexpr unsigned warpgroup_threads = 128;
inline constexpr unsigned most_warpgroups = 8;

/// The place of a warpgroup's matrix instructions, whose steps are the groups of them that have ended.
constexpr unsigned matrix_place(unsigned threads, unsigned warpgroup) { return threads + warpgroup; }

/// Places that every block has, one a thread and one a warpgroup; others follow.
constexpr unsigned places(unsigned threads) { return threads + most_warpgroups; }

}  // namespace quarry::emulator
