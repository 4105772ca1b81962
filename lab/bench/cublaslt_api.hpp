/// cuBLASLt's library, opened when it is needed. Its functions, types and numbers are declared here, as far
/// as they are used, so that neither its header nor the library is needed to build. They are as in
/// cublasLt.h of CUDA 12 and 13, and of library_types.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "quarry/status.hpp"

struct CUstream_st;

namespace quarry::lab {

/// The library's own objects, made and destroyed by its functions.
struct CublasLtContext;
struct CublasLtMatmulDesc;
struct CublasLtMatrixLayout;
struct CublasLtPreference;

/// cublasLtMatmulAlgo_t.
struct CublasLtAlgorithm {
  std::uint64_t data[8];
};

/// cublasLtMatmulHeuristicResult_t.
struct CublasLtOffer {
  CublasLtAlgorithm algorithm;
  std::size_t workspace;
  int state;  ///< 0: the rest holds
  float waves;
  int reserved[4];
};

/// Functions by their C names, less `cublasLt`. All that give an int answer 0 for success.
struct CublasLtFunctions {
  std::size_t (*version)();
  const char* (*status_string)(int status);
  int (*create)(CublasLtContext** context);
  int (*destroy)(CublasLtContext* context);
  int (*desc_create)(CublasLtMatmulDesc** desc, int compute, int scale_type);
  int (*desc_destroy)(CublasLtMatmulDesc* desc);
  int (*desc_set)(CublasLtMatmulDesc* desc, int attribute, const void* value, std::size_t bytes);
  int (*layout_create)(CublasLtMatrixLayout** layout, int type, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t ld);
  int (*layout_destroy)(CublasLtMatrixLayout* layout);
  int (*layout_set)(CublasLtMatrixLayout* layout, int attribute, const void* value, std::size_t bytes);
  int (*preference_create)(CublasLtPreference** preference);
  int (*preference_destroy)(CublasLtPreference* preference);
  int (*preference_set)(CublasLtPreference* preference, int attribute, const void* value, std::size_t bytes);
  int (*heuristic)(CublasLtContext* context, CublasLtMatmulDesc* desc, CublasLtMatrixLayout* a,
                   CublasLtMatrixLayout* b, CublasLtMatrixLayout* c, CublasLtMatrixLayout* d,
                   CublasLtPreference* preference, int asked, CublasLtOffer* offers, int* given);
  int (*matmul)(CublasLtContext* context, CublasLtMatmulDesc* desc, const void* alpha, const void* a,
                CublasLtMatrixLayout* a_layout, const void* b, CublasLtMatrixLayout* b_layout,
                const void* beta, const void* c, CublasLtMatrixLayout* c_layout, void* d,
                CublasLtMatrixLayout* d_layout, const CublasLtAlgorithm* algorithm, void* workspace,
                std::size_t workspace_bytes, CUstream_st* stream);
  int (*config_get)(const CublasLtAlgorithm* algorithm, int attribute, void* value, std::size_t bytes,
                    std::size_t* written);
};

/// cublasLtMatmulAlgoConfigAttributes_t: uint32; the algorithm's number and slices of K are int32, the last
/// two uint16.
enum CublasLtConfigAttribute : int {
  lt_config_id = 0,
  lt_config_tile = 1,
  lt_config_split_k = 2,
  lt_config_reduction = 3,
  lt_config_swizzle = 4,
  lt_config_custom = 5,
  lt_config_stages = 6,
  lt_config_inner_shape = 7,
  lt_config_cluster = 8
};

/// cudaDataType_t.
enum CublasLtType : int { lt_f32 = 0, lt_f64 = 1, lt_f16 = 2, lt_s8 = 3, lt_s32 = 10, lt_bf16 = 14 };
/// cublasComputeType_t.
enum CublasLtCompute : int {
  lt_compute_f16 = 64,
  lt_compute_f32 = 68,
  lt_compute_f64 = 70,
  lt_compute_s32 = 72,
  lt_compute_fast_f16 = 74,
  lt_compute_fast_bf16 = 75,
  lt_compute_fast_tf32 = 77
};
/// cublasOperation_t.
enum CublasLtOperation : std::int32_t { lt_as_it_is = 0, lt_transposed = 1 };
/// cublasLtMatmulDescAttributes_t; int32, a uint32, pointers, int64 in elements, and an int8; modes of scales
/// are int32.
enum CublasLtDescAttribute : int {
  lt_transpose_a = 3,
  lt_transpose_b = 4,
  lt_epilogue = 7,
  lt_bias_pointer = 8,
  lt_aux_pointer = 11,
  lt_aux_ld = 12,
  lt_aux_batch_stride = 13,
  lt_a_scale_pointer = 17,
  lt_b_scale_pointer = 18,
  lt_fast_accumulation = 25,
  lt_a_scale_mode = 31,
  lt_b_scale_mode = 32
};
/// cublasLtMatmulMatrixScale_t, in f32: one for all; one for each row of A or column of B; from 12.9 on, one
/// for 128 of K in a row or column, or for 128 of K in 128 of them.
enum CublasLtScaleMode : std::int32_t {
  lt_scale_scalar = 0,
  lt_scale_vector = 3,
  lt_scale_block_1x128 = 4,
  lt_scale_block_128x128 = 5
};
/// cublasLtEpilogue_t: parts that go together, or the first one alone.
enum CublasLtEpilogueFunction : std::uint32_t {
  lt_epilogue_default = 1,
  lt_epilogue_relu = 2,
  lt_epilogue_bias = 4,
  lt_epilogue_gelu = 32,
  lt_epilogue_aux = 128
};
/// cublasLtMatrixLayoutAttribute_t: int32 and int64, in elements.
enum CublasLtLayoutAttribute : int { lt_batch_count = 5, lt_batch_stride = 6 };
/// cublasLtMatmulPreferenceAttributes_t: bytes, a uint64 and uint32 each.
enum CublasLtPreferenceAttribute : int {
  lt_max_workspace = 1,
  lt_alignment_a = 5,
  lt_alignment_b = 6,
  lt_alignment_c = 7,
  lt_alignment_d = 8
};

/// Opens the library of this path; where that is empty, the first found in LD_LIBRARY_PATH, toolkits, Python
/// environments and the system's folders, or by the dynamic linker. It stays open while the process runs.
/// Fails with not_found where a path that was given is no such library, with no_device where none is found.
Result<CublasLtFunctions> open_cublaslt(const std::string& path);

/// The file that the functions came from.
std::string path_of(const CublasLtFunctions& functions);

}  // namespace quarry::lab
