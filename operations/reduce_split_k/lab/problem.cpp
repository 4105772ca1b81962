#include "common/config_parts.hpp"
#include "operations/reduce_split_k/lab/operation.hpp"

namespace quarry::lab::reduce_split_k {
namespace {

std::string sizes_text(const Problem& p) {
  return std::to_string(p.slices) + "x" + std::to_string(p.m) + "x" + std::to_string(p.n);
}

/// Packed slices, as a fake tensor.
TensorView partials_of(const Problem& p) {
  TensorView view = p.batch > 0
                        ? TensorView::row_major(nullptr, p.partials.dtype, {p.slices, p.batch, p.m, p.n})
                        : TensorView::row_major(nullptr, p.partials.dtype, {p.slices, p.m, p.n});
  align(view, p.partials);
  return view;
}

/// Partial sums and the output, whose type is the partial sums' unless it is said.
Status read_operands(SettingReader& reader, Problem& problem) {
  const auto type = reader.read("type", parse_dtype);
  const auto partials = reader.read("partials", parse_operand);
  const auto out = reader.read("out", parse_operand);
  if (!reader.status()) return reader.status();
  if (partials &&
      (partials->layout || partials->ld != 0 || partials->array || partials->shared || partials->stride))
    return Status(StatusCode::parse_error, "--partials: partial sums are packed: expected TYPE[:align=N]");
  problem.partials = complete(partials, type.value_or(DType::none));
  if (problem.partials.dtype == DType::none) {
    return Status(
        StatusCode::parse_error,
        "which type? Give the type of the partial sums after the shape (reduce_split_k 8x512x512 f32)");
  }
  problem.out = complete(out, problem.partials.dtype);
  return {};
}

}  // namespace

ReduceSplitKArguments Lab::arguments(const Problem& p) {
  const OutputSpec output = p.output();
  return {.partials = partials_of(p),
          .c = c_of(p.epilogue, output),
          .out = view_of(p.out, p.batch, p.m, p.n),
          .epilogue = epilogue_of(p.epilogue, output, compute_type(p.partials.dtype, p.out.dtype))};
}

Result<Problem> Lab::parse(std::string_view shape, SettingReader& reader) {
  const Result<std::vector<std::int64_t>> sizes = parse_sizes(shape, "SMN", "8x1024x4096");
  if (!sizes) return sizes.status();
  Problem problem{.slices = (*sizes)[0], .m = (*sizes)[1], .n = (*sizes)[2]};
  problem.batch = read_batch(reader);
  if (Status s = read_operands(reader, problem); !s) return s;
  check_batch(reader, "out", problem.out, problem.batch, true);
  problem.epilogue = read_epilogue(reader, problem.output());
  return problem;
}

std::string Lab::shape_text(const Problem& p) {
  return (p.batch > 0 ? std::to_string(p.batch) + "*" : "") + sizes_text(p);
}

std::string Lab::command_text(const Problem& p) {
  std::string text = sizes_text(p) + flag_text("partials", typed_text(p.partials)) + c_text(p.epilogue) +
                     flag_text("out", operand_text(p.out));
  if (p.batch > 0) text += flag_text("batch", std::to_string(p.batch));
  return text + epilogue_text(p.epilogue);
}

}  // namespace quarry::lab::reduce_split_k
