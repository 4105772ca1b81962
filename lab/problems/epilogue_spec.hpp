/// The standard epilogue of a problem, for the operations that have it: its settings, and what they make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/problems/operand_spec.hpp"
#include "lab/problems/settings.hpp"
#include "quarry/epilogue.hpp"

namespace quarry::lab {

/// What has a factor of its own: each row of the output, each column, or all of it.
enum class ScaleAxis : std::uint8_t { row, column, tensor };

struct EpilogueSpec {
  /// Absent: stored as the output is, where beta needs it.
  std::optional<OperandSpec> c = {};
  /// C is the output's own memory.
  bool in_place = false;
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
};

/// What an epilogue must know of the output that it writes.
struct OutputSpec {
  OperandSpec out;
  std::int64_t batch;  ///< 0: none
  std::int64_t m;
  std::int64_t n;
};

/// The settings of C, and all others.
inline constexpr Setting c_settings[] = {
    {"c", "OPERAND", "How C is stored (default: as the output), or `out`: C is the output; sets beta to 1"},
    {"out", "OPERAND", "How the output is stored"},
    {"batch", "N", "Entries of a batch"},
};
inline constexpr Setting epilogue_settings[] = {
    {"alpha", "X", "Factor of the product (1)"},
    {"beta", "X", "Factor of C (0)"},
    {"activation", "NAME", "identity, relu, leaky_relu, tanh, sigmoid, silu, hardswish, gelu or gelu_tanh"},
    {"slope", "X", "Slope of leaky_relu for negative values (0.01)"},
    {"bias", "row|column", "Add a bias vector, one value for each row or column of the output"},
    {"scale", "row|column|tensor", "A factor of the product for each row, each column, or for all"},
    {"residual", "OPERAND",
     "How a matrix is stored that is added after the activation; `out`: it is the output"},
    {"aux", "OPERAND", "How a second output is stored that gets the input of the activation"},
    {"clamp", "LOW:HIGH", "Bounds of the output; either may be left out"},
};

/// Entries of the batch; 0: none.
std::int64_t read_batch(SettingReader& reader);

/// The epilogue that the settings ask for. C, residual and aux are stored as OPERAND says, of the output's
/// type unless it says another.
EpilogueSpec read_epilogue(SettingReader& reader, const OutputSpec& output);

/// The same as text: " --c out", and what stands behind the output and the batch.
std::string c_text(const EpilogueSpec& spec);
std::string epilogue_text(const EpilogueSpec& spec);

/// The arguments' epilogue and C, with fake tensors. @param compute the type that the epilogue computes in
Epilogue epilogue_of(const EpilogueSpec& spec, const OutputSpec& output, DType compute);
std::optional<TensorView> c_of(const EpilogueSpec& spec, const OutputSpec& output);

/// What is the output's own memory.
std::vector<Operand> in_place_of(const EpilogueSpec& spec);

}  // namespace quarry::lab
