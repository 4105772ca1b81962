#include "lab/problems/epilogue_spec.hpp"
#include "operations/reorder/lab/operation.hpp"

namespace quarry::lab::reorder {
namespace {

std::string sizes_text(const Problem& p) { return std::to_string(p.m) + "x" + std::to_string(p.n); }

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
  return {.from = view_of(p.from, p.batch, p.m, p.n), .to = view_of(p.to, p.batch, p.m, p.n)};
}

Result<Problem> Lab::parse(std::string_view shape, SettingReader& reader) {
  const Result<std::vector<std::int64_t>> sizes = parse_sizes(shape, "MN", "4096x4096");
  if (!sizes) return sizes.status();
  Problem problem{.m = (*sizes)[0], .n = (*sizes)[1], .batch = read_batch(reader)};
  const auto type = reader.read("type", parse_dtype);
  const auto from = read_matrix(reader, "from");
  const auto to = read_matrix(reader, "to");
  const DType of_from = from ? from->dtype.value_or(DType::none) : DType::none;
  const DType of_to = to ? to->dtype.value_or(DType::none) : DType::none;
  problem.from = complete(from, type.value_or(of_to));
  problem.to = complete(to, type.value_or(of_from));
  check_batch(reader, "from", problem.from, problem.batch);
  check_batch(reader, "to", problem.to, problem.batch);
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
  return text;
}

}  // namespace quarry::lab::reorder
