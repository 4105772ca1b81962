"""Mistakes that no pattern makes: each is a few texts of the sources, which must stand there exactly once, and what replaces them.

A key of the layout that is weaker everywhere leaves results right: bank conflicts tell.
"""

from dataclasses import dataclass


@dataclass
class HandWritten:
    operator: str
    what: str
    edits: list  # of (file, text, replacement); the mutant is named by the first


SWIZZLE = "kernels/layout/swizzled_tile.hpp"
COPY = "kernels/common/operand_copy.cuh"
FRAGMENTS = "kernels/common/warp_fragments.cuh"
SCHEDULER = "kernels/common/tile_scheduler.cuh"
WRITER = "kernels/common/tile_writer.cuh"
STREAM = "kernels/common/stream_k.hpp"
STREAM_WRITER = "kernels/common/stream_writer.cuh"
STAGED = "kernels/common/staged_tile.cuh"
STAGED_LAYOUT = "kernels/common/epilogue_layout.hpp"
MATRIX_VIEW = "kernels/common/matrix_view.cuh"
SM80 = "kernels/gemm_sm80/mainloop.cuh"
SM80_KERNEL = "kernels/gemm_sm80/kernel.cuh"
SIMT = "kernels/gemm_simt/kernel.cuh"
SIMT_LOADER = "kernels/gemm_simt/operand_loader.cuh"
SIMT_CONFIG = "kernels/gemm_simt/config.hpp"
REDUCE = "kernels/reduce_split_k/kernel.cuh"

SM90 = "kernels/gemm_sm90/kernel.cuh"
BIAS = "kernels/gemm_sm90/bias.cuh"
VECTOR_RING = "kernels/gemm_sm90/vector_ring.cuh"
SCALES = "kernels/gemm_sm90/scales.cuh"
PROMOTION = "kernels/gemm_sm90/promotion.cuh"
PROMOTION_AHEAD = "kernels/gemm_sm90/promotion_ahead.cuh"
BLOCK_SUMS = "kernels/gemm_sm90/block_sums.cuh"
BOX_RING = "kernels/gemm_sm90/box_ring.cuh"
CLUSTER_SUM = "kernels/gemm_sm90/cluster_sum.cuh"
TILE_STORE = "kernels/gemm_sm90/tile_store.cuh"
MAINLOOP = "kernels/gemm_sm90/mainloop.cuh"
PIPELINE = "kernels/gemm_sm90/pipeline.cuh"
TURNS = "kernels/gemm_sm90/turns.cuh"
SHAPE = "kernels/gemm_sm90/shape.cuh"
TENSOR_PRODUCER = "kernels/gemm_sm90/tensor_producer.cuh"
THREAD_PRODUCER = "kernels/gemm_sm90/thread_producer.cuh"
WORK_LIST = "kernels/gemm_sm90/work_list.cuh"

RELEASE = "arch::store_release(counter_, slice_ + 1);"
ACQUIRE = "arch::load_acquire(counter_)"

