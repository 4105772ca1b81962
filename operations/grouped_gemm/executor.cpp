#include "operations/grouped_gemm/executor.hpp"

#include <cstdint>
#include <exception>
#include <string>

#include "common/config_parts.hpp"
#include "operations/common/host/element.hpp"
#include "operations/gemm/host_expression.hpp"

namespace quarry::host {
namespace {

/// How a size breaks the rules; empty where it does not.
std::string fault_of_size(const GroupParams& p, int size, int begin) {
  const std::string room = std::to_string(p.room);
  if (p.form == GroupForm::masked || !p.sizes_are_ends) {
    if (size < 0) return "its count is negative";
    if (p.form == GroupForm::masked) return size > p.room ? "its capacity is " + room : "";
    const int left = p.room - begin;
    return size > left ? "the groups before it leave " + std::to_string(left) + " of " + room : "";
  }
  if (size < begin) {
    return begin == 0 ? "its end is negative" : "the group before it ends at " + std::to_string(begin);
  }
  return size > p.room ? "there are only " + room : "";
}

/// Points a matrix at one of its own.
void advance(MatrixParams& matrix, DType type, std::int64_t entry, std::int64_t row, std::int64_t column) {
  if (matrix.data == nullptr) return;
  const std::int64_t elements =
      entry * matrix.batch_stride + row * matrix.row_stride + column * matrix.column_stride;
  matrix.data = static_cast<const char*>(matrix.data) + elements * bytes_of(type);
}

/// The GEMM of a group, whose output begins at this entry and row of all of it.
GemmParams gemm_of(const HostKernel& kernel, const GroupedGemmParams& p, const GroupSpan& span) {
  const Types& types = kernel.types;
  const bool is_ragged = p.groups.form == GroupForm::ragged_k;
  const int entry = p.groups.form == GroupForm::contiguous ? 0 : span.group;
  const int row = is_ragged ? 0 : span.first;
  GemmParams gemm = p.gemm;
  gemm.batch = 1;
  if (is_ragged) {
    if (gemm.k > 0) gemm.k = span.count;
    advance(gemm.a, types.a, 0, 0, span.first);
    advance(gemm.b, types.b, 0, span.first, 0);
  } else {
    gemm.m = span.count;
    advance(gemm.a, types.a, entry, row, 0);
    advance(gemm.b, types.b, span.group, 0, 0);
  }
  EpilogueParams& e = gemm.epilogue;
  for (MatrixParams* matrix : {&gemm.c, &gemm.out, &e.residual, &e.aux})
    advance(*matrix, types.out, entry, row, 0);
  advance(e.scale, compute_type(types.accumulator, types.out), 0, row, 0);
  if (e.bias != nullptr && e.bias_axis == BiasAxis::row)
    e.bias = static_cast<const char*>(e.bias) + std::int64_t{row} * bytes_of(types.out);
  return gemm;
}

/// The scales of a group.
OperandScales scales_of(OperandScales scales, const GroupedGemmParams& p, const GroupSpan& span) {
  const auto advance = [](OperandScale& scale, std::int64_t entry, std::int64_t line) {
    if (!scale.is_given) return;
    scale.data =
        static_cast<const float*>(scale.data) + entry * scale.batch_stride + line * scale.line_stride;
  };
  const bool is_contiguous = p.groups.form == GroupForm::contiguous;
  advance(scales.a, is_contiguous ? 0 : span.group, is_contiguous ? span.first : 0);
  advance(scales.b, span.group, 0);
  return scales;
}

/// The tensors of the expression for a group: those that are a batch have an entry for each.
ExpressionParams tensors_of(const GemmExpression& expression, const GroupedGemmParams& p,
                            const GroupSpan& span) {
  ExpressionParams params = expression.params;
  const int row = p.groups.form == GroupForm::ragged_k ? 0 : span.first;
  each_tensor(expression.graph, params,
              [&](const expression::Tensor& tensor, ExpressionTensorParams& own, bool /*is_output*/) {
                const bool is_table = tensor.shape == expression::Shape::gathered;
                advance(own.matrix, tensor.dtype, span.group, is_table ? 0 : row, 0);
              });
  return params;
}

/// Computes the outputs of a group.
Status execute_group(const HostKernel& kernel, const GroupedGemmParams& p, const OperandScales& scales,
                     const GemmExpression* expression, const GroupSpan& span) {
  const GemmParams gemm = gemm_of(kernel, p, span);
  if (expression == nullptr) return execute(kernel, gemm, scales_of(scales, p, span), 1);
  const ExpressionParams tensors = tensors_of(*expression, p, span);
  const GemmExpression of_group = {expression->graph, tensors, expression->all};
  return execute(kernel, gemm, {}, 1, 0, &of_group);
}

/// Writes zeros to rows outside of all groups, of so many columns.
void write_zeros(const HostKernel& kernel, const GroupedGemmParams& p, std::int64_t columns,
                 const GroupSpan& span) {
  MatrixParams out = p.gemm.out;
  advance(out, kernel.types.out, p.groups.form == GroupForm::masked ? span.group : 0, span.first, 0);
  with_element(kernel.types.out, [&]<class E>(E) {
    for (std::int64_t row = 0; row < span.count; ++row) {
      for (std::int64_t column = 0; column < columns; ++column)
        write_element<E>(const_cast<void*>(out.data), row * out.row_stride + column * out.column_stride, 0);
    }
  });
}

}  // namespace

Status check_sizes(const GroupParams& p) {
  int begin = 0;
  for (int group = 0; group < p.groups; ++group) {
    const int size = p.sizes[group];
    if (const std::string fault = fault_of_size(p, size, begin); !fault.empty()) {
      return {StatusCode::invalid_arguments, "Operand `sizes` is wrong at group " + std::to_string(group) +
                                                 ": it is " + std::to_string(size) + ", and " + fault};
    }
    if (p.form != GroupForm::masked) begin = clamped_end(p, size, begin);
  }
  return {};
}

namespace {

/// Computes the outputs of all spans.
Status execute_spans(const HostKernel& kernel, const GroupedGemmParams& p, const OperandScales& scales,
                     const GemmExpression* expression) {
  const bool is_gated = expression != nullptr && expression->graph.is_gated();
  const std::int64_t columns = is_gated ? p.gemm.n / 2 : p.gemm.n;
  int begin = 0;
  for (long long number = 0; number < span_count(p.groups); ++number) {
    const int group = group_of_span(p.groups, number);
    const int size = group < p.groups.groups ? p.groups.sizes[group] : 0;
    const GroupSpan span = group_span(p.groups, number, size, begin);
    begin = span.first + span.count;
    if (span.is_outside) {
      write_zeros(kernel, p, columns, span);
    } else if (Status s = execute_group(kernel, p, scales, expression, span); !s) {
      return s;
    }
  }
  return {};
}

}  // namespace

Status execute(const HostKernel& kernel, const GroupedGemmParams& p, const OperandScales& scales,
               const GemmExpression* expression) {
  if (!p.groups.clamp_host_sizes) {
    if (Status s = check_sizes(p.groups); !s) return s;
  }
  if (expression == nullptr) return execute_spans(kernel, p, scales, nullptr);
  try {
    AllOfParts all(*expression);
    const GemmExpression of_all = {expression->graph, expression->params, &all.executor()};
    if (Status s = execute_spans(kernel, p, scales, &of_all); !s) return s;
    all.executor().finish_all();
    return {};
  } catch (const std::exception&) {
    return {StatusCode::device_error, "The host executor ran out of memory"};
  }
}

}  // namespace quarry::host
