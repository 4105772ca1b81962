#include "operations/gemm_list/host_problem.hpp"

#include <algorithm>
#include <cstdint>

#include "common/config_parts.hpp"
#include "gemm/host.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/gemm/host_expression.hpp"

namespace quarry::host {
namespace {

using detail::invalid;

std::string at_problem(int number) { return " at problem " + std::to_string(number) + ": "; }

/// Checks one extent of a problem.
Status check_extent(int number, const char* name, int extent, int bound) {
  if (extent >= 0 && extent <= bound) return {};
  return invalid("Operand `sizes` is wrong" + at_problem(number) + "its " + name + " is " +
                 std::to_string(extent) +
                 (extent < 0 ? ", which is negative" : ", and the bound is " + std::to_string(bound)));
}

/// Checks the leading dimension of one matrix of a problem. @param bound the view's @param unit that the
/// kernel needs: the promise of `leading_alignment` and the view's are multiples of it
Status check_leading(int number, Operand name, int given, int line, int lines, long long bound, int unit) {
  if (lines <= 1 || line == 0) return {};
  const std::string wrong = "Operand `leading` is wrong" + at_problem(number) + "for " +
                            std::string(to_string(name)) + " it is " + std::to_string(given);
  if (given < line) return invalid(wrong + ", and its lines have " + std::to_string(line) + " elements");
  if (given > bound) return invalid(wrong + ", and the view's is " + std::to_string(bound));
  if (given % unit == 0 || bound % unit != 0) return {};
  return invalid(wrong + ", and `leading_alignment` promises a multiple of " + std::to_string(unit));
}

/// The extents of a problem, as they were given.
ListExtents given_extents(const ListParams& list, int number) {
  const int* const row = list.sizes + static_cast<std::int64_t>(number) * list_extents;
  return {row[0], row[1], row[2]};
}

/// Says that problems have other tiles than the host counted; or first, what is wrong with their extents.
Status wrong_stretch(const GemmListParams& params, int first, int last, Tile tile, long long tiles,
                     long long promised, int unit) {
  for (int i = first; i < last; ++i) {
    if (Status s = check_extents(params.gemm, i, given_extents(params.list, i), unit); !s) return s;
  }
  const bool is_one = last - first == 1;
  const std::string where =
      is_one ? at_problem(first) + "it has "
             : " at problems " + std::to_string(first) + " to " + std::to_string(last - 1) + ": they have ";
  return invalid("Operand `sizes` is wrong" + where + std::to_string(tiles) + " tiles of " +
                 std::to_string(tile.m) + "x" + std::to_string(tile.n) + ", and `host_sizes` promised " +
                 std::to_string(promised) + ", as `schedule` is host");
}

/// One problem of a list, as it is made and checked.
class Maker {
 public:
  Maker(const HostKernel& kernel, Alignment alignment, const GemmListParams& params, int unit, int number)
      : kernel_(kernel), alignment_(alignment), params_(params), unit_(unit), number_(number) {
    given_ = given_extents(params.list, number);
    own_ = in_units(clamped_extents(params.gemm, given_), unit);
    if (params.list.leading == nullptr) return;
    const int* const leading = params.list.leading + static_cast<std::int64_t>(number) * list_matrices;
    for (int i = 0; i < list_matrices; ++i) leading_[i] = leading[i];
  }

  /// The GEMM of a problem without elements: nothing of it is read or written but lines of nothing.
  GemmParams make_empty() const {
    GemmParams gemm = params_.gemm;
    gemm.m = own_.m;
    gemm.n = own_.n;
    gemm.k = 0;
    gemm.batch = 1;
    for (MatrixParams* matrix : {&gemm.a, &gemm.b, &gemm.c, &gemm.out}) matrix->data = nullptr;
    return gemm;
  }

  bool has_elements() const { return own_.m > 0 && own_.n > 0; }

  /// Columns of the output.
  int columns() const { return of_output().n; }

