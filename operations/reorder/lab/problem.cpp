#include <algorithm>

#include "lab/problems/epilogue_spec.hpp"
#include "operations/reorder/lab/operation.hpp"
#include "quarry/conv2d.hpp"

namespace quarry::lab::reorder {
namespace {

std::string sizes_text(const Problem& p) {
  if (!p.tensor) return std::to_string(p.m) + "x" + std::to_string(p.n);
  std::string text;
  for (const std::int64_t extent : *p.tensor) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

/// A tensor of four extents.
TensorView tensor_of(const Problem& p, const OperandSpec& spec) {
  const auto& e = *p.tensor;
  TensorView view = TensorView::row_major(nullptr, spec.dtype, {e[0], e[1], e[2], e[3]});
  if (is_interleaved(spec.layout))
    view = p.is_filters ? c32rsk32(nullptr, spec.dtype, e) : nc32hw32(nullptr, spec.dtype, e);
  align(view, spec);
  return view;
}

/// Refuses what a tensor of four extents is not.
void check_tensor_operand(SettingReader& reader, std::string_view name, const OperandSpec& spec) {
  if ((spec.layout == Layout::row || spec.layout == Layout::column_interleaved32) && spec.ld == 0) return;
  reader.fail(name, Status(StatusCode::parse_error,
                           "tensors of four extents are packed, as row or as col32: expected TYPE:row or "
                           "TYPE:col32"));
}

/// The sizes: two, or four.
Status read_shape(std::string_view shape, SettingReader& reader, Problem& problem) {
  const bool is_tensor = std::ranges::count(shape, 'x') >= 3;
  const auto sizes =
      is_tensor ? parse_sizes(shape, "NHWC", "32x56x56x64") : parse_sizes(shape, "MN", "4096x4096");
  if (!sizes) return sizes.status();
  problem.batch = read_batch(reader);
  const auto kind = reader.read("tensor", [](std::string_view text) -> Result<bool> {
    const auto word = parse_word("tensor", text, {"images", "filters"});
    if (!word) return word.status();
    return *word == 1;
  });
  problem.is_filters = kind.value_or(false);
  if (is_tensor) {
    if (problem.batch > 0)
      return {StatusCode::parse_error, "--batch: a tensor of four extents has no batch beside them"};
    problem.tensor = {(*sizes)[0], (*sizes)[1], (*sizes)[2], (*sizes)[3]};
    return {};
  }
  if (kind) return {StatusCode::parse_error, "--tensor: it goes with a shape of four sizes"};
  problem.m = (*sizes)[0];
  problem.n = (*sizes)[1];
  return {};
}

/// An operand's parts, which are no array of pointers.
std::optional<OperandParts> read_matrix(SettingReader& reader, std::string_view name) {
  const auto parts = reader.read(name, parse_operand);
  if (parts && parts->array)
    reader.fail(name, Status(StatusCode::parse_error, "a reorder takes no array of pointers"));
  if (parts && parts->shared)
    reader.fail(name,
                Status(StatusCode::parse_error, "a reorder copies a matrix for each entry of the batch"));
  return parts;
}

}  // namespace

ReorderArguments Lab::arguments(const Problem& p) {
  if (p.tensor) return {.from = tensor_of(p, p.from), .to = tensor_of(p, p.to)};
  return {.from = view_of(p.from, p.batch, p.m, p.n), .to = view_of(p.to, p.batch, p.m, p.n)};
}

Result<Problem> Lab::parse(std::string_view shape, SettingReader& reader) {
  Problem problem;
  if (Status s = read_shape(shape, reader, problem); !s) return s;
  const auto type = reader.read("type", parse_dtype);
  const auto from = read_matrix(reader, "from");
  const auto to = read_matrix(reader, "to");
  const DType of_from = from ? from->dtype.value_or(DType::none) : DType::none;
  const DType of_to = to ? to->dtype.value_or(DType::none) : DType::none;
  problem.from = complete(from, type.value_or(of_to));
  problem.to = complete(to, type.value_or(of_from));
  check_batch(reader, "from", problem.from, problem.batch);
  check_batch(reader, "to", problem.to, problem.batch);
  if (problem.tensor) {
    check_tensor_operand(reader, "from", problem.from);
    check_tensor_operand(reader, "to", problem.to);
  }
  if (bits_of(problem.from.dtype) == 0 || bits_of(problem.to.dtype) == 0) {
    return Status(StatusCode::parse_error,
                  "which type? Give the type of the matrices after the shape (reorder 4096x4096 s8)");
  }
  return problem;
}

std::string Lab::shape_text(const Problem& p) {
  return (p.batch > 0 ? std::to_string(p.batch) + "*" : "") + sizes_text(p);
}

std::string Lab::command_text(const Problem& p) {
  std::string text =
      sizes_text(p) + flag_text("from", operand_text(p.from)) + flag_text("to", operand_text(p.to));
  if (p.batch > 0) text += flag_text("batch", std::to_string(p.batch));
  if (p.is_filters) text += flag_text("tensor", "filters");
  return text;
}

}  // namespace quarry::lab::reorder
