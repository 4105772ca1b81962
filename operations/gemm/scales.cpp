#include "operations/gemm/scales.hpp"

#include <optional>
#include <string>

#include "basic/words.hpp"
#include "common/config_parts.hpp"
#include "operations/common/epilogue_checks.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry {
namespace {

using detail::granularity_words;

}  // namespace

std::string_view to_string(ScaleGranularity granularity) {
  return detail::word_of(granularity_words, granularity);
}

Result<ScaleGranularity> parse_scale_granularity(std::string_view word) {
  const std::optional<std::size_t> value = detail::value_of(granularity_words, word);
  if (value) return static_cast<ScaleGranularity>(*value);
  return Status(StatusCode::parse_error,
                detail::unknown_word("granularity of scales", word, granularity_words));
}

namespace detail {
namespace {

std::int64_t entries_of(const GemmArguments& args) { return args.out.rank == 3 ? args.out.extents[0] : 0; }

/// Whether kernels of the operands' types take scales that change every 32 or 64 positions of K.
bool have_groups(const GemmArguments& args) { return is_half(args.a.dtype) && is_weight(args.b.dtype); }

GivenScale scales_of_a(const GemmArguments& args) {
  return {.name = Operand::a_scale,
          .view = args.a_scale,
          .granularity = args.a_scale_granularity,
          .of = {rows(args.a), columns(args.a)},
          .most_rank = args.out.rank,
          .entries = entries_of(args),
          .offers_groups = have_groups(args)};
}

GivenScale scales_of_b(const GemmArguments& args) {
  return {.name = Operand::b_scale,
          .view = args.b_scale,
          .granularity = args.b_scale_granularity,
          .of = {rows(args.b), columns(args.b)},
          .most_rank = args.out.rank,
          .entries = entries_of(args),
          .offers_groups = have_groups(args)};
}

GivenScale zeros_of_b(const GemmArguments& args) {
  return {.name = Operand::b_zero,
          .view = args.b_zero,
          .granularity = args.b_scale_granularity,
          .of = {rows(args.b), columns(args.b)},
          .most_rank = args.out.rank,
          .entries = entries_of(args),
          .type = DType::u8};
}

std::int64_t blocks(std::int64_t extent, int size = scale_block) {
  return extent / size + (extent % size != 0 ? 1 : 0);
}

std::string quoted(Operand name) { return "Operand `" + std::string(to_string(name)) + "`"; }

/// "row {256, 1}"
std::string described(ScaleGranularity granularity, const MatrixExtents& extents) {
  return std::string(to_string(granularity)) + " {" + std::to_string(extents.rows) + ", " +
         std::to_string(extents.columns) + "}";
}

bool may_have(const GivenScale& scale, ScaleGranularity granularity) {
  if (scale.name == Operand::b_zero && granularity != scale.granularity) return false;
  return permits(scale.name, granularity) && (scale.may_be_grouped || !is_grouped(granularity));
}

/// What the operand could have: "tensor {1, 1}, row {256, 1} or 1x128 {256, 8}".
std::string fitting(const GivenScale& scale) {
  std::string text;
  std::string last;
  for (std::size_t i = 0; i < std::size(granularity_words); ++i) {
    const auto granularity = static_cast<ScaleGranularity>(i);
    if (!may_have(scale, granularity) || (is_grouped(granularity) && !scale.offers_groups)) continue;
    if (!last.empty()) text += (text.empty() ? "" : ", ") + last;
    last = described(granularity, scale_extents(scale.name, granularity, scale.of));
  }
  return text.empty() ? last : text + " or " + last;
}

Status check_scale_extents(const GivenScale& scale) {
  const TensorView& view = *scale.view;
  const MatrixExtents given = {rows(view), columns(view)};
  const bool fits =
      may_have(scale, scale.granularity) && given == scale_extents(scale.name, scale.granularity, scale.of);
  if (!fits) {
    return invalid(quoted(scale.name) + " does not fit: expected " + fitting(scale) + ", got " +
                   described(scale.granularity, given));
  }
  if (view.rank == 3 && view.extents[0] != scale.entries) {
    return {StatusCode::invalid_arguments, Reason::batch, scale.name, scale.entries, view.extents[0]};
  }
  return {};
}

}  // namespace

Status check_scale(const GivenScale& scale, DType compute) {
  if (!scale.view) return {};
  const TensorView& view = *scale.view;
  if (compute == DType::s32) {
    return invalid(quoted(scale.name) +
                   " is unsupported: an s32 output is computed in s32, which is not scaled");
  }
  if (Status s = check_tensor(view, scale.name, 2, scale.most_rank); !s) return s;
  if (view.dtype != scale.type) {
    return {StatusCode::invalid_arguments, Reason::dtype, scale.name, static_cast<int>(scale.type),
            static_cast<int>(view.dtype)};
  }
  if (view.tag != LayoutTag::strided)
    return invalid(quoted(scale.name) + " is interleaved: scales are strided");
  return check_scale_extents(scale);
}

OperandScale operand_scale(const GivenScale& scale) {
  if (!scale.view) return {};
  const TensorView& view = *scale.view;
  const bool of_a = scale.name == Operand::a_scale;
  const std::int64_t row_stride = view.strides[view.rank - 2U];
  const std::int64_t column_stride = view.strides[view.rank - 1U];
  const bool batched = view.rank == 3 && view.extents[0] > 1;
  OperandScale result = {.data = view.data, .is_given = true, .granularity = scale.granularity};
  if (scale.granularity != ScaleGranularity::tensor) result.line_stride = of_a ? row_stride : column_stride;
  if (is_blocked(scale.granularity)) result.k_stride = of_a ? column_stride : row_stride;
  if (batched) result.batch_stride = view.strides[0];
  if (view.is_pointer_array) result.batch_stride = pointer_array_stride;
  return result;
}

bool permits(Operand scale, ScaleGranularity granularity) {
  switch (granularity) {
    case ScaleGranularity::tensor:
    case ScaleGranularity::block_1x32:
    case ScaleGranularity::block_1x64:
    case ScaleGranularity::block_1x128: return true;
    case ScaleGranularity::row: return scale == Operand::a_scale;
    case ScaleGranularity::column:
    case ScaleGranularity::block_128x128: return scale != Operand::a_scale;
  }
  return false;
}

MatrixExtents scale_extents(Operand scale, ScaleGranularity granularity, const MatrixExtents& of) {
  const bool of_a = scale == Operand::a_scale;
  const std::int64_t lines = of_a ? of.rows : of.columns;
  const std::int64_t k = of_a ? of.columns : of.rows;
  const std::int64_t along_k = is_blocked(granularity) ? blocks(k, k_positions(granularity)) : 1;
  std::int64_t along_lines = lines;
  if (granularity == ScaleGranularity::tensor) along_lines = 1;
  if (granularity == ScaleGranularity::block_128x128) along_lines = blocks(lines);
  return of_a ? MatrixExtents{along_lines, along_k} : MatrixExtents{along_k, along_lines};
}

namespace {

/// Checks zero points. @pre there are some, and the scales were checked
Status check_zeros(const GemmArguments& args, DType compute) {
  if (!args.b_scale)
    return invalid(quoted(Operand::b_zero) + " stands without `b_scale`, whose granularity zero points have");
  if (!is_unsigned(args.b.dtype) || !is_half(args.a.dtype)) {
    return invalid(quoted(Operand::b_zero) +
                   " is for unsigned weights: expected `b` of u4 or u8 beside `a` of f16 or bf16, got " +
                   std::string(to_string(args.b.dtype)) + " beside " + std::string(to_string(args.a.dtype)));
  }
  return check_scale(zeros_of_b(args), compute);
}

}  // namespace

Status check_scales(const GemmArguments& args, DType compute) {
  if (Status s = check_scale(scales_of_a(args), compute); !s) return s;
  if (Status s = check_scale(scales_of_b(args), compute); !s) return s;
  return args.b_zero ? check_zeros(args, compute) : Status();
}

OperandScales operand_scales(const GemmArguments& args) {
  OperandScales scales = {operand_scale(scales_of_a(args)), operand_scale(scales_of_b(args))};
  if (args.b_zero) {
    const OperandScale zero = operand_scale(zeros_of_b(args));
    scales.b.zero = {zero.data, zero.line_stride, zero.k_stride, zero.batch_stride, true};
  }
  return scales;
}

}  // namespace detail
}  // namespace quarry
