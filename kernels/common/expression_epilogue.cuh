/// The epilogue that a user wrote, as generated code (operations/gemm/expression_code.hpp): what it reads and
/// writes for a few neighbours of a row, whose sums lie in registers.
#pragma once

#include "common/epilogue.cuh"
#include "common/expression.cuh"
#include "common/held_tensors.cuh"
#include "gemm/expression_params.hpp"

namespace quarry {

/// The value of an output as it is kept until it is stored: an element, or a value that becomes one when it
/// is rounded.
template <DType type, class Kept>
struct KeptOutput {
  template <class C>
  QUARRY_DEVICE static Kept of(C value) {
    if constexpr (is_integer(type)) return static_cast<Kept>(elementary::rounded<type>(value));
    return static_cast<Kept>(value);
  }
};
template <DType type>
struct KeptOutput<type, Element<type>> {
  template <class C>
  QUARRY_DEVICE static Element<type> of(C value) {
    return elementary::stored<type>(value);
  }
};

/// Whether an output has a value for each element, and is stored with it.
template <class Code>
constexpr bool has_elements(int tensor) {
  if constexpr (requires { Code::has_elements(0); }) return Code::has_elements(tensor);
  return true;
}

/// The place of the input that chooses the rows of another one; -1 for one that is not gathered.
template <class Code>
constexpr int index_of(int tensor) {
  if constexpr (requires { Code::index_of(0); }) return Code::index_of(tensor);
  return -1;
}

/// One of the neighbours: what generated code computes with.
template <class Code, class Held, class Sum, class Kept, int count>
struct ExpressionLane {
  Held& held;
  const arch::Vector<Sum, count>& sums;
  arch::Vector<Kept, count>& outputs;
  int index;

  QUARRY_DEVICE Sum sum() const { return sums.v[index]; }
  template <int tensor>
  QUARRY_DEVICE auto input() const {
    using Value = typename elementary::ComputedIn<Code::type(tensor)>::Type;
    return to_compute<Value>(held.template of<tensor>().v[index]);
  }
  template <int tensor, class C>
  QUARRY_DEVICE void output(C value) const {
    held.template of<tensor>().v[index] = elementary::stored<Code::type(tensor)>(value);
  }
  template <class C>
  QUARRY_DEVICE void out(C value) const {
    outputs.v[index] = KeptOutput<Code::out, Kept>::of(value);
  }
};

/// The tensors of an expression for one batch entry, and its values. @tparam by_columns rows and columns of
/// all functions take rows and columns of the transposed output
template <class Code, bool by_columns>
class ExpressionTensors {
 public:
  /// What is read and written of `count` neighbours of a row.
  template <int count>
  using Held = HeldTensors<Code, count, 0, Code::tensors>;

  QUARRY_DEVICE ExpressionTensors(const ExpressionParams& params, int batch)
      : params_(params), batch_(batch) {}

  /// Reads the inputs of the first `left` of `count` neighbours from (row, column) on.
  /// @tparam but bits of inputs that are read in other ways
  template <int count, unsigned but = 0>
  QUARRY_DEVICE void load(Held<count>& held, int row, int column, int left) const {
    load_from<0, count, but>(held, row, column, left);
  }

  /// Computes the values of neighbours that were read; the output's values are returned.
  template <class Kept, int count, class Sum>
  QUARRY_DEVICE static arch::Vector<Kept, count> compute(Held<count>& held,
                                                         const arch::Vector<Sum, count>& sums) {
    arch::Vector<Kept, count> outputs = {};
    QUARRY_UNROLL
    for (int i = 0; i < count; ++i)
      Code::element(ExpressionLane<Code, Held<count>, Sum, Kept, count>{held, sums, outputs, i});
    return outputs;
  }

  /// Writes the other outputs of the first `left` of them.
  template <int count>
  QUARRY_DEVICE void store(Held<count>& held, int row, int column, int left) const {
    store_from<Code::inputs, count>(held, row, column, left);
  }

 private:
  /// The address of an element, and its distance from the next one of the row.
  template <class T>
  struct Line {
    T* first;
    long long stride;
    /// All of them move in one access.
    bool is_whole;
  };

  template <class T, int count>
  QUARRY_DEVICE Line<T> line(const MatrixParams& m, int row, int column, int left) const {
    const long long row_stride = by_columns ? m.column_stride : m.row_stride;
    const long long stride = by_columns ? m.row_stride : m.column_stride;
    T* const first = static_cast<T*>(const_cast<void*>(m.data)) +
                     (batch_ * m.batch_stride + row * row_stride + column * stride);
    const bool is_aligned = reinterpret_cast<unsigned long long>(first) % (count * sizeof(T)) == 0;
    return {first, stride, stride == 1 && left == count && is_aligned};
  }

  /// Reads the inputs from `tensor` on.
  template <int tensor, int count, unsigned but>
  QUARRY_DEVICE void load_from(Held<count>& held, int row, int column, int left) const {
    if constexpr (tensor < Code::inputs && (but >> tensor & 1) != 0) {
      load_from<tensor + 1, count, but>(held, row, column, left);
    } else if constexpr (tensor < Code::inputs && index_of<Code>(tensor) >= 0) {
      load_gathered<tensor, count>(held, row, column, left);
      load_from<tensor + 1, count, but>(held, row, column, left);
    } else if constexpr (tensor < Code::inputs) {
      using T = Element<Code::type(tensor)>;
      const ExpressionTensorParams& params = params_.tensors[tensor];
      auto& to = held.template of<tensor>();
      if (params.matrix.data == nullptr) {
        if constexpr (!is_fp8(Code::type(tensor))) {  // whose values are not given from the host
          QUARRY_UNROLL
          for (int i = 0; i < count; ++i) to.v[i] = elementary::stored<Code::type(tensor)>(params.value);
        }
      } else {
        const auto from = line<const T, count>(params.matrix, row, column, left);
        load_line<T, count>(from.first, from.stride, from.is_whole, left, to);
      }
      load_from<tensor + 1, count, but>(held, row, column, left);
    }
  }

