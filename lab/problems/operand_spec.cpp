#include "lab/problems/operand_spec.hpp"

#include <algorithm>
#include <iterator>

#include "common/config_parts.hpp"

namespace quarry::lab {

OperandSpec complete(const std::optional<OperandParts>& parts, DType otherwise) {
  if (!parts) return {.dtype = otherwise};
  return {.dtype = parts->dtype.value_or(otherwise),
          .layout = parts->layout.value_or(Layout::row),
          .ld = parts->ld,
          .alignment = parts->alignment,
          .array = parts->array,
          .shared = parts->shared,
          .stride = parts->stride};
}

void align(TensorView& view, const OperandSpec& spec) {
  constexpr long long allocated = 256;     // what allocators of device memory give
  constexpr long long greatest = 1 << 15;  // of assumed_alignment, in bytes
  view.assumed_alignment = static_cast<std::uint16_t>(
      spec.alignment > 0 ? std::min(greatest, bytes_for(spec.dtype, spec.alignment)) : allocated);
}

TensorView view_of(const OperandSpec& spec, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  constexpr decltype(&TensorView::row_major) makers[] = {&TensorView::row_major, &TensorView::column_major,
                                                         &TensorView::row_interleaved32,
                                                         &TensorView::column_interleaved32};
  static_assert(std::size(makers) == layout_count);
  const auto make = makers[static_cast<std::size_t>(spec.layout)];
  const auto make_array =
      spec.layout == Layout::row ? &PointerArrayView::row_major : &PointerArrayView::column_major;
  const bool has_entries = batch > 0 && !spec.shared;
  TensorView view = spec.array    ? make_array(nullptr, spec.dtype, batch, {rows, columns}, spec.ld)
                    : has_entries ? make(nullptr, spec.dtype, {batch, rows, columns}, spec.ld)
                                  : make(nullptr, spec.dtype, {rows, columns}, spec.ld);
  if (spec.stride && view.rank == 3) view.strides[0] = *spec.stride;
  align(view, spec);
  return view;
}

std::string typed_text(const OperandSpec& spec) {
  const std::string type(to_string(spec.dtype));
  return spec.alignment > 0 ? type + ":align=" + std::to_string(spec.alignment) : type;
}

std::string operand_text(const OperandSpec& spec) {
  std::string text(to_string(spec.dtype));
  text.append(":").append(layout_word(spec.layout));
  if (spec.ld > 0) text += ":ld=" + std::to_string(spec.ld);
  if (spec.alignment > 0) text += ":align=" + std::to_string(spec.alignment);
  if (spec.stride) text += ":stride=" + std::to_string(*spec.stride);
  if (spec.array) text += ":array";
  if (spec.shared) text += ":shared";
  return text;
}

void check_batch(SettingReader& reader, std::string_view name, const std::optional<OperandSpec>& spec,
                 std::int64_t batch, bool is_output) {
  if (!spec || (!spec->array && !spec->shared && !spec->stride)) return;
  const auto wrong = [&](const std::string& why) { reader.fail(name, Status(StatusCode::parse_error, why)); };
  if (spec->array && spec->shared)
    return wrong("an array of pointers has a matrix for each entry of the batch");
  if (spec->stride && (spec->array || spec->shared))
    return wrong("a batch stride goes with neither an array nor a shared matrix");
  if (spec->shared && is_output) return wrong("entries of a batch have outputs of their own");
  if (spec->array && is_interleaved(spec->layout))
    return wrong("the matrices of an array of pointers are stored by rows or columns, not interleaved");
  const std::string what = spec->array    ? "an array of pointers"
                           : spec->shared ? "a shared matrix"
                                          : "a batch stride";
  if (batch > 0) return;
  wrong(what + " goes with a batch" +
        (reader.knows("batch") ? "; say --batch N" : ", which this problem does not have"));
}

}  // namespace quarry::lab
