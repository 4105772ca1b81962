/// What the epilogue reads, on its way through the pipeline: behind the operands of a tile, the same thread
/// fills stages with the tile's boxes of C or of a residual. They are on their way while the last products
/// are computed, and no memory is set aside for them.
#pragma once

#include "gemm_sm90/pipeline.cuh"
#include "gemm_sm90/source_boxes.cuh"

namespace quarry::gemm_sm90 {

/// Bytes from the start of a stage to box `index` of a warp. @param warp among those that multiply
template <Config config>
QUARRY_DEVICE int box_in_stage(int index, int warp) {
  return (index % stage_boxes(config) * 4 * consumers(config) + warp) * output_buffer_bytes(config);
}

/// Fills the stages behind a tile's operands; by one thread.
template <Config config, class Work>
QUARRY_DEVICE void fill_source(Pipeline<config>& pipeline, const TensorGemmParams& params, const Work& work) {
  constexpr OutputBox box = box_out(config);
  constexpr int warps = 4 * consumers(config);
  QUARRY_ROLLED
  for (int first = 0; first < warp_boxes(config); first += stage_boxes(config)) {
    const int left = warp_boxes(config) - first;
    const int boxes = left < stage_boxes(config) ? left : stage_boxes(config);
    pipeline.acquire();
    arch::mbarrier_arrive_expect(pipeline.full(), boxes * warps * box.bytes());
    QUARRY_ROLLED
    for (int i = 0; i < boxes * warps; ++i) {
      const int warp = i % warps;
      const int index = first + i / warps;
      const int first_row = (warp / 4 * blocks_m(config) * 4 + warp % 4) * OutputBox::rows;
      const BoxAt at = source_box_at<config>(params, work, first_row, index);
      arch::tensor_load_once(pipeline.stage() + box_in_stage<config>(index, warp), params.source,
                             box.row_major ? at.column : at.row, box.row_major ? at.row : at.column, at.batch,
                             pipeline.full());
    }
    pipeline.advance();
  }
}

/// A warp's boxes in these stages, one after another.
template <Config config>
class SourceStages {
 public:
  /// @param warp among those that multiply @param stages_done that the block went through before them
  QUARRY_DEVICE SourceStages(arch::SharedAddress memory, int warp, unsigned stages_done,
                             const ClusterPlace& place)
      : pipeline_(memory, stages_done), warp_(warp), place_(place) {}

  /// Where box `index` lies, when it is there.
  QUARRY_DEVICE arch::SharedAddress wait(int index) const {
    pipeline_.wait();
    return pipeline_.stage() + box_in_stage<config>(index, warp_);
  }

  /// All lanes of the warp have read box `index`, and have met since.
  QUARRY_DEVICE void release(int index) {
    if (index % stage_boxes(config) != stage_boxes(config) - 1 && index != warp_boxes(config) - 1) return;
    gemm_sm90::release<config>(pipeline_.empty(), place_);
    pipeline_.advance();
  }

  /// Copies box `index` to where the output's box is made, and releases it; by the whole warp.
  QUARRY_DEVICE void bring(int index, arch::SharedAddress buffer) {
    using Chunk = arch::Vector<unsigned, 4>;
    const arch::SharedAddress box = wait(index);
    QUARRY_ROLLED
    for (int byte = 16 * arch::lane_index(); byte < box_out(config).bytes(); byte += 16 * 32)
      arch::shared_store(buffer + byte, arch::shared_load<Chunk>(box + byte));
    arch::warp_barrier();
    release(index);
  }

 private:
  Pipeline<config> pipeline_;
  int warp_;
  const ClusterPlace& place_;
};

}  // namespace quarry::gemm_sm90
