/// What variables hold that nobody has set, or that nobody may look at: told from numbers by their bits.
#pragma once

#include <cstdint>

namespace quarry::emulator {

/// Emulated kernels are compiled such that variables which nobody has set hold this pattern
/// (-ftrivial-auto-var-init=pattern); as a pair of 16-bit numbers it is two NaNs that no conversion makes.
inline constexpr std::uint32_t never_set = 0xfefefefe;

/// What a thread's sums hold while a matrix instruction of its warpgroup is under way, in f32 and as pairs in
/// f16: NaNs that signal, which no arithmetic leaves as they are.
inline constexpr std::uint32_t under_way_f32 = 0xffb7fdf7;
inline constexpr std::uint32_t under_way_f16 = 0xfdf7fdf7;

}  // namespace quarry::emulator