HAND_WRITTEN = [
    # Swizzles, weaker for copies and reads alike.
    HandWritten("weaken swizzle", "the key changes with half as many bits",
                [(SWIZZLE, "& ((1 << swizzle().bits) - 1);", "& ((1 << swizzle().bits) - 1) / 2;")]),
    HandWritten("weaken swizzle", "the key changes half as often",
                [(SWIZZLE, "return line / ((1", "return line / 2 / ((1")]),
    HandWritten("weaken swizzle", "the key of short lines changes with every line",
                [(SWIZZLE, "return line / ((1 << swizzle().shift) / period()) &", "return line &")]),
    HandWritten("weaken swizzle", "the key never changes but with eight lines",
                [(SWIZZLE, "return line / ((1 << swizzle().shift) / period()) &", "return line / 8 &")]),
    # Swizzles, wrong on one side.
    HandWritten("weaken swizzle", "reads do not permute",
                [(FRAGMENTS, "shared().offset(line, chunk + i * block_chunks)",
                  "(line * shared().chunks_per_line + chunk + i * block_chunks) * 16")]),
    HandWritten("weaken swizzle", "reads use the key of the first line of a matrix",
                [(FRAGMENTS, "shared().offset(line, chunk + i * block_chunks)",
                  "(line * shared().chunks_per_line + ((chunk + i * block_chunks) ^ shared().key(line / 8 * 8))) * 16")]),
    HandWritten("weaken swizzle", "reads take every block's offset for the first one's",
                [(FRAGMENTS, "offset_[along % distinct]", "offset_[0] + along % distinct * 16 * block_chunks")]),
    HandWritten("weaken swizzle", "the copier uses the key of the next round's line",
                [(COPY, "tile.shared().key(line) * tile.chunk_bytes()",
                  "tile.shared().key(line + map.line_step) * tile.chunk_bytes()")]),
    # Padding, the same for those who write and those who read.
    HandWritten("weaken padding", "staged rows follow each other without padding",
                [(STAGED_LAYOUT, "(tile_n + 31) / 32 * 32 + 8;", "(tile_n + 31) / 32 * 32;")]),
    HandWritten("weaken padding", "lines follow each other without padding",
                [(SIMT_CONFIG, "return extent + 4;", "return extent;")]),
    # Edges that are not written as conditions.
    HandWritten("drop condition", "every piece is present",
                [(COPY, "return present_ & 1u << (tile.k_contiguous ? line_round : column_round);", "return 1u;")]),
    HandWritten("drop condition", "presence is looked up by the other round",
                [(COPY, "(tile.k_contiguous ? line_round : column_round)", "(tile.k_contiguous ? column_round : line_round)")]),
    HandWritten("drop condition", "copies of the last tile are whole",
                [(COPY, "piece.valid_elements * tile.element_bytes);", "bytes);")]),
    HandWritten("drop condition", "pieces of the last tile are whole",
                [(COPY, "fetch(piece.address, piece.valid_elements)", "fetch(piece.address, OperandTile::chunk_elements)")]),
    HandWritten("drop condition", "elements left along K are those of the whole operand",
                [(COPY, "const int lines_left = tile.k_contiguous ? lines.extent_left : lines.k_left - tiles_before * tile.k;",
                  "const int lines_left = tile.k_contiguous ? lines.extent_left : lines.k_left;")]),
    HandWritten("drop condition", "the operand's extent is taken from its start, not from the block's tile",
                [(COPY, "part.extent.end - part.extent.first,", "part.extent.end,")]),
    HandWritten("drop condition", "the operand's K is taken from its start, not from the slice's",
                [(COPY, "part.k.end - part.k.first,", "part.k.end,")]),
    HandWritten("drop condition", "the operand's extent is taken from its start, not from the block's tile",
                [(SIMT_LOADER, "extent_left_(part.extent.end - part.extent.first),", "extent_left_(part.extent.end),")]),
    HandWritten("drop condition", "every tile counts as one with tiles after it",
                [(SM80, "a_.finish(stage, tiles_left_ > 0);", "a_.finish(stage, true);")]),
    HandWritten("drop condition", "every tile counts as one with tiles after it",
                [(SM80, "b_.finish(stage + S::a.bytes(), tiles_left_ > 0);", "b_.finish(stage + S::a.bytes(), true);")]),
    # Stages.
    HandWritten("wrong stage", "the ring has no end", [(SM80, "return stage == last_stage ? first_stage : stage + S::stage_bytes;",
                                                        "return stage + S::stage_bytes;")]),
    HandWritten("wrong stage", "the ring has one stage",
                [(SM80, "return stage == last_stage ? first_stage : stage + S::stage_bytes;", "return first_stage;")]),
    HandWritten("wrong stage", "the first read is from the second stage",
                [(SM80, "arch::SharedAddress read = first_stage;", "arch::SharedAddress read = next(first_stage);")]),
    HandWritten("wrong stage", "fragments are always read from the first stage",
                [(SM80, "load(fragments, read, next_step);", "load(fragments, first_stage, next_step);")]),
    HandWritten("wrong stage", "B lies where A lies", [(SM80, "b_.start(stage + S::a.bytes(), part, S::k_steps);",
                                                        "b_.start(stage, part, S::k_steps);")]),
    HandWritten("wrong stage", "the stage that is read is written", [(SIMT, "written = read + stage_bytes;", "written = read;")]),
    HandWritten("wrong stage", "the stages are not exchanged", [(SIMT, "    written = other;\n", "    written = written;\n")]),
    HandWritten("wrong stage", "the operands of a step are those of the next one",
                [(SM80, "      multiply<config>(sums, operands, fragments);",
                  "      convert<config>(fragments, operands);\n      multiply<config>(sums, operands, fragments);")]),
    HandWritten("wrong stage", "an operand of the next step comes before the last product of this one",
                [(SM80, "if (n == last_n) operands.a[m]", "if (n == 0) operands.a[m]")]),
    # Order among blocks and threads.
    HandWritten("plain access", "the turn is passed on by a relaxed addition", [(WRITER, RELEASE, "arch::fetch_add(counter_, 1);")]),
    HandWritten("plain access", "the ticket is read and written, not added to",
                [(SCHEDULER, "static_cast<unsigned>(arch::fetch_add(counter, 1))",
                  "arch::global_load<unsigned>(counter)"),
                 (SCHEDULER, "  arch::block_barrier();\n  const unsigned ticket",
                  "  if (arch::thread_index() == 0) {\n"
                  "    arch::global_store(counter, 1 + static_cast<int>(arch::shared_load<unsigned>(scratch)));\n"
                  "  }\n  arch::block_barrier();\n  const unsigned ticket")]),
    HandWritten("plain access", "every thread looks at the turn for itself, without a barrier",
                [(WRITER, "    if (arch::thread_index() == 0) {\n      while", "    if (arch::lane_index() == 0) {\n      while"),
                 (WRITER, "      }\n    }\n    arch::block_barrier();", "      }\n    }\n    arch::warp_barrier();"),
                 (WRITER, ACQUIRE, "arch::fetch_add(counter_, 0)")]),
    HandWritten("wrong counter", "tickets are drawn in pairs", [(SCHEDULER, "fetch_add(counter, 1)", "fetch_add(counter, 2)")]),
    HandWritten("wrong counter", "blocks take work by their index", [(SCHEDULER, "  return ticket;", "  return arch::block_index();")]),
    HandWritten("wrong counter", "the ticket counter is the last turn counter",
                [(SCHEDULER, "params.counters + static_cast<long long>(params.batch) * tiles(params),",
                  "params.counters + static_cast<long long>(params.batch) * tiles(params) - 1,")]),
    HandWritten("wrong counter", "batch entries share their turns",
                [(SCHEDULER, "(static_cast<long long>(work.batch) * params.tiles_m + work.tile_m)",
                  "(static_cast<long long>(0) * params.tiles_m + work.tile_m)")]),
    HandWritten("wrong counter", "the turn begins with the second slice", [(WRITER, "slice_(slice) {}", "slice_(slice + 1) {}")]),
    HandWritten("wrong counter", "blocks that share tiles take work by their index",
                [(STREAM_WRITER, "return drawn_ticket(params.counters + (arch::grid_blocks() - 1), scratch);",
                  "return arch::block_index();")]),
    HandWritten("wrong counter", "the ticket counter of shared tiles is the last turn counter",
                [(STREAM_WRITER, "params.counters + (arch::grid_blocks() - 1)", "params.counters + (arch::grid_blocks() - 2)")]),
    HandWritten("wrong counter", "two cut tiles share their turns",
                [(STREAM_WRITER, "params_.counters + work_.first_block,", "params_.counters + work_.first_block / 2,")]),
    # The walk over tiles and partial sums.
    HandWritten("wrong tile", "cut tiles share their partial sums",
                [(STREAM_WRITER, "static_cast<long long>(work_.first_block)", "static_cast<long long>(work_.first_block / 2)")]),
    HandWritten("wrong tile", "partial sums of cut tiles overlap",
                [(STREAM_WRITER, "* (tile_.m * tile_.n);", "* (tile_.m * tile_.n - 4);")]),
    HandWritten("wrong tile", "a block's range ends a K tile early",
                [(STREAM, "end_(shares.begin(block + 1)),", "end_(shares.begin(block + 1) - 1),")]),
    HandWritten("wrong tile", "a part begins with the last K tile of the one before",
                [(STREAM, "static_cast<int>(first - start),", "static_cast<int>(first > start ? first - start - 1 : 0),")]),
    HandWritten("wrong tile", "a tile's first block is the one before",
                [(STREAM, "            first_block,\n", "            first_block - 1,\n")]),
    HandWritten("wrong tile", "a slice begins with the last K tile of the one before",
                [(SCHEDULER, "work.first_k_tile = first < all_k_tiles ? static_cast<int>(first)",
                  "work.first_k_tile = first < all_k_tiles ? static_cast<int>(first > 0 ? first - 1 : first)")]),
    HandWritten("wrong tile", "slices of one tile are partial outputs of one place",
                [(WRITER, "static_cast<long long>(work_.slice) * params_.batch + work_.batch", "static_cast<long long>(work_.batch)")]),
    HandWritten("wrong tile", "partial tiles overlap", [(WRITER, "* (tile_.m * tile_.n);", "* (tile_.m * tile_.n - 4);")]),
    HandWritten("wrong tile", "warps add their part along K at once",
                [(SM80_KERNEL, "if (place.k != turn) continue;", "if (turn > 0) break;")]),
    HandWritten("wrong tile", "the reduction leaves the first slice out", [(REDUCE, "int slice = begin + 1;", "int slice = begin + 2;")]),
    HandWritten("wrong tile", "a pass is written where the one before was", [(STAGED, "writer.write(rows.tile_row(pass, row)", "writer.write(rows.tile_row(0, row)")]),
    HandWritten("wrong tile", "a plain pass is written where the one before was",
                [(STAGED, "writer.plain_column(rows.tile_row(pass, row)", "writer.plain_column(rows.tile_row(0, row)")]),
    # The ring of gemm_sm90.
    HandWritten("wrong stage", "the ring has one stage", [(PIPELINE, "return memory_ + stage_ * stage_bytes(config);", "return memory_;")]),
    HandWritten("wrong stage", "B lies where A lies for those who multiply",
                [(MAINLOOP, "descriptor_at(b.descriptor(), stage + a.bytes())", "descriptor_at(b.descriptor(), stage)")]),
    HandWritten("wrong stage", "B lies where A lies for the one that copies",
                [(TENSOR_PRODUCER, "stage + box_a(config).bytes()", "stage")]),
    HandWritten("wrong stage", "B lies where A lies for those who copy", [(THREAD_PRODUCER, "stage + box_a(config).bytes()", "stage")]),
    HandWritten("wrong stage", "a stage is released while it is multiplied",
                [(MAINLOOP, "arch::warpgroup_wait<1>();\n      release<config>(last, place);",
                  "arch::warpgroup_wait<1>();\n      release<config>(pipeline.empty(), place);")]),
    HandWritten("wrong stage", "the stage after the one that was read is released",
                [(MAINLOOP, "    last = pipeline.empty();\n    pipeline.advance();", "    pipeline.advance();\n    last = pipeline.empty();")]),
    HandWritten("wrong stage", "a stage is full when the one after it has landed", [(THREAD_PRODUCER, "landed_.full()", "filled_.full()")]),
    HandWritten("wrong stage", "boxes leave by one buffer",
                [(BOX_RING, "const int index = static_cast<int>(turn % buffers);", "const int index = 0 * static_cast<int>(turn);")]),
    HandWritten("wrong stage", "warpgroups share their buffers",
                [(TILE_STORE, "ring_(params, memory, group * 4 + warp_of_group())", "ring_(params, memory, 0 * group + warp_of_group())")]),
    HandWritten("wrong stage", "a skipped tile counts as so many rounds",
                [(SM90, "stages_done += static_cast<unsigned>(list.current().k_tiles);", "stages_done += config.stages;")]),
    HandWritten("wrong stage", "a box is fetched into the buffer that is stored",
                [(TILE_STORE, "static_cast<unsigned>(next - present));", "static_cast<unsigned>(next - present + 1));")]),
    HandWritten("wrong stage", "biases of all tiles lie in one place", [(VECTOR_RING, "return static_cast<int>(tile_ % sets);", "return 0;")]),
    HandWritten("wrong stage", "the scales of all stages lie in one place", [(PIPELINE, "stage_ * scale_bytes(config)", "0 * scale_bytes(config)")]),
    HandWritten("wrong block", "sums of a block begin with those of the one before",
                [(BLOCK_SUMS, "pipeline.stage(), group, k_tiles > 1 ? 1 : 0);", "pipeline.stage(), group, 1);")]),
    HandWritten("wrong block", "the second 64 rows join the first ones' sums",
                [(PROMOTION, "finish_block<config, last>(finished, sums, scales, stage,", "finish_block<config, 0>(finished, sums, scales, stage,")]),
    HandWritten("wrong block", "the last 64 rows of a block made ready ahead join the first ones' sums",
                [(PROMOTION_AHEAD, "promote<config, last>(finished_, sums_, scales);", "promote<config, 0>(finished_, sums_, scales);")]),
    HandWritten("wrong block", "a block has the scales of the next one",
                [(PROMOTION_AHEAD, "end(stage.empty(), scales);", "end(stage.empty(), ready_.products());")]),
    HandWritten("wrong block", "all of K has the first block's scales", [(SCALES, "if ((tile + 1) % block_tiles == 0) walk.advance();", "")]),
    HandWritten("wrong tile", "strips have the scales of the tile's first columns", [(SCALES, "(i - config.tile.m) * columns;", "i - config.tile.m;")]),
    HandWritten("wrong tile", "all strips have the first one's scale", [(SCALES, "scales_[8 * group / strip_columns(config)]", "scales_[0 * group]")]),
    HandWritten("wrong count", "scales are said to be there before they are",
                [(SCALES, "      arch::mbarrier_arrive_copied(full);", "      arch::mbarrier_arrive(full);")]),
    HandWritten("wrong tile", "groups have the scales of the first rows", [(SIMT, "const int base = work.a().row;", "const int base = 0;")]),
    HandWritten("wrong tile", "groups have the scales of the first matrix of B", [(SIMT, "b_scales(scales.b, work.b().batch);", "b_scales(scales.b, work.out().batch);")]),
    HandWritten("wrong block", "gemm_simt promotes at the end alone", [(SIMT, "ends_block<config>(k_tile) || tile + 1 == work.k_tiles", "tile + 1 == work.k_tiles")]),
    HandWritten("wrong tile", "every tile adds the first columns' bias", [(BIAS, "by_column ? work.tile_n : work.tile_m) * count;", "by_column ? 0 : work.tile_m) * count;")]),
    HandWritten("wrong tile", "every tile adds the first rows' bias", [(BIAS, "by_column ? work.tile_n : work.tile_m) * count;", "by_column ? work.tile_n : 0) * count;")]),
    # Who arrives, who waits.
    HandWritten("wrong count", "a bias may be written when one warp has read it",
                [(BIAS, "warpgroup_threads * (config.schedule == Schedule::ping_pong ? 1 : consumers(config));", "32;")]),
    HandWritten("wrong count", "a stage is empty when one warpgroup has read it",
                [(PIPELINE, "config.schedule == Schedule::ping_pong ? 1 : consumers(config);", "1;")]),
    HandWritten("wrong count", "a stage is empty when every warpgroup has read it",
                [(PIPELINE, "config.schedule == Schedule::ping_pong ? 1 : consumers(config);", "consumers(config);")]),
    HandWritten("wrong count", "a stage is full when one thread has copied", [(PIPELINE, "config.copy == CopyEngine::tma ? (promotes(config) ? 33 : 1) : warpgroup_threads;", "1;")]),
    HandWritten("wrong count", "the last lanes that copy scales end a phase of a stage early", [(PIPELINE, "promotes(config) ? 33 : 1", "promotes(config) ? 17 : 1")]),
    HandWritten("wrong count", "other blocks of the cluster do not hold up a stage",
                [(PIPELINE, "4 * groups * (config.cluster.m + config.cluster.n - 1);", "4 * groups;")]),
    HandWritten("drop wait", "the block ends without waiting for others' signals",
                [(TENSOR_PRODUCER, "if constexpr (config.cluster.m * config.cluster.n > 1)", "if constexpr (false)")]),
    HandWritten("drop wait", "blocks of a cluster do not wait for each other's barriers",
                [(SM90, "if constexpr (config.cluster.m * config.cluster.n == 1)", "if constexpr (true)")]),
    HandWritten("drop wait", "the sums of others are read without a barrier",
                [(SM90, "  arch::cluster_arrive();\n  arch::cluster_wait();\n", "")]),
    HandWritten("drop wait", "blocks end while others read their sums",
                [(SM90, "QUARRY_DEVICE void wait_for_readers() {\n  arch::cluster_arrive_relaxed();\n  arch::cluster_wait();\n", "QUARRY_DEVICE void wait_for_readers() {\n")]),
    HandWritten("wrong barrier", "only a block's own stages are released",
                [(PIPELINE, "sharers_of_a<config>(place) | sharers_of_b<config>(place);", "1u << place.rank;")]),
    HandWritten("wrong barrier", "both warpgroups wait for the same turn", [(TURNS, "named_barrier(2 + group_,", "named_barrier(2,")]),
    # Which tile, which part of it.
    HandWritten("wrong tile", "the block's row in the cluster does not count", [(WORK_LIST, "* config.cluster.m + place_.m;", "* config.cluster.m;")]),
    HandWritten("wrong tile", "the block's column in the cluster does not count", [(WORK_LIST, "* config.cluster.n + place_.n;", "* config.cluster.n;")]),
    HandWritten("wrong tile", "blocks of a cluster have works of their own",
                [(WORK_LIST, "? arch::block_index() : arch::cluster_index();", "? arch::block_index() : arch::block_index();")]),
    HandWritten("wrong tile", "the grid is as many clusters as blocks",
                [(WORK_LIST, "? arch::grid_blocks() : arch::grid_clusters();", "? arch::grid_blocks() : arch::grid_blocks();")]),
    HandWritten("wrong tile", "rows and columns of a cluster are exchanged",
                [(SHAPE, "{rank, rank % config.cluster.m, rank / config.cluster.m};", "{rank, rank / config.cluster.n, rank % config.cluster.n};")]),
    HandWritten("wrong tile", "a shared tile is loaded from the part of the other operand",
                [(TENSOR_PRODUCER, "{params.b, OfB::of(params.gemm.b, work, config.tile), place.m,", "{params.b, OfB::of(params.gemm.b, work, config.tile), place.n,")]),
    HandWritten("wrong tile", "every sharer loads the first part", [(TENSOR_PRODUCER, "const int line = part * box.part_lines();", "const int line = 0 * part;")]),
    HandWritten("wrong tile", "parts of a shared tile lie on each other",
                [(TENSOR_PRODUCER, "panel * box.panel_bytes() + part * box.part_bytes()", "panel * box.panel_bytes()")]),
    HandWritten("wrong tile", "panels lie on each other", [(TENSOR_PRODUCER, "(panel * box.panel_bytes() + part", "(0 * panel + part")]),
    HandWritten("wrong tile", "one block's turn is nobody's",
                [(TENSOR_PRODUCER, "k / box.k % box.sharers != share_", "k / box.k % box.sharers != share_ + 1")]),
    HandWritten("wrong tile", "one operand for the whole batch",
                [(TENSOR_PRODUCER, "part.matrix.batch_stride == 0 ? 0 : part.batch", "0")]),
    HandWritten("wrong tile", "a shared operand is looked for in every batch entry",
                [(TENSOR_PRODUCER, "part.matrix.batch_stride == 0 ? 0 : part.batch", "part.batch")]),
    HandWritten("wrong tile", "a slice begins at the start of K", [(TENSOR_PRODUCER, "first_k_tile * config.tile.k;", "0;")]),
    HandWritten("wrong tile", "a slice begins at the start of K", [(THREAD_PRODUCER, "first_k_tile * config.tile.k;", "0;")]),
    HandWritten("wrong tile", "warpgroups multiply the same rows", [(MAINLOOP, "stage + group * a.block_offset(blocks_m(config))", "stage + 0 * group")]),
    HandWritten("wrong tile", "warpgroups write the same rows", [(SM90, "group_in_tile * blocks_m(config) * instruction_m;", "0;")]),
    HandWritten("wrong tile", "each block reads its own sums only", [(CLUSTER_SUM, "Vector<float, 4>>(at, block)", "Vector<float, 4>>(at, arch::cluster_rank())")]),
    HandWritten("wrong tile", "blocks of the cluster finish the same part", [(TILE_STORE, "shares() ? arch::cluster_rank() : 0;", "0;")]),
    HandWritten("wrong tile", "slices of one tile are partial outputs of one place",
                [(TILE_STORE, "static_cast<long long>(work.slice) * params().gemm.batch + work.batch", "static_cast<long long>(work.batch)")]),
    HandWritten("wrong tile", "an array of pointers is taken for the matrices", [(MATRIX_VIEW, "&& is_pointer_array(m)) {", "&& false) {")]),
    HandWritten("wrong tile", "every batch entry reads the first pointer of an array",
                [(MATRIX_VIEW, "static_cast<const Address*>(m.data) + batch);", "static_cast<const Address*>(m.data));")]),
    HandWritten("wrong tile", "distances between matrices count bytes", [(MATRIX_VIEW, "reinterpret_cast<Address>(m.data)) / element_bytes;", "reinterpret_cast<Address>(m.data));")]),
    HandWritten("wrong tile", "boxes of all batch entries go to the first", [(BOX_RING, "arch::tensor_store(out, x(at), y(at), at.batch,", "arch::tensor_store(out, x(at), y(at), 0,")]),
]