  /// The extents and leading dimensions as they were given.
  Status check_sizes() const {
    if (Status s = check_extents(params_.gemm, number_, given_, unit_); !s) return s;
    if (params_.list.leading == nullptr || !has_elements()) return {};
    return check_lines({params_.gemm, params_.list, params_.gemm.c.data != nullptr, alignment_}, number_,
                       own_, of_output(), leading_);
  }

  /// The GEMM of the problem.
  Status make(GemmParams& gemm) const {
    gemm = params_.gemm;
    if (params_.list.leading != nullptr) {
      gemm = outputs_with_leading(params_.gemm, params_.list, of_output(), leading_[2], leading_[3]);
      const ListOperands operands =
          operands_with_leading(params_.gemm, params_.list, own_, leading_[0], leading_[1], alignment_);
      gemm.a = operands.a;
      gemm.b = operands.b;
    }
    gemm.m = own_.m;
    gemm.n = own_.n;
    gemm.k = own_.k;
    gemm.batch = 1;
    const Types& types = kernel_.types;
    if (gemm.k > 0) {
      if (Status s = resolve(gemm.a, Operand::a, types.a, alignment_.a); !s) return s;
      if (Status s = resolve(gemm.b, Operand::b, types.b, alignment_.b); !s) return s;
    }
    if (Status s = resolve(gemm.c, Operand::c, types.out); !s) return s;
    if (Status s = resolve(gemm.out, Operand::out, types.out); !s) return s;
    if (Status s = resolve(gemm.epilogue.residual, Operand::residual, types.out); !s) return s;
    return resolve(gemm.epilogue.aux, Operand::aux, types.out);
  }

  /// Points the scales of a batch at this problem's.
  Status resolve(OperandScales& scales) const {
    if (own_.k == 0) return {};
    if (Status s = resolve(scales.a, Operand::a_scale); !s) return s;
    return resolve(scales.b, Operand::b_scale);
  }

 private:
  /// The extents of the output, and of C.
  ListExtents of_output() const { return unit_ > 1 ? with_half_columns(own_) : own_; }

  Status resolve(OperandScale& scale, Operand name) const {
    MatrixParams values = {scale.data, scale.line_stride, scale.k_stride, scale.batch_stride};
    if (Status s = resolve(values, name, DType::f32); !s) return s;
    scale.data = values.data;
    scale.batch_stride = 0;
    return {};
  }

  /// Points a matrix of the batch, where there is one, at this problem's.
  Status resolve(MatrixParams& matrix, Operand name, DType type, int elements = 1) const {
    if (matrix.data == nullptr) return {};
    const bool is_array = is_pointer_array(matrix);
    matrix.data = first_of(matrix, number_, bits_of(type));
    matrix.batch_stride = 0;
    if (!is_array) return {};  // which the operand's own check has looked at
    const std::string entry =
        "problem " + std::to_string(number_) + " of operand `" + std::string(to_string(name)) + "`";
    if (matrix.data == nullptr) return invalid("Null pointer: " + entry);
    const auto bytes = static_cast<std::uintptr_t>(elements) * static_cast<std::uintptr_t>(bytes_of(type));
    if (reinterpret_cast<std::uintptr_t>(matrix.data) % bytes == 0) return {};
    return invalid("Misaligned pointer: " + entry + ": it is not a multiple of the " + std::to_string(bytes) +
                   " bytes that the kernel needs");
  }

