/// Which configs have kernels, for the families whose main loop is this one. Host only.
#pragma once

#include <algorithm>
#include <string>

#include "config_text.hpp"
#include "gemm/params.hpp"
#include "gemm_simt/config.hpp"

namespace quarry::gemm_simt {

/// Whether it is f16, bf16, f32 or f64.
inline bool is_float(DType type) { return is_floating(type) && bits_of(type) >= 16; }

inline std::string float_fault(const Types& t) {
  if (is_fp8(t.a) || is_fp8(t.b)) {
    return has_fp8_types(t) ? ""
                            : "e4m3 and e5m2 operands go with one another, are summed in f32, and have an "
                              "output of e4m3, e5m2, f16, bf16 or f32";
  }
  if (!is_float(t.a) || !is_float(t.b))
    return "operands must be both f16, bf16, f32 or f64, or both s8 or u8";
  if (!is_float(t.accumulator) || !is_float(t.out)) {
    return "sums and output of floating-point operands must be f16, bf16, f32 or f64";
  }
  const auto is_f64 = [](DType type) { return type == DType::f64; };
  if (is_f64(t.accumulator) != is_f64(t.a) || is_f64(t.accumulator) != is_f64(t.b)) {
    return "f64 operands, and only they, are summed in f64";
  }
  return t.accumulator == DType::bf16 ? "sums must be f16, f32 or f64" : "";
}

inline std::string byte_fault(const Types& t) {
  if (t.accumulator != DType::s32) return "s8 and u8 operands are summed in s32";
  return takes_integer_sums(t.out) ? "" : "the output of s8 and u8 operands must be s32, s8, u8 or f32";
}

inline std::string type_fault(const Types& t) {
  if (has_weight_types(t)) return "";
  if (is_half_byte(t.a) || is_half_byte(t.b))
    return "s4 and u4 operands go with f16 or bf16, are summed in f32, and have an output of f32 or the "
           "16-bit type";
  if (is_byte(t.a) && is_byte(t.b)) return byte_fault(t);
  if (!is_mixed(t)) return float_fault(t);
  return "beside bytes, an operand is f16 or bf16, sums are f32, the output is one of the two";
}

inline std::string scale_fault(const Config& c) {
  if (c.scales == ScaleSupport::none) return "";
  if (compute_type(c.types.accumulator, c.types.out) == DType::s32)
    return "an s32 output is computed in s32, which is not scaled";
  if (has_zeros(c) && !has_unsigned_weights(c.types))
    return "zero points are for weights of u4 and u8 beside f16 or bf16";
  if (promoted_k(c) % c.tile.k == 0) return "";
  return "tile.k must divide " + std::to_string(promoted_k(c)) + ", after which scales change";
}

/// Whether threads share an operand's tile so that rounds go one way: along M or N, or along K.
inline bool has_even_rounds(int extent, int k, bool k_contiguous, int threads) {
  if (k_contiguous) return threads % k == 0 && extent / 2 % (threads / k) == 0;
  if (threads >= extent) return threads % extent == 0 && k % (threads / extent) == 0;
  return extent / 2 % threads == 0;
}

/// Whether threads are whole warps, as thread_place has them.
inline bool has_whole_warps(const Config& c) {
  return warp_rows(c) * warp_columns(c) == 32 && c.tile.m / c.thread_m % warp_rows(c) == 0 &&
         c.tile.n / c.thread_n % warp_columns(c) == 0;
}

/// Whether a thread's words of B are all the first or all the second of two neighbours, which are swapped.
inline bool keeps_neighbours(const Config& c) {
  return !swaps_neighbours(c) || has_contiguous_rows(c.layouts.b) || threads(c) / c.tile.k % 2 == 0;
}

/// Whether WordSource can copy an operand's tile, or need not.
inline bool shares_words(const Config& c, int extent, bool k_contiguous, int copied) {
  return copied > 1 || (has_even_rounds(extent, c.tile.k, k_contiguous, threads(c)) &&
                        words_copied(c, extent) <= most_words_copied);
}

/// @param c the config whose device code a row runs (entry)
inline std::string pipeline_fault(const Config& c) {
  if (c.stages < 2) return "one stage is read while another is filled";
  if (c.vector != 1 && c.vector != 4) return "a copy moves one element or four";
  if (!is_pipelined(c))
    return c.vector == 1 ? "" : "two stages are filled through registers, one element at a time";
  if (c.types != Types{DType::f32, DType::f32, DType::f32, DType::f32})
    return "operands that are copied asynchronously are f32, like sums and output";
  if (c.scales != ScaleSupport::none) return "operands that have scales pass through registers: two stages";
  if (c.tile.k % 2 != 0 || c.tile.k < 4)
    return "the tile must be even along K, and 4 at least: fragments are read a step ahead, in two sets";
  if (c.thread_n % 2 != 0) return "a thread must have an even number of columns: neighbours are swapped";
  if (!has_whole_warps(c))
    return "threads are not whole warps of 4 x 8, or of all of a tile's few rows or columns";
  const Alignment copied = alignment(c);
  if (c.vector > 1 && copied == Alignment{1, 1})
    return "no operand lies along M or N in as many vectors for each thread";
  if (!shares_words(c, c.tile.m, has_contiguous_rows(c.layouts.a), copied.a) ||
      !shares_words(c, c.tile.n, !has_contiguous_rows(c.layouts.b), copied.b) || !keeps_neighbours(c))
    return "threads do not share the tile's words evenly, or have more than 32 of an operand each";
  return "";
}

/// What families say that address elements by whole bytes.
inline std::string half_byte_fault(const Types& t) {
  return is_half_byte(t.a) || is_half_byte(t.b) ? "s4 and u4 operands are for GEMM kernels" : "";
}

/// Why there can be no such kernel, "" where there can.
inline std::string fault(const Config& c) {
  if (std::string wrong = type_fault(c.types); !wrong.empty()) return wrong;
  if (std::string wrong = scale_fault(c); !wrong.empty()) return wrong;
  if (std::string wrong = interleave_fault(c.types, c.layouts); !wrong.empty()) return wrong;
  if (is_interleaved(c.layouts) &&
      (c.tile.m % interleave != 0 || c.tile.n % interleave != 0 || c.tile.k % interleave != 0))
    return "the tile must be a multiple of 32 for interleaved operands";
  if (c.tile.k % packed_k(c) != 0) return "the tile must be a multiple of 4 along K: a word holds four bytes";
  if (c.tile.m % c.thread_m != 0 || c.tile.n % c.thread_n != 0)
    return "the tile is not a multiple of a thread's part";
  // The output leaves in fours, along N of the entry; and stages begin where vectors of four are aligned.
  if (c.tile.m % 4 != 0 || c.tile.n % 4 != 0) return "the tile is not a multiple of 4 along M and N";
  if (threads(c) > 1024) return "more than 1024 threads";
  if (threads(c) % 32 != 0) return "threads are not whole warps";
  if (c.thread_m * c.thread_n > 128) return "more than 128 accumulators a thread";
  if (std::string wrong = pipeline_fault(entry(c)); !wrong.empty()) return wrong;
  if (shared_memory_bytes(c) > 227 * 1024) return "more shared memory than any device has";
  // Both are unrolled: beyond these numbers, compilers take minutes.
  if (c.thread_m * c.thread_n * k_steps(c) > 2048) {
    return "more than 2048 multiplications a thread in a K tile";
  }
  if (std::max(c.tile.m, c.tile.n) * c.tile.k > 64 * threads(c)) {
    return "more than 64 elements of an operand's tile for a thread to copy";
  }
  return "";
}

}  // namespace quarry::gemm_simt
