/// How one matrix operand is stored, as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "lab/problems/settings.hpp"
#include "quarry/pointer_array.hpp"
#include "quarry/tensor.hpp"

namespace quarry::lab {

struct OperandSpec {
  DType dtype = DType::none;
  Layout layout = Layout::row;
  /// Elements from one row (or column, or group of 32) to the next; 0: packed.
  std::int64_t ld = 0;
  /// Elements that the pointer is a multiple of, and not of twice as many; 0: as aligned as can be.
  int alignment = 0;
  /// The matrices of a batch are found through an array of pointers, which promises that alignment.
  bool array = false;
  /// One matrix for all entries of the batch.
  bool shared = false;
  /// Elements from one entry of a batch to the next, 0 for one matrix that all share; absent: packed.
  std::optional<std::int64_t> stride = {};
  friend bool operator==(const OperandSpec&, const OperandSpec&) = default;
};

/// The operand of parts that may be left out. @param otherwise its type where none is said
OperandSpec complete(const std::optional<OperandParts>& parts, DType otherwise);

/// A fake tensor stored so. @param batch 0: of rank 2
TensorView view_of(const OperandSpec& spec, std::int64_t batch, std::int64_t rows, std::int64_t columns);

/// Sets the alignment of a fake tensor.
void align(TensorView& view, const OperandSpec& spec);

/// "f16:row:ld=208:align=8"; and of an operand that is packed by rows, "f16:align=8".
std::string operand_text(const OperandSpec& spec);
std::string typed_text(const OperandSpec& spec);

/// Fails the reader where an array of pointers is interleaved, an output is shared, two of an array, a shared
/// matrix and a batch stride are given, or there is no batch for any of them. @param name the flag's
void check_batch(SettingReader& reader, std::string_view name, const std::optional<OperandSpec>& spec,
                 std::int64_t batch, bool is_output = false);

}  // namespace quarry::lab