  /// Reads what an index, which was read before, chooses: one row for all neighbours, or, of a transposed
  /// output, one for each. What is no row of the tensor is 0.
  template <int tensor, int count>
  QUARRY_DEVICE void load_gathered(Held<count>& held, int row, int column, int left) const {
    using T = Element<Code::type(tensor)>;
    const ExpressionTensorParams& params = params_.tensors[tensor];
    const auto& index = held.template of<index_of<Code>(tensor)>();
    auto& to = held.template of<tensor>();
    to = {};
    if (params.rows.are_columns == by_columns) {
      if (!has_row(params.rows, index.v[0])) return;
      const auto from = line<const T, count>(params.matrix, index.v[0], column, left);
      load_line<T, count>(from.first, from.stride, from.is_whole, left, to);
      return;
    }
    QUARRY_UNROLL
    for (int i = 0; i < count; ++i) {
      if (i < left && has_row(params.rows, index.v[i]))
        to.v[i] = arch::global_load<T>(line<const T, 1>(params.matrix, row, index.v[i], 1).first);
    }
  }
  QUARRY_DEVICE static bool has_row(const GatheredRows& rows, int index) {
    return index >= 0 && index < rows.count;
  }

  template <class T, int count>
  QUARRY_DEVICE static void load_line(const T* first, long long stride, bool is_whole, int left,
                                      arch::Vector<T, count>& to) {
    if (is_whole) {
      to = arch::global_load<arch::Vector<T, count>>(first);
    } else if (stride == 0) {
      const T value = arch::global_load<T>(first);
      QUARRY_UNROLL
      for (int i = 0; i < count; ++i) to.v[i] = value;
    } else {
      QUARRY_UNROLL
      for (int i = 0; i < count; ++i) {
        if (i < left) to.v[i] = arch::global_load<T>(first + i * stride);
      }
    }
  }

  /// Writes the outputs from `tensor` on.
  template <int tensor, int count>
  QUARRY_DEVICE void store_from(Held<count>& held, int row, int column, int left) const {
    if constexpr (tensor < Code::tensors && !has_elements<Code>(tensor)) {
      store_from<tensor + 1, count>(held, row, column, left);
    } else if constexpr (tensor < Code::tensors) {
      using T = Element<Code::type(tensor)>;
      const auto& from = held.template of<tensor>();
      const auto to = line<T, count>(params_.tensors[tensor].matrix, row, column, left);
      if (to.is_whole) {
        arch::global_store(to.first, from);
      } else {
        QUARRY_UNROLL
        for (int i = 0; i < count; ++i) {
          if (i < left) arch::global_store(to.first + i * to.stride, from.v[i]);
        }
      }
      store_from<tensor + 1, count>(held, row, column, left);
    }
  }

  const ExpressionParams& params_;
  int batch_;
};

/// What kernels take as an epilogue's `For` (common/epilogue.cuh).
template <class Code, class Sum, class Out, EpilogueForm form>
class ExpressionEpilogue {
  using Tensors = ExpressionTensors<Code, form.by_columns>;

 public:
  using Output = Out;
  static constexpr bool has_short_ways = false;

  template <class Params>
  QUARRY_DEVICE ExpressionEpilogue(const Params& params, int batch)
      : ExpressionEpilogue(static_cast<const typename Code::template Parameters<Params>&>(params).expression,
                           batch, params.out, batch) {}

  /// @param batch the entry that the tensors have for the output's entry
  QUARRY_DEVICE ExpressionEpilogue(const ExpressionParams& tensors, int batch, const MatrixParams& out,
                                   int out_batch)
      : tensors_(tensors, batch),
        out_(matrix_of<Out, form.interleaved, form.batches>(form.by_columns ? transposed(out) : out,
                                                            out_batch)) {}

  QUARRY_DEVICE Quad<Out> outputs(int row, int column, int count, const Quad<Sum>& sum) const {
    typename Tensors::template Held<4> held;
    tensors_.template load<4>(held, row, column, count);
    const Quad<Out> result = Tensors::template compute<Out, 4>(held, sum);
    tensors_.template store<4>(held, row, column, count);
    return result;
  }
  QUARRY_DEVICE void store(int row, int column, int count, const Quad<Out>& result) const {
    out_.store(row, column, count, result);
  }

 private:
  Tensors tensors_;
  MatrixView<Out, form.interleaved> out_;
};

/// The code of an expression of each element by itself, for kernels whose parameters begin with those that
/// their epilogue is given: the expression stands behind the whole.
template <class Code, class Whole>
struct CodeBehind : Code {
  template <class>
  using Parameters = WithExpression<Whole>;
  template <class Sum, class Out, EpilogueForm form>
  using For = ExpressionEpilogue<CodeBehind, Sum, Out, form>;
};

}  // namespace quarry
