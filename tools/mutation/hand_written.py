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
STAGED = "kernels/common/staged_tile.cuh"
STAGED_LAYOUT = "kernels/common/gemm_epilogue_layout.hpp"
SM80 = "kernels/gemm_sm80/kernel.cuh"
SIMT = "kernels/gemm_simt/kernel.cuh"
SIMT_CONFIG = "kernels/gemm_simt/config.hpp"
REDUCE = "kernels/reduce_split_k/kernel.cuh"

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
                [(COPY, "tile.shared().key(line) * 16", "tile.shared().key(line + map.line_step) * 16")]),
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
                [(COPY, "const int lines_left = tile.k_contiguous ? source.extent_left : source.k_left - tiles_before * tile.k;",
                  "const int lines_left = tile.k_contiguous ? source.extent_left : source.k_left;")]),
    HandWritten("drop condition", "the operand's extent is taken from its start, not from the block's tile",
                [(SM80, "extent - first, k - first_k,", "extent, k - first_k,")]),
    HandWritten("drop condition", "the operand's K is taken from its start, not from the slice's",
                [(SM80, "extent - first, k - first_k,", "extent - first, k,")]),
    HandWritten("drop condition", "the operand's extent is taken from its start, not from the block's tile",
                [(SIMT, "a.column_stride, params.m - first_m, k_left);", "a.column_stride, params.m, k_left);")]),
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
                [(SM80, "load(fragments[(step + 1) % 2], read, next_step);", "load(fragments[(step + 1) % 2], first_stage, next_step);")]),
    HandWritten("wrong stage", "B lies where A lies", [(SM80, "b_.start(stage + S::a.bytes(), part, S::k_steps);",
                                                        "b_.start(stage, part, S::k_steps);")]),
    HandWritten("wrong stage", "the stage that is read is written", [(SIMT, "written = read + stage_bytes;", "written = read;")]),
    HandWritten("wrong stage", "the stages are not exchanged", [(SIMT, "    written = other;\n", "    written = written;\n")]),
    HandWritten("wrong stage", "the fragments of a step are those of the step before",
                [(SM80, "multiply<config>(sums, fragments[step % 2]);", "multiply<config>(sums, fragments[(step + 1) % 2]);")]),
    # Order among blocks and threads.
    HandWritten("plain access", "the turn is passed on by a relaxed addition", [(WRITER, RELEASE, "arch::fetch_add(counter_, 1);")]),
    HandWritten("plain access", "the ticket is read and written, not added to",
                [(SCHEDULER, "static_cast<unsigned>(arch::fetch_add(ticket_counter, 1))",
                  "arch::global_load<unsigned>(ticket_counter)"),
                 (SCHEDULER, "  arch::block_barrier();\n  const unsigned ticket",
                  "  if (arch::thread_index() == 0) {\n"
                  "    int* const counter = params.counters + static_cast<long long>(params.batch) * tiles(params);\n"
                  "    arch::global_store(counter, 1 + static_cast<int>(arch::shared_load<unsigned>(scratch)));\n"
                  "  }\n  arch::block_barrier();\n  const unsigned ticket")]),
    HandWritten("plain access", "every thread looks at the turn for itself, without a barrier",
                [(WRITER, "    if (arch::thread_index() == 0) {\n      while", "    if (arch::lane_index() == 0) {\n      while"),
                 (WRITER, "      }\n    }\n    arch::block_barrier();", "      }\n    }\n    arch::warp_barrier();"),
                 (WRITER, ACQUIRE, "arch::fetch_add(counter_, 0)")]),
    HandWritten("wrong counter", "tickets are drawn in pairs", [(SCHEDULER, "fetch_add(ticket_counter, 1)",
                                                                 "fetch_add(ticket_counter, 2)")]),
    HandWritten("wrong counter", "blocks take work by their index", [(SCHEDULER, "  return ticket;", "  return arch::block_index();")]),
    HandWritten("wrong counter", "the ticket counter is the last turn counter",
                [(SCHEDULER, "params.counters + static_cast<long long>(params.batch) * tiles(params);",
                  "params.counters + static_cast<long long>(params.batch) * tiles(params) - 1;")]),
    HandWritten("wrong counter", "batch entries share their turns",
                [(SCHEDULER, "(static_cast<long long>(work.batch) * params.tiles_m + work.tile_m)",
                  "(static_cast<long long>(0) * params.tiles_m + work.tile_m)")]),
    HandWritten("wrong counter", "the turn begins with the second slice", [(WRITER, "slice_(work.slice) {}", "slice_(work.slice + 1) {}")]),
    # The walk over tiles and partial sums.
    HandWritten("wrong tile", "a slice begins with the last K tile of the one before",
                [(SCHEDULER, "work.first_k_tile = first < all_k_tiles ? static_cast<int>(first)",
                  "work.first_k_tile = first < all_k_tiles ? static_cast<int>(first > 0 ? first - 1 : first)")]),
    HandWritten("wrong tile", "slices of one tile are partial outputs of one place",
                [(WRITER, "static_cast<long long>(work_.slice) * params_.batch + work_.batch", "static_cast<long long>(work_.batch)")]),
    HandWritten("wrong tile", "partial tiles overlap", [(WRITER, "* (tile_.m * tile_.n);", "* (tile_.m * tile_.n - 4);")]),
    HandWritten("wrong tile", "warps add their part along K at once",
                [(SM80, "if (place.k != turn) continue;", "if (turn > 0) break;")]),
    HandWritten("wrong tile", "the reduction leaves the first slice out", [(REDUCE, "int slice = 1;", "int slice = 2;")]),
    HandWritten("wrong tile", "a pass is written where the one before was", [(STAGED, "rows.tile_row(pass, row)", "rows.tile_row(0, row)")]),
]
