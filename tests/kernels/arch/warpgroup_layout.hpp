/// What the probes of matrix instructions of a warpgroup are given: known to both sides and to the host.
#pragma once

namespace quarry::probes {

/// `in`: the words of both operands as they lie in shared memory; four matrix descriptors of two words each,
/// whose addresses count from the start of shared memory: of A and B for a first instruction, and for a
/// second one; whether the first one adds to the sums; what the sums are at first.
inline constexpr int operand_words = 4 * 1024;
inline constexpr int descriptors_at = operand_words;
inline constexpr int accumulate_at = descriptors_at + 8;
inline constexpr int sums_at = accumulate_at + 1;
inline constexpr int sum_words = 128;

/// Threads of a block that has a multiprocessor for itself, as kernels have that move registers.
struct WholeMultiprocessor {
  int threads;
};
constexpr int threads(WholeMultiprocessor block) { return block.threads; }
constexpr int least_blocks(WholeMultiprocessor) { return 1; }

}  // namespace quarry::probes