  const HostKernel& kernel_;
  Alignment alignment_;
  const GemmListParams& params_;
  int unit_;
  int number_;
  ListExtents given_ = {};
  ListExtents own_ = {};
  int leading_[list_matrices] = {};
};

/// The tensors of a problem: those that are a batch have an entry for each.
ExpressionParams tensors_of(const GemmExpression& expression, int number) {
  ExpressionParams params = expression.params;
  each_tensor(expression.graph, params,
              [&](const expression::Tensor& tensor, ExpressionTensorParams& own, bool /*is_output*/) {
                MatrixParams& matrix = own.matrix;
                if (matrix.data != nullptr) matrix.data = first_of(matrix, number, bits_of(tensor.dtype));
                matrix.batch_stride = 0;
              });
  return params;
}

}  // namespace

Status check_extents(const GemmParams& bounds, int number, const ListExtents& given, int unit) {
  if (Status s = check_extent(number, "M", given.m, bounds.m); !s) return s;
  if (Status s = check_extent(number, "N", given.n, bounds.n); !s) return s;
  if (given.n % unit != 0) {
    return invalid("Operand `sizes` is wrong" + at_problem(number) + "its N is " + std::to_string(given.n) +
                   ", and gated pairs need a multiple of " + std::to_string(unit));
  }
  // Where alpha is 0, K has no bound.
  return bounds.k > 0 ? check_extent(number, "K", given.k, bounds.k) : Status();
}

Status check_lines(const LeadingCheck& check, int number, const ListExtents& own, const ListExtents& output,
                   const int* leading) {
  const GemmParams& bounds = check.bounds;
  const auto check_one = [&](Operand name, ListMatrix which, const MatrixParams& matrix, int rows,
                             int columns, int unit) {
    const bool by_columns = is_by_columns(check.list, which);
    return check_leading(number, name, leading[static_cast<int>(which)], by_columns ? rows : columns,
                         by_columns ? columns : rows, by_columns ? matrix.column_stride : matrix.row_stride,
                         unit);
  };
  const Alignment unit = check.alignment;
  if (bounds.k > 0) {
    if (Status s = check_one(Operand::a, ListMatrix::a, bounds.a, own.m, own.k, unit.a); !s) return s;
    if (Status s = check_one(Operand::b, ListMatrix::b, bounds.b, own.k, own.n, unit.b); !s) return s;
  }
  if (check.has_c) {
    if (Status s = check_one(Operand::c, ListMatrix::c, bounds.c, output.m, output.n, 1); !s) return s;
  }
  return check_one(Operand::out, ListMatrix::out, bounds.out, output.m, output.n, 1);
}

Status check_stretches(const GemmListParams& params, Tile tile, int unit) {
  const ListStretches& counted = params.list.stretches;
  if (counted.problems == 0) return {};
  long long promised_before = 0;
  int first = 0;
  for (const long long end : counted.ends) {
    const int last = std::min(first + counted.problems, params.gemm.batch);
    long long tiles = 0;
    for (int i = first; i < last; ++i) {
      const ListExtents own = in_units(clamped_extents(params.gemm, given_extents(params.list, i)), unit);
      tiles += static_cast<long long>(tiles_along(own.m, tile.m)) * tiles_along(own.n, tile.n);
    }
    if (tiles != end - promised_before)
      return wrong_stretch(params, first, last, tile, tiles, end - promised_before, unit);
    promised_before = end;
    first = last;
  }
  return {};
}

Status list_problems(const HostKernel& kernel, Alignment alignment, const GemmListParams& params,
                     const OperandScales& scales, const GemmExpression* expression, int unit,
                     std::vector<ListedGemm>& problems) {
  for (int number = 0; number < params.gemm.batch; ++number) {
    const Maker maker(kernel, alignment, params, unit, number);
    if (!params.list.clamp_host_sizes) {
      if (Status s = maker.check_sizes(); !s) return s;
    }
    if (!maker.has_elements()) {
      if (expression != nullptr && reduces_lines(*expression))
        problems.push_back(
            {number, maker.make_empty(), maker.columns(), {}, tensors_of(*expression, number)});
      continue;
    }
    ListedGemm& listed = problems.emplace_back(ListedGemm{number, {}, maker.columns(), scales, {}});
    if (Status s = maker.make(listed.gemm); !s) return s;
    if (Status s = maker.resolve(listed.scales); !s) return s;
    if (expression != nullptr) listed.tensors = tensors_of(*expression, number);
  }
  return {};
}

}  // namespace quarry::host
