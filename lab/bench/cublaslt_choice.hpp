/// What an algorithm of cuBLASLt is: tile, stages, cluster, slices of K.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/bench/cublaslt_api.hpp"
#include "lab/bench/yardstick.hpp"

namespace quarry::lab {

/// The config of an algorithm, as the library holds it (cublasLtMatmulAlgoConfigAttributes_t). Each type is
/// the attribute's.
struct CublasLtChoice {
  std::int32_t algorithm = 0;
  std::uint32_t tile = 0;
  std::int32_t split_k = 1;
  std::uint32_t reduction = 0;
  std::uint32_t swizzle = 0;
  std::uint32_t custom = 0;
  std::uint32_t stages = 0;
  std::uint16_t inner_shape = 0;
  std::uint16_t cluster = 0;
};

/// The name of a value as cublasLt.h of CUDA 13.0 has it, without the prefix and in small letters: "128x256",
/// "64x4", "16xauto", "2x1x1", "mma16816", "in_place". A value that the header does not have is its number.
std::string cublaslt_tile_text(std::uint32_t value);
std::string cublaslt_stages_text(std::uint32_t value);
std::string cublaslt_cluster_text(std::uint32_t value);
std::string cublaslt_inner_shape_text(std::uint32_t value);
std::string cublaslt_reduction_text(std::uint32_t value);

/// The parts by name. Reduction, swizzle, inner shape and custom option are absent at the library's default.
std::vector<ChoicePart> choice_parts(const CublasLtChoice& choice);

/// Asks the library; absent where it does not tell.
std::optional<CublasLtChoice> read_choice(const CublasLtFunctions& functions,
                                          const CublasLtAlgorithm& algorithm);

}  // namespace quarry::lab
