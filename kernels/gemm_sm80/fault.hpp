/// Which configs have kernels, for the families whose main loop is this one. Host only.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "common/piece_map.hpp"
#include "config_text.hpp"
#include "gemm/params.hpp"
#include "gemm_sm80/config.hpp"
#include "quarry/tensor.hpp"

namespace quarry::gemm_sm80 {

inline bool all_are(const Types& t, DType type) {
  return t.a == type && t.b == type && t.accumulator == type && t.out == type;
}

/// Types that a matrix instruction takes, and an output that the accumulator is not narrowed for on the way.
inline bool has_instruction(const Types& t, Math math) {
  if (math != Math::exact) return all_are(t, DType::f32);
  if (t.a == DType::f64) return all_are(t, DType::f64);
  if (is_byte(t.a) && is_byte(t.b)) {
    return t.accumulator == DType::s32 && takes_integer_sums(t.out);
  }
  return is_mixed(t) ? has_mixed_types(t) : has_half_types(t);
}

/// Why an instruction cannot be chosen, "" where it can.
inline std::string instruction_fault(const Config& c) {
  const bool halves = c.types.a == c.types.b && is_half(c.types.a);
  const bool doubles = c.types.a == DType::f64;
  if (c.instruction == Instruction::m16n8k8 && !halves && !doubles)
    return "m16n8k8 can be chosen only for f16, bf16 and f64";
  // The assembler of CUDA 13.0 makes a 128x64 one that is wrong with a gated expression (NOTES.md).
  if (c.instruction == Instruction::m16n8k8 && doubles && c.schedule == Schedule::stream_k)
    return "m16n8k8 of f64 needs the schedule one_tile";
  if (c.instruction == Instruction::m16n8k16 && !doubles)
    return "m16n8k16 can be chosen only for f64: for f16 and bf16 it is the default";
  return "";
}

/// Why a config cannot have its epilogue, "" where it can: sums of products of s8 alone are known to be
/// small.
inline std::string epilogue_fault(const Config& c) {
  const Types& t = c.types;
  const bool all_s8 = t.a == DType::s8 && t.b == t.a && t.out == t.a;
  return c.epilogue == EpilogueKind::fast_clamp && !all_s8 ? "fast_clamp can be chosen only for s8" : "";
}

/// Why threads cannot share the copies of an operand, "" where they can. See operand_copy.cuh.
inline std::string copy_fault(std::string_view operand, const OperandTile& tile, int threads) {
  // Narrower copies than cp.async has go through registers, in whole chunks. All copies of a thread are
  // unrolled, and what is in registers should stay there: beyond these numbers, compilers take minutes.
  const bool asynchronous = tile.alignment * tile.element_bytes >= 4;
  const PieceMap map = piece_map(tile, asynchronous ? tile.alignment : tile.chunk_elements(), threads);
  const int most_pieces = asynchronous ? 128 : 16;
  const std::string who = std::to_string(threads) + " threads ";
  const std::string what = "the tile of " + std::string(operand);
  if (!is_shared_evenly(map, threads)) return who + "cannot share the copies of " + what + " evenly";
  if (edge_rounds(tile, map) > most_edge_rounds || map.pieces() > most_pieces) {
    return who + "are too few to copy " + what;
  }
  return "";
}

/// Whether lines so aligned can be copied in pieces of that: of 16 bytes at most.
inline bool is_alignment(int elements, DType type) {
  const bool power_of_two = elements > 0 && (elements & (elements - 1)) == 0;
  return power_of_two && elements * bytes_of(type) <= 16;
}

inline std::string alignment_fault(DType type) {
  std::string most;
  for (int elements = 1; elements * bytes_of(type) <= 16; elements *= 2) {
    const bool last = elements * bytes_of(type) == 16;
    most += (elements == 1 ? "" : last ? " or " : ", ") + std::to_string(elements);
  }
  return "alignment must be " + most;
}

/// Sums that a thread has registers for; with blocks of scales it holds them twice.
inline int most_accumulators(const Config& c) {
  return (c.scales == ScaleSupport::block_scales ? 256 : 512) / compute_bytes(c);
}

/// Why a config cannot take scales, "" where it can.
inline std::string scale_fault(const Config& c) {
  if (c.scales == ScaleSupport::none) return "";
  const DType sums = c.types.accumulator;
  if (sums != DType::f32 && sums != DType::s32) return "sums that are scaled must be f32 or s32";
  if (compute_type(sums, c.types.out) == DType::s32)
    return "an s32 output is computed in s32, which is not scaled";
  if (is_interleaved(c.layouts)) return "interleaved operands have no scales";
  if (c.schedule != Schedule::one_tile) return "scales need the schedule one_tile";
  if (c.epilogue != EpilogueKind::standard) return "scales need the standard epilogue";
  if (sums == DType::s32 && c.warps.k > 1)
    return "s32 sums are scaled only where one warp has all of K: parts of them are exact";
  if (c.scales == ScaleSupport::vector_scales) return "";
  return scale_block % c.tile.k == 0 ? "" : "tile.k must divide 128, after which scales change";
}

/// Why threads cannot share the copies of both operands, "" where they can.
inline std::string copies_fault(const Config& c) {
  std::string copies = copy_fault("a", tile_a(c), threads(c));
  if (copies.empty()) copies = copy_fault("b", tile_b(c), threads(c));
  return copies;
}

/// Why there can be no such kernel whatever brings its operands to shared memory, "" where there can.
inline std::string product_fault(const Config& c) {
  if (!has_instruction(c.types, c.math)) return "no matrix instruction has these types";
  if (std::string why = interleave_fault(c.types, c.layouts); !why.empty()) return why;
  if ((is_byte(c.types.a) && !has_contiguous_rows(c.layouts.a)) ||
      (is_byte(c.types.b) && has_contiguous_rows(c.layouts.b)))
    return "bytes must be contiguous along K: no instruction transposes them";
  if (std::string why = instruction_fault(c); !why.empty()) return why;
  if (std::string why = epilogue_fault(c); !why.empty()) return why;
  if (std::string why = scale_fault(c); !why.empty()) return why;
  if (c.tile.m % c.warps.m != 0 || c.tile.n % c.warps.n != 0 || c.tile.k % c.warps.k != 0) {
    return "the tile is not a multiple of the warps";
  }
  const Tile warp = warp_tile(c);
  if (warp.m % 16 != 0 || warp.n % 16 != 0) return "a warp's tile must be a multiple of 16 along M and N";
  if (warp.k % step_k(c) != 0)
    return "a warp's tile must be a multiple of " + std::to_string(step_k(c)) + " along K";
  if (warp.m * warp.n > 32 * most_accumulators(c))
    return "a warp's tile needs more than " + std::to_string(most_accumulators(c)) + " accumulators a thread";
  if (tile_a(c).line_elements() % tile_a(c).chunk_elements() != 0 ||
      tile_b(c).line_elements() % tile_b(c).chunk_elements() != 0)
    return "lines of a tile must be a multiple of 32 bytes";
  if (std::max({c.warps.m, c.warps.n, c.warps.k}) > 32 || threads(c) > 1024) return "more than 1024 threads";
  if (c.stages < 2 || c.stages > 8) return "stages must be 2 to 8";
  if (!is_alignment(c.alignment.a, c.types.a)) return alignment_fault(c.types.a);
  if (!is_alignment(c.alignment.b, c.types.b)) return alignment_fault(c.types.b);
  return shared_memory_bytes(c) > 227 * 1024 ? "more shared memory than any device has" : "";
}

/// Why there can be no such kernel, "" where there can.
inline std::string fault(const Config& c) {
  if (std::string why = product_fault(c); !why.empty()) return why;
  return copies_fault(c);
}

}  // namespace quarry::gemm_sm80
