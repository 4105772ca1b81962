#include "operations/gemm/export/params_layout.hpp"

#include <algorithm>
#include <type_traits>

#include "gemm/expression_params.hpp"
#include "gemm/params.hpp"
#include "reduce_split_k/params.hpp"

namespace quarry::detail {
namespace {

/// WithExpression<GemmParams> as C has it: a struct whose first member is the base.
struct GemmExpressionParams {
  GemmParams gemm;
  ExpressionTensorParams tensors[gemm_expression_tensors];
};
static_assert(expression_is_last<GemmParams> &&
              sizeof(GemmExpressionParams) == sizeof(WithExpression<GemmParams>) &&
              offsetof(GemmExpressionParams, tensors) == sizeof(GemmParams));

struct ReduceExpressionParams {
  ReduceParams reduce;
  ExpressionTensorParams tensors[gemm_expression_tensors];
};
static_assert(expression_is_last<ReduceParams> &&
              sizeof(ReduceExpressionParams) == sizeof(WithExpression<ReduceParams>) &&
              offsetof(ReduceExpressionParams, tensors) == sizeof(ReduceParams));

template <class Member>
constexpr std::string_view c_type() {
  if constexpr (std::is_same_v<Member, MatrixParams>) return "quarry_matrix";
  if constexpr (std::is_same_v<Member, EpilogueParams>) return "quarry_epilogue";
  if constexpr (std::is_same_v<Member, GemmParams>) return gemm_params_name;
  if constexpr (std::is_same_v<Member, ReduceParams>) return reduce_params_name;
  if constexpr (std::is_same_v<Member, ExpressionTensorParams>) return expression_tensor_name;
  if constexpr (std::is_same_v<Member, const void*>) return "const void*";
  if constexpr (std::is_same_v<Member, void*>) return "void*";
  if constexpr (std::is_same_v<Member, int*>) return "int*";
  if constexpr (std::is_same_v<Member, long long>) return "long long";
  if constexpr (std::is_same_v<Member, double>) return "double";
  if constexpr (std::is_same_v<Member, float>) return "float";
  if constexpr (std::is_same_v<Member, int>) return "int";
  if constexpr (std::is_same_v<Member, bool>) return "unsigned char";
  if constexpr (std::is_enum_v<Member>) {
    static_assert(std::is_same_v<std::underlying_type_t<Member>, unsigned char>);
    return "unsigned char";
  }
}

// offsetof is a macro, and only another one keeps a member's name, type and offset together.
#define QUARRY_FIELD(Struct, member, meaning)                                                        \
  ParamField {                                                                                       \
#member, c_type < std::remove_extent_t < decltype(Struct::member)>>(), offsetof(Struct, member), \
        sizeof(Struct::member), std::extent_v < decltype(Struct::member)>, meaning                   \
  }

static_assert(pointer_array_stride == -1);
constexpr ParamField matrix_fields[] = {
    QUARRY_FIELD(
        MatrixParams, data,
        "address of the first element; for an array of pointers, address of the array in device memory"),
    QUARRY_FIELD(MatrixParams, row_stride, "elements from one row to the next"),
    QUARRY_FIELD(MatrixParams, column_stride, "elements from one column to the next"),
    QUARRY_FIELD(MatrixParams, batch_stride,
                 "elements from one batch entry to the next; 0: all the same; -1: the address leads to an "
                 "array of pointers, one to the first element of each batch entry"),
};

constexpr ParamField epilogue_fields[] = {
    QUARRY_FIELD(EpilogueParams, alpha, "factor of the product"),
    QUARRY_FIELD(EpilogueParams, beta, "factor of c, which is not read where it is 0"),
    QUARRY_FIELD(EpilogueParams, clamp_low, "least number of out, where it is clamped"),
    QUARRY_FIELD(EpilogueParams, clamp_high, "greatest number of out, where it is clamped"),
    QUARRY_FIELD(EpilogueParams, alpha_pointer,
                 "null, or device address of the alpha to use: f64 for an f64 accumulator, s32 for s32 "
                 "accumulator and output, f32 otherwise"),
    QUARRY_FIELD(EpilogueParams, beta_pointer, "null, or device address of the beta to use"),
    QUARRY_FIELD(EpilogueParams, bias, "null, or device address of a vector of the output's type"),
    QUARRY_FIELD(
        EpilogueParams, scale,
        "factors of the product, m x n of alpha's type with strides of 0; address null: none, and always "
        "where that type is s32"),
    QUARRY_FIELD(EpilogueParams, residual, "m x n of the output's type; address null: none"),
    QUARRY_FIELD(EpilogueParams, aux,
                 "m x n of the output's type: z is written to it; address null: nowhere"),
    QUARRY_FIELD(EpilogueParams, bias_axis, "0: a value of the bias for each row of out, 1: for each column"),
    QUARRY_FIELD(EpilogueParams, activation, "function of z, by number"),
    QUARRY_FIELD(EpilogueParams, clamps, "1: out is clamped to the bounds, 0: it is not"),
    QUARRY_FIELD(
        EpilogueParams, only_alpha,
        "1: beta is 0, and there is none of the above but alpha, which saves time; 0 is always right"),
    QUARRY_FIELD(EpilogueParams, leaky_slope, "slope of leaky_relu for negative values"),
};

constexpr ParamField gemm_fields[] = {
    QUARRY_FIELD(GemmParams, a, "m x k"),
    QUARRY_FIELD(GemmParams, b, "k x n"),
    QUARRY_FIELD(GemmParams, c, "m x n; all zero where beta is 0"),
    QUARRY_FIELD(GemmParams, out, "m x n, written"),
    QUARRY_FIELD(GemmParams, epilogue, "what happens to the sums"),
    QUARRY_FIELD(GemmParams, m, "rows of out"),
    QUARRY_FIELD(GemmParams, n, "columns of out"),
    QUARRY_FIELD(GemmParams, k, "columns of a and rows of b"),
    QUARRY_FIELD(GemmParams, batch, "batch entries, 1 or more"),
    QUARRY_FIELD(GemmParams, tiles_m, "tiles of the block's tile along m"),
    QUARRY_FIELD(GemmParams, tiles_n, "tiles of the block's tile along n"),
    QUARRY_FIELD(GemmParams, swizzle_log2,
                 "columns (rows, walking along m) of tiles walked together, as a power of two: 0 to 3"),
    QUARRY_FIELD(GemmParams, raster, "extent of out along which tiles are walked first, by number"),
    QUARRY_FIELD(GemmParams, mode, "how K is covered, by number"),
    QUARRY_FIELD(GemmParams, slices, "slices of K, 1 unless the mode is a split"),
    QUARRY_FIELD(GemmParams, k_tiles_per_slice, "K tiles of a slice; the last may have fewer"),
    QUARRY_FIELD(GemmParams, partials, "where the mode is a split: start of the workspace"),
    QUARRY_FIELD(GemmParams, counters,
                 "split_k_serial: batch * tiles_m * tiles_n + 1 counters in the workspace, zero at launch"),
};

constexpr ParamField reduce_fields[] = {
    QUARRY_FIELD(ReduceParams, partials, "start of the workspace that the kernel filled"),
    QUARRY_FIELD(ReduceParams, c, "as the kernel's"),
    QUARRY_FIELD(ReduceParams, out, "as the kernel's"),
    QUARRY_FIELD(ReduceParams, epilogue, "as the kernel's"),
    QUARRY_FIELD(ReduceParams, m, "as the kernel's"),
    QUARRY_FIELD(ReduceParams, n, "as the kernel's"),
    QUARRY_FIELD(ReduceParams, batch, "as the kernel's"),
    QUARRY_FIELD(ReduceParams, slices, "as the kernel's"),
    QUARRY_FIELD(ReduceParams, sharers_log2,
                 "threads that share the slices of four outputs, as a power of two: 0 to 4"),
};

constexpr ParamField tensor_fields[] = {
    QUARRY_FIELD(ExpressionTensorParams, matrix,
                 "its elements by rows and columns of out; no array of pointers"),
    QUARRY_FIELD(ExpressionTensorParams, value,
                 "of a scalar whose address is null, unless its type is e4m3 or e5m2"),
};

constexpr ParamField gemm_expression_fields[] = {
    QUARRY_FIELD(GemmExpressionParams, gemm, "as without an expression; c and epilogue are not read"),
    QUARRY_FIELD(GemmExpressionParams, tensors, "by place in the expression; the others are not read"),
};

constexpr ParamField reduce_expression_fields[] = {
    QUARRY_FIELD(ReduceExpressionParams, reduce, "as without an expression; c and epilogue are not read"),
    QUARRY_FIELD(ReduceExpressionParams, tensors, "as the kernel's"),
};
#undef QUARRY_FIELD

constexpr ParamStruct structs[] = {
    {"quarry_matrix", sizeof(MatrixParams), alignof(MatrixParams), matrix_fields,
     "Where a matrix lies in device memory, and how it is walked"},
    {"quarry_epilogue", sizeof(EpilogueParams), alignof(EpilogueParams), epilogue_fields,
     "z = alpha * scale * sum + beta * c + bias, out = clamp(activation(z) + residual)"},
    {gemm_params_name, sizeof(GemmParams), alignof(GemmParams), gemm_fields,
     "The only argument of a GEMM kernel, by value"},
    {reduce_params_name, sizeof(ReduceParams), alignof(ReduceParams), reduce_fields,
     "The only argument of the reduction that follows split_k_parallel, by value"},
    {expression_tensor_name, sizeof(ExpressionTensorParams), alignof(ExpressionTensorParams), tensor_fields,
     "A tensor that an expression names. Strides are 0 where rows, columns or batch entries share elements"},
    {gemm_expression_params_name, sizeof(GemmExpressionParams), alignof(GemmExpressionParams),
     gemm_expression_fields, "The only argument of a GEMM kernel with an expression, by value"},
    {reduce_expression_params_name, sizeof(ReduceExpressionParams), alignof(ReduceExpressionParams),
     reduce_expression_fields, "The only argument of a reduction with an expression, by value"},
};

/// Bytes that values of a type are aligned to.
constexpr std::size_t alignment_of_type(const ParamField& field) {
  for (const ParamStruct& each : structs) {
    if (each.name == field.type) return each.alignment;
  }
  return field.size;
}

/// Whether the fields, laid out one behind another as C does, are the struct: none is missing, none moved.
constexpr bool is_complete(const ParamStruct& s) {
  const auto aligned = [](std::size_t offset, std::size_t to) { return (offset + to - 1) / to * to; };
  std::size_t end = 0;
  for (const ParamField& field : s.fields) {
    if (field.offset != aligned(end, alignment_of_type(field))) return false;
    end = field.offset + field.size;
  }
  return aligned(end, s.alignment) == s.bytes;
}
static_assert(std::ranges::all_of(structs, is_complete));

}  // namespace

std::span<const ParamStruct> param_structs() { return structs; }

const ParamStruct* find_param_struct(std::string_view name) {
  const auto found = std::ranges::find(structs, name, &ParamStruct::name);
  return found == std::end(structs) ? nullptr : found;
}

}  // namespace quarry::detail
