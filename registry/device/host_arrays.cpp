#include "registry/device/host_arrays.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "operations/common/operand_checks.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/common/written_pieces.hpp"
#include "registry/device/memory.hpp"

namespace quarry::detail {
namespace {

std::string entry_text(Operand name, std::int64_t entry) {
  return "entry " + std::to_string(entry) + " of the array of pointers `" + std::string(to_string(name)) +
         "`";
}

/// Checks a pointer by what the array promises of all.
Status check_alignment(const TensorView& view, Operand name, std::int64_t entry, const void* matrix) {
  if (reinterpret_cast<std::uintptr_t>(matrix) % view.assumed_alignment == 0) return {};
  return invalid("Misaligned pointer: " + entry_text(name, entry) + ": it is not a multiple of the " +
                 std::to_string(view.assumed_alignment) + " bytes that are promised");
}

/// Checks the pointers of one array.
Status check_pointers(const TensorView& view, Operand name) {
  const auto* const pointers = static_cast<const void* const*>(view.data);
  for (std::int64_t entry = 0; entry < view.extents[0]; ++entry) {
    const void* const matrix = pointers[entry];
    if (matrix == nullptr) return invalid("Null pointer: " + entry_text(name, entry));
    if (Status s = check_alignment(view, name, entry, matrix); !s) return s;
    if (locate(matrix).kind == MemoryKind::device) {
      return invalid("Pointer to device memory in an array in host memory: " + entry_text(name, entry) +
                     "; the array must be in device memory too");
    }
  }
  return {};
}

/// Whether a run reads or writes the matrix of an entry of a list, as far as the problem's sizes tell.
bool is_used(Operand name, const std::int32_t* size) {
  const bool is_factor =
      name == Operand::a || name == Operand::b || name == Operand::a_scale || name == Operand::b_scale;
  return size[0] > 0 && size[1] > 0 && (size[2] > 0 || !is_factor);
}

/// Checks the promise of more alignment than an element's, of an array whose matrices have extents of their
/// own. What else may be wrong with its pointers, the operation sees. @param sizes of the problems, in rows
/// of three
Status check_promise(const TensorView& view, Operand name, const TensorView& sizes) {
  if (view.assumed_alignment <= bytes_of(view.dtype)) return {};
  const auto* const pointers = static_cast<const void* const*>(view.data);
  const auto* const size = static_cast<const std::int32_t*>(sizes.data);
  for (std::int64_t entry = 0; entry < view.extents[0]; ++entry) {
    if (!is_used(name, size + 3 * entry)) continue;  // its pointer is not looked at
    if (Status s = check_alignment(view, name, entry, pointers[entry]); !s) return s;
  }
  return {};
}

/// The same of all such arrays.
Status check_promises(const OperandList& operands) {
  const OperandRef* const sizes = operands.find(Operand::sizes);
  for (const OperandRef& operand : operands) {
    if (sizes == nullptr || !operand.has_own_extents || operand.is_unused || !has_elements(*operand.view))
      continue;
    if (Status s = check_promise(*operand.view, operand.name, *sizes->view); !s) return s;
  }
  return {};
}

constexpr std::int64_t all_entries = -1;

/// The matrix of one batch entry, or of all of them.
struct Piece {
  TensorView view;
  Operand name;
  std::int64_t entry;
  std::int64_t entries;  ///< of its operand: one that all share is read with each
  ByteRange bytes;
  bool is_output;
  bool may_be_out;
  bool is_array;  ///< no matrix: the array of pointers itself
};

/// The matrices of an array, and the array itself to `arrays`; or a view as a whole.
void add_pieces(const OperandRef& used, std::vector<Piece>& pieces, std::vector<Piece>& arrays) {
  const TensorView& view = *used.view;
  if (!view.is_pointer_array) {
    const std::int64_t entries = view.rank == 3 ? view.extents[0] : 1;
    pieces.push_back(
        {view, used.name, all_entries, entries, byte_range(view), used.is_output, used.may_be_out, false});
    return;
  }
  const TensorView array = TensorView::vector(view.data, DType::f64, view.extents[0]);
  static_assert(sizeof(double) == sizeof(void*));
  arrays.push_back({array, used.name, all_entries, 1, byte_range(array), false, false, true});
  TensorView matrix = TensorView::strided(nullptr, view.dtype, std::span(view.extents).subspan(1, 2),
                                          std::span(view.strides).subspan(1, 2));
  for (std::int64_t entry = 0; entry < view.extents[0]; ++entry) {
    matrix.data = static_cast<const void* const*>(view.data)[entry];
    pieces.push_back({matrix, used.name, entry, view.extents[0], byte_range(matrix), used.is_output,
                      used.may_be_out, false});
  }
}

/// Where the matrix of one batch entry starts; null where entries share it.
const void* start_of(const Piece& piece, std::int64_t entry) {
  const TensorView& view = piece.view;
  if (piece.entry != all_entries) return view.data;
  if (view.rank != 3 || (view.extents[0] > 1 && view.strides[0] == 0)) return nullptr;
  return static_cast<const char*>(view.data) + entry * view.strides[0] * bits_of(view.dtype) / 8;
}

/// @param other of an output
Status overlap(const Piece& one, const Piece& other) {
  if (one.is_array) {
    return invalid("The array of pointers `" + std::string(to_string(one.name)) + "` overlaps `" +
                   std::string(to_string(other.name)) + "`");
  }
  if (one.name == other.name) {
    return invalid("Operand `" + std::string(to_string(one.name)) + "` overlaps itself: entries " +
                   std::to_string(std::min(one.entry, other.entry)) + " and " +
                   std::to_string(std::max(one.entry, other.entry)) +
                   " of its array of pointers share memory");
  }
  // Of two outputs, `out` is at fault, as in check_overlaps: the one that is named first.
  const bool in_front = !one.is_output || one.name < other.name;
  const Piece& operand = in_front ? one : other;
  const Piece& output = in_front ? other : one;
  return output_overlap(operand.name, operand.may_be_out, output.name);
}

struct Rules {
  /// Whether C or a residual is the output itself there, of one batch entry.
  static bool is_in_place(const Piece& input, const Piece& out) {
    if (!input.may_be_out || out.name != Operand::out || input.entries != out.entries) return false;
    const bool both = input.entry != all_entries && out.entry != all_entries;
    if (both && input.entry != out.entry) return false;
    const std::int64_t entry = std::max(input.entry, out.entry);
    const void* const start = start_of(input, entry);
    if (start == nullptr || start != start_of(out, entry)) return false;
    for (const unsigned back : {1U, 2U}) {  // the same columns and rows
      const std::size_t x = input.view.rank - back;
      const std::size_t y = out.view.rank - back;
      if (input.view.extents[x] != out.view.extents[y]) return false;  // it is broadcast
      if (input.view.extents[x] > 1 && input.view.strides[x] != out.view.strides[y]) return false;
    }
    return true;
  }

