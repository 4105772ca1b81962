/// The side of the pipeline that copies, by the threads of a warpgroup (cp.async): for operands whose lines
/// the bulk copy engine cannot address.
#pragma once

#include "common/operand_part.cuh"
#include "gemm/params.hpp"
#include "gemm_sm90/pipeline.cuh"
#include "gemm_sm90/work_list.cuh"

namespace quarry::gemm_sm90 {

/// Where an operand's tiles lie, in lines.
struct LineSource {
  const char* data;       ///< first element of the problem
  long long line_stride;  ///< bytes
  int lines;
  int elements;  ///< of a line
};

template <OperandBox box>
QUARRY_DEVICE LineSource line_source(const OperandPart& part) {
  const long long offset = part.batch * part.matrix.batch_stride +
                           (part.extent.base * part.extent.stride + part.k.base * part.k.stride);
  return {static_cast<const char*>(part.matrix.data) + offset * box.element_bytes,
          (box.k_contiguous ? part.extent.stride : part.k.stride) * box.element_bytes,
          box.k_contiguous ? part.extent.end : part.k.end, box.k_contiguous ? part.k.end : part.extent.end};
}

/// Starts this thread's copies of the tile from (line, element) on: pieces of `alignment` elements,
/// neighbouring threads taking neighbouring pieces of a line. What lies outside the operand becomes zero, and
/// is not read.
template <OperandBox box, int alignment>
QUARRY_DEVICE void copy_tile(const LineSource& source, arch::SharedAddress tile, int first_line,
                             int first_element) {
  static_assert(box.panel_line_bytes() == 128, "eight chunks of a line are permuted");
  constexpr int piece_bytes = alignment * box.element_bytes;
  constexpr int threads_a_line = 128 / piece_bytes;
  constexpr int line_step = warpgroup_threads / threads_a_line;
  static_assert(line_step * threads_a_line == warpgroup_threads && box.lines() % line_step == 0);
  const int thread = arch::thread_index() % warpgroup_threads;
  const int byte = thread % threads_a_line * piece_bytes;
  QUARRY_ROLLED
  for (int panel = 0; panel < box.panels(); ++panel) {
    const int element = first_element + panel * box.panel_line_elements() + byte / box.element_bytes;
    const int left = (source.elements - element) * box.element_bytes;
    const int in_line = left < 0 ? 0 : left < piece_bytes ? left : piece_bytes;
    QUARRY_ROLLED
    for (int line = thread / threads_a_line; line < box.lines(); line += line_step) {
      const bool exists = first_line + line < source.lines && in_line > 0;
      const long long offset = (first_line + line) * source.line_stride + element * box.element_bytes;
      const int at = panel * box.panel_bytes() + line * 128 + ((byte / 16 ^ line % 8) * 16 + byte % 16);
      arch::copy_async<piece_bytes>(tile + at, source.data + (exists ? offset : 0), exists ? in_line : 0);
    }
  }
}

/// Fills stages for all tiles of the block. A stage is said to be full some turns after its copies were
/// started, when they have landed: each thread then puts its own behind a fence, as the matrix instruction
/// reads shared memory another way. The readers release a stage one turn late, so that there must be two
/// stages more than turns.
template <Config config>
QUARRY_DEVICE void produce_by_threads(const GemmParams& params, arch::SharedAddress memory,
                                      const ClusterPlace& place) {
  constexpr OperandBox a = box_a(config);
  constexpr OperandBox b = box_b(config);
  constexpr int turns = config.stages - 2;
  static_assert(turns > 0, "three stages at least");
  Pipeline<config> pipeline(memory);
  Pipeline<config> landed(memory);
  const auto say_full = [&] {
    arch::async_proxy_fence();
    arch::mbarrier_arrive(landed.full());
    landed.advance();
  };
  int under_way = 0;
  QUARRY_ROLLED
  for (WorkList<config> list(params, place); list.has_more(); list.advance()) {
    const TileWork work = list.current();
    const LineSource source_a = line_source<a>(part_of_a(params.a, work, config.tile));
    const LineSource source_b = line_source<b>(part_of_b(params.b, work, config.tile));
    const int row = work.tile_m * config.tile.m;
    const int column = work.tile_n * config.tile.n;
    int k = work.first_k_tile * config.tile.k;
    QUARRY_ROLLED
    for (int tile = 0; tile < work.k_tiles; ++tile, k += config.tile.k) {
      pipeline.acquire();
      copy_tile<a, config.alignment.a>(source_a, pipeline.stage(), a.k_contiguous ? row : k,
                                       a.k_contiguous ? k : row);
      copy_tile<b, config.alignment.b>(source_b, pipeline.stage() + a.bytes(), b.k_contiguous ? column : k,
                                       b.k_contiguous ? k : column);
      arch::copy_async_commit();
      pipeline.advance();
      if (under_way == turns) {
        arch::copy_async_wait<turns>();
        say_full();
      } else {
        ++under_way;
      }
    }
  }
  arch::copy_async_wait<0>();
  for (; under_way > 0; --under_way) say_full();
}

}  // namespace quarry::gemm_sm90
