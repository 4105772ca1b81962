/// The side of the pipeline that copies, by the threads of a warpgroup (cp.async): for operands whose lines
/// the bulk copy engine cannot address.
#pragma once

#include "common/operand_part.cuh"
#include "gemm_sm90/bias.cuh"
#include "gemm_sm90/params.hpp"
#include "gemm_sm90/pipeline.cuh"
#include "gemm_sm90/work_list.cuh"

namespace quarry::gemm_sm90 {

/// A source of lines: an operand of one tile of the output, as it lies in memory. @tparam alignment of its
/// lines, in elements
template <OperandBox box, int alignment>
class LineSource {
 public:
  QUARRY_DEVICE explicit LineSource(const OperandPart& part)
      : data_(static_cast<const char*>(part.matrix.data) +
              (part.batch * part.matrix.batch_stride +
               (part.extent.base * part.extent.stride + part.k.base * part.k.stride)) *
                  box.element_bytes),
        line_stride_((box.k_contiguous ? part.extent.stride : part.k.stride) * box.element_bytes),
        lines_(box.k_contiguous ? part.extent.end : part.k.end),
        elements_(box.k_contiguous ? part.k.end : part.extent.end),
        first_(part.extent.first) {}

  /// Starts this thread's copies of the tile that begins at `k` of the problem: pieces of `alignment`
  /// elements, neighbouring threads taking neighbouring pieces of a line. What lies outside the operand
  /// becomes zero, and is not read.
  QUARRY_DEVICE void copy(arch::SharedAddress tile, int k) const {
    static_assert(box.panel_line_bytes() == 128, "eight chunks of a line are permuted");
    constexpr int piece_bytes = alignment * box.element_bytes;
    constexpr int threads_a_line = 128 / piece_bytes;
    constexpr int line_step = warpgroup_threads / threads_a_line;
    static_assert(line_step * threads_a_line == warpgroup_threads && box.lines() % line_step == 0);
    const int first_line = box.k_contiguous ? first_ : k;
    const int first_element = box.k_contiguous ? k : first_;
    const int thread = arch::thread_index() % warpgroup_threads;
    const int byte = thread % threads_a_line * piece_bytes;
    QUARRY_ROLLED
    for (int panel = 0; panel < box.panels(); ++panel) {
      const int element = first_element + panel * box.panel_line_elements() + byte / box.element_bytes;
      const int left = (elements_ - element) * box.element_bytes;
      const int in_line = left < 0 ? 0 : left < piece_bytes ? left : piece_bytes;
      QUARRY_ROLLED
      for (int line = thread / threads_a_line; line < box.lines(); line += line_step) {
        const bool exists = first_line + line < lines_ && in_line > 0;
        const long long offset = (first_line + line) * line_stride_ + element * box.element_bytes;
        const int at = panel * box.panel_bytes() + line * 128 + ((byte / 16 ^ line % 8) * 16 + byte % 16);
        arch::copy_async<piece_bytes>(tile + at, data_ + (exists ? offset : 0), exists ? in_line : 0);
      }
    }
  }

 private:
  const char* data_;       ///< first element of the problem
  long long line_stride_;  ///< bytes
  int lines_;              ///< of the problem
  int elements_;           ///< of a line
  int first_;              ///< along M or N
};

/// The stages that threads fill. A stage is said to be full some turns after its copies were started, when
/// they have landed: each thread then puts its own behind a fence, as the matrix instruction reads shared
/// memory another way. The readers release a stage one turn late, so that there must be two stages more than
/// turns.
template <Config config>
class ThreadStages {
 public:
  QUARRY_DEVICE explicit ThreadStages(arch::SharedAddress memory) : filled_(memory), landed_(memory) {}

  /// The next stage, when it may be written.
  QUARRY_DEVICE arch::SharedAddress acquire() const {
    filled_.acquire();
    return filled_.stage();
  }

  /// The same of its scales.
  QUARRY_DEVICE arch::SharedAddress acquire_scales() const {
    filled_.acquire();
    return filled_.scales();
  }

  /// All copies of the stage are started.
  QUARRY_DEVICE void commit() {
    arch::copy_async_commit();
    filled_.advance();
    if (under_way_ == turns) {
      arch::copy_async_wait<turns>();
      say_full();
    } else {
      ++under_way_;
    }
  }

  /// No stage follows.
  QUARRY_DEVICE void finish() {
    arch::copy_async_wait<0>();
    for (; under_way_ > 0; --under_way_) say_full();
  }

 private:
  static constexpr int turns = config.stages - 2;
  static_assert(turns > 0, "three stages at least");

  QUARRY_DEVICE void say_full() {
    arch::async_proxy_fence();
    arch::mbarrier_arrive(landed_.full());
    landed_.advance();
  }

  Pipeline<config> filled_;
  Pipeline<config> landed_;
  int under_way_ = 0;
};

/// Fills stages with `k_tiles` K tiles of two operand sources, such as LineSource.
template <Config config, class SourceA, class SourceB>
QUARRY_DEVICE void fill(ThreadStages<config>& stages, const SourceA& source_a, const SourceB& source_b,
                        int first_k_tile, int k_tiles) {
  int k = first_k_tile * config.tile.k;
  QUARRY_ROLLED
  for (int tile = 0; tile < k_tiles; ++tile, k += config.tile.k) {
    const arch::SharedAddress stage = stages.acquire();
    source_a.copy(stage, k);
    source_b.copy(stage + box_a(config).bytes(), k);
    stages.commit();
  }
}

/// Fills stages for all tiles of the block.
template <Config config, class Vectors>
QUARRY_DEVICE void produce_by_threads(const TensorGemmParams& tensor, arch::SharedAddress memory,
                                      const ClusterPlace& place) {
  const GemmParams& params = tensor.gemm;
  ThreadStages<config> stages(memory);
  BiasRing<config> biases(memory);
  QUARRY_ROLLED
  for (WorkList<config> list(tensor, place); list.has_more(); list.advance()) {
    const TileWork work = list.current();
    if (Vectors::has_any(tensor)) {
      Vectors::load(biases, tensor, work, arch::thread_index() % warpgroup_threads, warpgroup_threads);
    }
    const LineSource<box_a(config), config.alignment.a> source_a(part_of_a(params.a, work, config.tile));
    const LineSource<box_b(config), config.alignment.b> source_b(part_of_b(params.b, work, config.tile));
    fill<config>(stages, source_a, source_b, work.first_k_tile, work.k_tiles);
  }
  stages.finish();
}

}  // namespace quarry::gemm_sm90
