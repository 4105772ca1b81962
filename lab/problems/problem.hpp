/// A problem as the command line describes it: sizes, operands, epilogue and controls, as values without
/// data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "lab/problems/arguments.hpp"

namespace quarry::lab {

/// How one matrix operand is stored.
struct OperandSpec {
  DType dtype = DType::none;
  Layout layout = Layout::row;
  /// Elements from one row (or column, or group of 32) to the next; 0: packed.
  std::int64_t ld = 0;
  /// Elements that the pointer is a multiple of, and not of twice as many; 0: as aligned as can be.
  int alignment = 0;
  /// The matrices of a batch are found through an array of pointers, which promises that alignment.
  bool array = false;
  friend bool operator==(const OperandSpec&, const OperandSpec&) = default;
};

/// What has a factor of its own: each row of the output, each column, or all of it.
enum class ScaleAxis : std::uint8_t { row, column, tensor };

struct Problem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  /// Of a reduction the slices; their type is that of `a`, and there is no `b`.
  std::int64_t k = 0;
  /// Entries of the batch; 0: no batch, operands of rank 2.
  std::int64_t batch = 0;
  OperandSpec a = {};
  OperandSpec b = {};
  /// Absent: stored as `out` is, where beta needs it.
  std::optional<OperandSpec> c = {};
  /// C is the output's own memory.
  bool in_place = false;
  OperandSpec out = {};
  std::optional<DType> accumulator = {};
  Math math = Math::exact;
  double alpha = 1;
  double beta = 0;
  Activation activation = Activation::identity;
  float slope = 0.01F;
  std::optional<BiasAxis> bias = {};
  std::optional<ScaleAxis> scale = {};
  std::optional<OperandSpec> residual = {};
  /// The residual is the output's own memory.
  bool residual_in_place = false;
  std::optional<OperandSpec> aux = {};
  Clamp clamp = {};
  Controls controls = {};
  /// Where the problem comes from, in its shapes file's words; may be empty.
  std::string label = {};
  Operation operation = Operation::gemm;
};

/// Bytes that a matrix stored so takes, roughly.
double stored_bytes(const OperandSpec& spec, std::int64_t rows, std::int64_t columns);

/// The problem with fake tensors: good for everything but running.
Arguments arguments_of(const Problem& problem);

/// How memory is made for the problem's operands.
host::RandomOptions random_options(const Problem& problem, std::uint64_t seed);

/// "4096x4096x4096", with a batch and a "*" in front where there is one; of a reduction the slices first.
std::string shape_text(const Problem& problem);

/// The problem in the words of the command line, "gemm 4096x4096x4096 --a f16:row ...", such that parsing
/// gives it back.
std::string command_text(const Problem& problem);

/// Floating-point operations of the products, or the additions of a reduction.
double flops(const Problem& problem);

}  // namespace quarry::lab
