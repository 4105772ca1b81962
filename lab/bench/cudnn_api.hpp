/// cuDNN's library, opened when it is needed. Its functions and numbers are declared here, as far as they are
/// used, so that neither its headers nor the library is needed to build. They are as in cudnn_graph.h of
/// cuDNN 9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "quarry/status.hpp"

struct CUstream_st;

namespace quarry::lab {

/// The library's own objects, made and destroyed by its functions.
struct CudnnContext;
/// cudnnBackendDescriptor_t: everything else, told and asked by attributes.
struct CudnnObject;

/// Functions by their C names, less `cudnn`. All that give an int answer 0 for success.
struct CudnnFunctions {
  std::size_t (*version)();
  const char* (*error_string)(int status);
  int (*create)(CudnnContext** context);
  int (*destroy)(CudnnContext* context);
  int (*set_stream)(CudnnContext* context, CUstream_st* stream);
  int (*make)(int kind, CudnnObject** object);
  int (*unmake)(CudnnObject* object);
  int (*finalize)(CudnnObject* object);
  int (*set)(CudnnObject* object, int attribute, int type, std::int64_t count, const void* values);
  int (*get)(const CudnnObject* object, int attribute, int type, std::int64_t asked, std::int64_t* count,
             void* values);
  int (*execute)(CudnnContext* context, CudnnObject* plan, CudnnObject* pack);
};

/// cudnnBackendDescriptorType_t.
enum CudnnKind : int {
  dnn_convolution = 1,
  dnn_engine = 2,
  dnn_config = 3,
  dnn_heuristics = 4,
  dnn_plan = 5,
  dnn_fprop = 10,
  dnn_wgrad = 11,
  dnn_dgrad = 12,
  dnn_graph = 15,
  dnn_pack = 16,
  dnn_tensor = 17
};
/// cudnnBackendAttributeType_t. Values of an enumeration are int.
enum CudnnValue : int {
  dnn_context = 0,
  dnn_data_type = 1,
  dnn_int64 = 3,
  dnn_float = 4,
  dnn_double = 5,
  dnn_pointer = 6,
  dnn_convolution_mode = 7,
  dnn_heuristics_mode = 8,
  dnn_note = 11,
  dnn_object = 15
};
/// cudnnBackendAttributeName_t.
enum CudnnAttribute : int {
  dnn_convolution_computes = 100,
  dnn_convolution_kind = 101,
  dnn_convolution_dilations = 102,
  dnn_convolution_strides = 103,
  dnn_convolution_padding_behind = 104,
  dnn_convolution_padding_before = 105,
  dnn_convolution_axes = 106,
  dnn_heuristics_kind = 200,
  dnn_heuristics_graph = 201,
  dnn_heuristics_results = 202,
  dnn_config_engine = 300,
  dnn_plan_context = 400,
  dnn_plan_config = 401,
  dnn_plan_workspace = 402,
  dnn_fprop_alpha = 700,  ///< then beta, convolution, w, x, y
  dnn_dgrad_alpha = 706,  ///< then beta, convolution, w, grad x, grad y
  dnn_wgrad_alpha = 712,  ///< then beta, convolution, grad w, x, grad y
  dnn_graph_context = 800,
  dnn_graph_operations = 801,
  dnn_tensor_alignment = 900,
  dnn_tensor_type = 901,
  dnn_tensor_extents = 902,
  dnn_tensor_strides = 903,
  dnn_tensor_id = 906,
  dnn_pack_ids = 1000,
  dnn_pack_pointers = 1001,
  dnn_pack_workspace = 1003,
  dnn_engine_notes = 1303
};
/// cudnnDataType_t.
enum CudnnType : int {
  dnn_f32 = 0,
  dnn_f64 = 1,
  dnn_f16 = 2,
  dnn_s8 = 3,
  dnn_s32 = 4,
  dnn_u8 = 6,
  dnn_bf16 = 9
};
/// cudnnConvolutionMode_t.
enum CudnnConvolutionMode : int { dnn_true_convolution = 0, dnn_correlation = 1 };
/// cudnnBackendHeurMode_t.
enum CudnnHeuristicsMode : int { dnn_heuristics_fallback = 2, dnn_heuristics_best = 3 };
/// cudnnBackendNumericalNote_t: what an engine does to numbers.
enum CudnnNote : int {
  dnn_uses_tensor_cores = 0,
  dnn_converts_inputs_down = 1,
  dnn_adds_in_less = 2,
  dnn_notes = 16  ///< no note: more than there are
};

/// Opens the library as open_shared does.
Result<CudnnFunctions> open_cudnn(const std::string& path);

/// The file that the functions came from.
std::string path_of(const CudnnFunctions& functions);

}  // namespace quarry::lab
