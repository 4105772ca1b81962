/// What the registry can do: operand types by layouts, modes, epilogues, and how many kernels of each. Told
/// from metadata alone.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quarry/kernel.hpp"

namespace quarry::lab {

/// The types of a problem, and what is done to its operands. Of an operation that multiplies nothing, there
/// are no operands.
struct TypeKey {
  DType a, b, accumulator, out;
  Math math;
  Operation operation = {};
  friend auto operator<=>(const TypeKey&, const TypeKey&) = default;
};
TypeKey type_key(const KernelMetadata& kernel);

/// Layouts of a, b and out.
struct LayoutKey {
  Layout a, b, out;
  friend auto operator<=>(const LayoutKey&, const LayoutKey&) = default;
};
LayoutKey layout_key(const KernelMetadata& kernel);

/// Whether none of them is interleaved.
bool is_strided(const LayoutKey& key);

/// Whether a kernel takes problems of its types and layouts whatever their sizes (multiples of 32, where they
/// are interleaved), strides, alignment and kind of batch (except arrays of interleaved matrices): one that
/// reads elements one by one, on any device. Of problems without scales of operands.
bool takes_any_problem(const KernelMetadata& kernel);

/// The same of problems with scales of A or B.
bool takes_any_scaled_problem(const KernelMetadata& kernel);

/// The same of problems with zero points of B.
bool takes_any_problem_with_zeros(const KernelMetadata& kernel);

/// The kernels of one TypeKey. Texts are lists; a number in brackets says how many kernels it is, where it
/// is not all of them.
struct CoverageRow {
  TypeKey types;
  std::int64_t kernels = 0;
  std::string families;      ///< "gemm_simt (24), gemm_sm80 (432)"
  std::string math_units;    ///< "simt (24), tensor_core (432)"
  std::string instructions;  ///< "16x8x16 (432), 64x8..256x16 (912)"; as if not exchanged
  std::string layouts;     ///< "all 8, 57 to 60 each", or "rrr (3), rcr (5)" in the letters of kernels' names
  std::string modes;       ///< "gemm, split_k_parallel (12)"
  std::string epilogue;    ///< "activation, bias"
  std::string alignments;  ///< of A x B, in elements: "1x1 (24), 8x8 (432)"
  /// Families of kernels that take any problem of these types, or "none"; with the layouts that they lack.
  std::string any_problem;
};

/// A row for each TypeKey that occurs, in the order of operations, then of the keys.
std::vector<CoverageRow> coverage(std::span<const Kernel> kernels);

}  // namespace quarry::lab
