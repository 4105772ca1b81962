/// The list of the harnesses. Adding one is adding its function and its line here, its seeds in corpus/NAME/
/// and, where words help, dictionaries/NAME.dict.
#pragma once

#include "fuzz/harness.hpp"

namespace quarry::fuzz {

/// A filter's text: parsed, then asked of some kernels.
void filters(Bytes input);
/// Declared tensors and an expression, read, written, compiled to text and evaluated.
void expressions(Bytes input);
/// The name or config of a kernel.
void kernel_texts(Bytes input);
/// An artifact, as it is or with a repaired head, checksum and key.
void artifacts(Bytes input);
/// A pack, likewise, in a file.
void packs(Bytes input);
/// A file of the cache, likewise.
void cache_entries(Bytes input);
/// Arguments of each operation, asked of kernels and run on exact-size host memory.
void gemm_arguments(Bytes input);
void reduce_split_k_arguments(Bytes input);
void reorder_arguments(Bytes input);
void elementwise_arguments(Bytes input);
void grouped_gemm_arguments(Bytes input);
void conv2d_arguments(Bytes input);
void gemm_list_arguments(Bytes input);
/// A DLPack tensor.
void dlpack_tensors(Bytes input);
/// A file of problems.
void shapes_files(Bytes input);
/// A problem in the words of the command line.
void problem_texts(Bytes input);
/// A family's space.json.
void spaces(Bytes input);
/// Measurements, or the text of a tuning table; their choices and their index.
void tuning_tables(Bytes input);
/// The index of a tuning table, as it is or with a repaired head and checksum.
void tuning_indexes(Bytes input);
/// The words behind `quarry`.
void command_lines(Bytes input);

inline constexpr Harness all_harnesses[] = {
    {"filters", filters},
    {"expressions", expressions},
    {"kernel_texts", kernel_texts},
    {"artifacts", artifacts},
    {"packs", packs},
    {"cache_entries", cache_entries},
    {"gemm_arguments", gemm_arguments},
    {"reduce_split_k_arguments", reduce_split_k_arguments},
    {"reorder_arguments", reorder_arguments},
    {"elementwise_arguments", elementwise_arguments},
    {"grouped_gemm_arguments", grouped_gemm_arguments},
    {"conv2d_arguments", conv2d_arguments},
    {"gemm_list_arguments", gemm_list_arguments},
    {"dlpack_tensors", dlpack_tensors},
    {"shapes_files", shapes_files},
    {"problem_texts", problem_texts},
    {"spaces", spaces},
    {"tuning_tables", tuning_tables},
    {"tuning_indexes", tuning_indexes},
    {"command_lines", command_lines},
};

}  // namespace quarry::fuzz