  static Status check(const Piece& piece, const Piece& out) {
    const bool were_checked = piece.entry == all_entries && out.entry == all_entries;
    if (were_checked || !may_overlap(piece.view, out.view) || is_in_place(piece, out)) return {};
    return overlap(piece, out);
  }
};

Status check_pieces(const std::vector<OperandRef>& used) {
  std::vector<Piece> outputs;
  std::vector<Piece> inputs;
  for (const OperandRef& operand : used) add_pieces(operand, operand.is_output ? outputs : inputs, inputs);
  return check_written<Rules>(std::move(outputs), inputs);
}

}  // namespace

Status check_host_arrays(const OperandList& operands) {
  if (Status s = check_promises(operands); !s) return s;
  const auto is_array = [](const OperandRef& operand) {
    return operand.view->is_pointer_array && !operand.has_own_extents;
  };
  if (std::none_of(operands.begin(), operands.end(), is_array)) return {};
  try {
    std::vector<OperandRef> used;
    for (const OperandRef& operand : operands) {
      if (!operand.is_unused && has_elements(*operand.view)) used.push_back(operand);
    }
    for (const OperandRef& operand : used) {
      if (!is_array(operand)) continue;
      if (Status s = check_pointers(*operand.view, operand.name); !s) return s;
    }
    return check_pieces(used);
  } catch (const std::exception&) {
    return {StatusCode::device_error, "Out of memory for the check of arrays of pointers"};
  }
}

}  // namespace quarry::detail
