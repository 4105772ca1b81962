/// What happens to sums on their way to the output.
///
/// A kernel takes its epilogue as a template argument: a type such as StandardChain, whose `For<Sum, Out,
/// form>` is the class that works for one block. `For` is made from the parameters of the kernel and the
/// batch entry, and has for each quad of an output row what `finish` calls: `outputs` and `store`. Where its
/// `has_short_ways` is true, it also has what StandardEpilogue declares for plain and for regular outputs,
/// and kernels may write these by shorter ways.
#pragma once

#include "arch/arch.hpp"
#include "common/activation.cuh"
#include "common/element.cuh"
#include "common/epilogue_params.hpp"
#include "common/fast_convert.cuh"
#include "common/matrix_view.cuh"

namespace quarry {

/// How a kernel hands its sums to the epilogue.
struct EpilogueForm {
  /// The epilogue's functions take rows and columns of the transposed output, and the parameters
  /// are not.
  bool by_columns = false;
  /// The output, C, the residual and aux are column_interleaved32.
  bool interleaved = false;
  /// How sums and outputs are converted.
  EpilogueKind kind = EpilogueKind::standard;
  /// How a batch's matrices are found.
  Batches batches = Batches::any;
};

/// What the epilogue computes in (compute_type), from the types of the sums and of the output. Whole
/// numbers are not scaled.
template <class Sum, class Out>
struct EpilogueCompute {
  using Type = Sum;
  static constexpr bool scales = true;
};
template <class Out>
struct EpilogueCompute<int, Out> {
  using Type = float;
  static constexpr bool scales = true;
};
template <>
struct EpilogueCompute<int, int> {
  using Type = int;
  static constexpr bool scales = false;
};

/// What C and the bias are kept as from when they are read to when they are added. Bytes are converted at
/// once: that is slow (16 a cycle in a multiprocessor of 8.0 or 9.0: CUDA C++ Programming Guide, throughput
/// of native arithmetic instructions), and is not done where there are none.
template <class Compute, class Out>
struct KeptSource {
  using Type = Out;
};
template <class Compute>
struct KeptSource<Compute, signed char> {
  using Type = Compute;
};
template <class Compute>
struct KeptSource<Compute, unsigned char> {
  using Type = Compute;
};
template <class Compute>
struct KeptSource<Compute, arch::E4M3> {
  using Type = Compute;
};
template <class Compute>
struct KeptSource<Compute, arch::E5M2> {
  using Type = Compute;
};

/// Parameters as the quads' rows run.
template <EpilogueForm form, class Params>
QUARRY_DEVICE Params in_lines(const Params& params) {
  return form.by_columns ? transposed(params) : params;
}

/// Where the output, and what has its extents, lies for one batch entry: in matrices. An operation whose
/// outputs lie otherwise has a class with the same members.
template <EpilogueForm form>
class BatchMatrices {
 public:
  /// What is read and written through.
  template <class T>
  using View = MatrixView<T, form.interleaved>;
  /// Rows are evenly spaced: outputs may be written by the short ways.
  static constexpr bool has_short_ways = true;

  template <class Params>
  QUARRY_DEVICE BatchMatrices(const Params&, int batch) : batch_(batch) {}

  template <class T>
  QUARRY_DEVICE View<T> of(const MatrixParams& matrix) const {
    return matrix_of<T, form.interleaved, form.batches>(in_lines<form>(matrix), batch_);
  }
  QUARRY_DEVICE int batch() const { return batch_; }
  /// Whether quads begin with columns that are multiples of 4.
  QUARRY_DEVICE static constexpr bool has_whole_quads() { return true; }

 private:
  int batch_;
};

/// z = alpha * scale * sum + beta * c + bias, out = clamp(activation(z) + residual); everything chosen at run
/// time.
///
/// What many launches do without is looked up in the parameters where it is used, and read only then, so that
/// it takes no registers for the time in between: the sums that wait for their turn fill them.
template <class Sum, class Out, EpilogueForm form, class Matrices = BatchMatrices<form>>
class StandardEpilogue {
  using View = typename Matrices::template View<Out>;

 public:
  using Compute = typename EpilogueCompute<Sum, Out>::Type;

  using Output = Out;
  static constexpr bool has_short_ways = Matrices::has_short_ways;
  /// Activations are short ones. Others would stand in machine code a second time, and are left to quads.
  static constexpr bool is_rough = sizeof(Out) == 2 && sizeof(Compute) == 4;
  using Kept = typename KeptSource<Compute, Out>::Type;

  /// What is read for the outputs of a quad.
  struct Source {
    Quad<Kept> c;
    Quad<Kept> bias;
  };

  /// @param params of a kernel, with `epilogue`, `c` and `out`; must live as long as this
  template <class Params>
  QUARRY_DEVICE StandardEpilogue(const Params& params, int batch)
      : params_(params.epilogue),
        matrices_(params, batch),
        c_(matrices_.template of<Out>(params.c)),
        out_(matrices_.template of<Out>(params.out)),
        alpha_(alpha_of(params.epilogue)),
        beta_(value(params.epilogue.beta, params.epilogue.beta_pointer)) {}

  /// The outputs of a quad of sums, with all that is done on the way.
  QUARRY_DEVICE Quad<Out> outputs(int row, int column, int count, const Quad<Sum>& sum) const {
    if (params_.only_alpha) return by_alpha(sum);
    const Quad<Compute> z = combine(row, column, count, sum, load(row, column, count));
    keep(row, column, count, z);
    return apply(row, column, count, z);
  }

  /// Whether outputs are the sums times alpha, which is not 0, and quads of them are stored at once.
  QUARRY_DEVICE bool is_plain() const { return params_.only_alpha && alpha_ != 0 && out_.quads_aligned; }

  /// The outputs of a quad of sums where is_plain.
  QUARRY_DEVICE Quad<Out> plain_outputs(const Quad<Sum>& sum) const {
    Quad<Out> result;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      result.v[i] = rounded(added(multiplied(alpha_, of_sum(sum.v[i])), Compute{0}));
    }
    return result;
  }

  /// Whether whole quads can go by write_regular: what is rare is not asked for, and quads of all matrices
  /// move in one access.
  QUARRY_DEVICE bool is_regular() const {
    return (is_rough || params_.activation == Activation::identity) && alpha_ != 0 && out_.quads_aligned &&
           (beta_ == 0 || c_.quads_aligned) && params_.scale.data == nullptr && params_.aux.data == nullptr &&
           (params_.residual.data == nullptr || residual().quads_aligned);
  }

  /// What is added to a quad of sums of any row: the bias of its columns, or zeros.
  QUARRY_DEVICE Quad<Compute> column_addend(int column) const {
    Quad<Compute> result = {};
    if (params_.bias != nullptr && params_.bias_axis == BiasAxis::column)
      result = converted(bias_view().load(0, column, 4));
    return result;
  }

  /// Writes the outputs of `count` quads of sums, the first at (row, column), the others `row_step` rows
  /// below each other. What is read for them is asked for at once. `addend` is column_addend(column).
  template <int count>
  QUARRY_DEVICE void write_regular(int row, int row_step, int column, const Quad<Compute>& addend,
                                   const Quad<Sum> (&sums)[count]) const {
    Quad<Out> c[count] = {};
    Quad<Out> residuals[count] = {};
    if (beta_ != 0) load_rows(c_, row, row_step, column, c);
    if (params_.residual.data != nullptr) load_rows(residual(), row, row_step, column, residuals);
    Compute x[4 * count];
    QUARRY_UNROLL
    for (int i = 0; i < 4 * count; ++i) {
      const Compute product = multiplied_added(alpha_, of_sum(sums[i / 4].v[i % 4]), addend.v[i % 4]);
      x[i] = multiplied_added(beta_, to_compute<Compute>(c[i / 4].v[i % 4]), product);
    }
    if (params_.bias != nullptr && params_.bias_axis == BiasAxis::row) {
      QUARRY_UNROLL
      for (int i = 0; i < count; ++i) {
        const auto bias = to_compute<Compute>(arch::global_load<Out>(bias_view().at(row + i * row_step, 0)));
        QUARRY_UNROLL
        for (int j = 0; j < 4; ++j) x[4 * i + j] = added(x[4 * i + j], bias);
      }
    }
    if constexpr (is_rough) activate_outputs(x);
    if (params_.residual.data != nullptr) {
      QUARRY_UNROLL
      for (int i = 0; i < 4 * count; ++i) x[i] = added(x[i], to_compute<Compute>(residuals[i / 4].v[i % 4]));
    }
    if (params_.clamps) clamp(x);
    QUARRY_UNROLL
    for (int i = 0; i < count; ++i) {
      arch::global_store(
          place(row + i * row_step, column),
          Quad<Out>{rounded(x[4 * i]), rounded(x[4 * i + 1]), rounded(x[4 * i + 2]), rounded(x[4 * i + 3])});
    }
  }

  /// Where plain outputs lie, and elements from one row of them to the next.
  QUARRY_DEVICE Out* place(int row, int column) const { return const_cast<Out*>(out_.at(row, column)); }
  QUARRY_DEVICE long long row_stride() const { return out_.row_stride; }

  /// What sums are multiplied by.
  QUARRY_DEVICE static Compute alpha_of(const EpilogueParams& e) { return value(e.alpha, e.alpha_pointer); }

  /// Writes `count` outputs from (row, column) on.
  QUARRY_DEVICE void store(int row, int column, int count, const Quad<Out>& result) const {
    out_.store(row, column, count, result);
  }

 private:
  /// The short way of sums that only alpha changes, to the same outputs: a zero is never -0.
  QUARRY_DEVICE Quad<Out> by_alpha(const Quad<Sum>& sum) const {
    Quad<Out> result;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      const Compute x = alpha_ == 0 ? 0 : multiplied(alpha_, of_sum(sum.v[i]));
      result.v[i] = rounded(added(x, Compute{0}));
    }
    return result;
  }

  /// Reads what there is of `count` outputs from (row, column) on: c only if beta is not 0.
  QUARRY_DEVICE Source load(int row, int column, int count) const {
    Source source = {};
    if (beta_ != 0) source.c = kept(c_.load(row, column, count));
    if (params_.bias != nullptr) source.bias = kept(bias_view().load(row, column, count));
    return source;
  }

  /// From sums to z. With alpha 0 the sums do not count, even where they are NaN.
  QUARRY_DEVICE Quad<Compute> combine(int row, int column, int count, const Quad<Sum>& sum,
                                      const Source& source) const {
    Quad<Compute> z = scaled(row, column, count, sum);
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      const Compute x = alpha_ == 0 ? 0 : multiplied(alpha_, z.v[i]);
      z.v[i] = added(multiplied_added(beta_, to_compute<Compute>(source.c.v[i]), x),
                     to_compute<Compute>(source.bias.v[i]));
    }
    return z;
  }

  /// Writes z of `count` outputs from (row, column) on to aux, if there is one.
  QUARRY_DEVICE void keep(int row, int column, int count, const Quad<Compute>& z) const {
    if (params_.aux.data == nullptr) return;
    Quad<Out> rounded_z;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) rounded_z.v[i] = rounded(z.v[i]);
    matrices_.template of<Out>(params_.aux).store(row, column, count, rounded_z);
  }

  /// From z to outputs; reads the residual, if there is one.
  QUARRY_DEVICE Quad<Out> apply(int row, int column, int count, const Quad<Compute>& z) const {
    Quad<Compute> x = z;
    activate_outputs(x.v);
    if (params_.residual.data != nullptr) {
      const Quad<Out> read = residual().load(row, column, count);
      QUARRY_UNROLL
      for (int i = 0; i < 4; ++i) x.v[i] = added(x.v[i], to_compute<Compute>(read.v[i]));
    }
    if (params_.clamps) clamp(x.v);
    Quad<Out> result;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) result.v[i] = rounded(x.v[i]);
    return result;
  }

  /// Applies the activation to what becomes outputs, as exactly as these need.
  template <int count>
  QUARRY_DEVICE void activate_outputs(Compute (&x)[count]) const {
    if constexpr (is_rough) {
      activate_roughly(params_.activation, params_.leaky_slope, x);
    } else {
      activate(params_.activation, params_.leaky_slope, x);
    }
  }

  template <int count>
  QUARRY_DEVICE void clamp(Compute (&x)[count]) const {
    const auto low = static_cast<Compute>(params_.clamp_low);
    const auto high = static_cast<Compute>(params_.clamp_high);
    QUARRY_UNROLL
    for (int i = 0; i < count; ++i) x[i] = x[i] < low ? low : x[i] > high ? high : x[i];  // NaN stays
  }

  /// Reads quads that lie `row_step` rows below each other.
  template <int count>
  QUARRY_DEVICE static void load_rows(const View& from, int row, int row_step, int column,
                                      Quad<Out> (&to)[count]) {
    QUARRY_UNROLL
    for (int i = 0; i < count; ++i) to[i] = arch::global_load<Quad<Out>>(from.at(row + i * row_step, column));
  }

  QUARRY_DEVICE View residual() const { return matrices_.template of<Out>(params_.residual); }
  QUARRY_DEVICE MatrixView<Out> bias_view() const {
    MatrixView<Out> view = vector_view<Out>(bias(params_));
    if (!matrices_.has_whole_quads()) view.quads_aligned = false;
    return view;
  }

  QUARRY_DEVICE static Quad<Compute> converted(const Quad<Out>& read) {
    Quad<Compute> quad;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) quad.v[i] = to_compute<Compute>(read.v[i]);
    return quad;
  }

  QUARRY_DEVICE static Compute of_sum(Sum sum) {
    if constexpr (form.kind == EpilogueKind::fast_clamp)
      return small_to_float(sum);
    else
      return to_compute<Compute>(sum);
  }

  QUARRY_DEVICE static Out rounded(Compute x) {
    if constexpr (form.kind == EpilogueKind::fast_clamp)
      return fast_to_s8(x);
    else
      return to_element<Out>(x);
  }

  QUARRY_DEVICE static Quad<Kept> kept(const Quad<Out>& read) {
    Quad<Kept> quad;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if constexpr (sizeof(Out) == 1) {
        quad.v[i] = to_compute<Compute>(read.v[i]);
      } else {
        quad.v[i] = read.v[i];
      }
    }
    return quad;
  }

  /// Sums times the scale, if there is one.
  QUARRY_DEVICE Quad<Compute> scaled(int row, int column, int count, const Quad<Sum>& sum) const {
    Quad<Compute> result;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) result.v[i] = of_sum(sum.v[i]);
    if constexpr (EpilogueCompute<Sum, Out>::scales) {
      if (params_.scale.data == nullptr) return result;
      const Quad<Compute> scale = vector_view<Compute>(params_.scale).load(row, column, count);
      QUARRY_UNROLL
      for (int i = 0; i < 4; ++i) result.v[i] = multiplied(scale.v[i], result.v[i]);
    }
    return result;
  }

  /// A vector of the parameters as a matrix whose columns, or rows, are all the same.
  template <class T>
  QUARRY_DEVICE MatrixView<T> vector_view(const MatrixParams& matrix) const {
    return matrix_of<T, false, Batches::strided>(in_lines<form>(matrix), matrices_.batch());
  }

  /// The bias as a matrix whose columns, or rows, are all the same.
  QUARRY_DEVICE static MatrixParams bias(const EpilogueParams& e) {
    const bool by_row = e.bias_axis == BiasAxis::row;
    return {e.bias, by_row ? 1 : 0, by_row ? 0 : 1, 0};
  }

  QUARRY_DEVICE static Compute value(double given, const void* pointer) {
    return pointer == nullptr ? static_cast<Compute>(given) : arch::global_load<Compute>(pointer);
  }

  const EpilogueParams& params_;
  Matrices matrices_;
  View c_;
  View out_;
  Compute alpha_;
  Compute beta_;
};

/// The epilogue of kernels that are given no other one: everything is chosen at run time.
struct StandardChain {
  template <class Sum, class Out, EpilogueForm form>
  using For = StandardEpilogue<Sum, Out, form>;
};

/// Whether an epilogue takes whole rows of a tile, one warp each, as it has gated pairs or reductions
/// (common/wide_epilogue.cuh).
template <class Epilogue>
constexpr bool is_wide() {
  return requires { Epilogue::is_wide; };
}

/// Whether it takes gated pairs, of which the output has half the columns.
template <class Epilogue>
constexpr bool is_gated() {
  if constexpr (requires { Epilogue::is_gated; }) return Epilogue::is_gated;
  return false;
}

/// Whether these lie in B by turns: eight gates, then their eight partners. Otherwise the first half of a
/// tile's columns are gates, the second half their partners, which lie half of all columns further on in B.
template <class Epilogue>
constexpr bool has_eights() {
  if constexpr (requires { typename Epilogue::Generated; }) {
    return has_eights<typename Epilogue::Generated>();
  } else {
    return requires { Epilogue::has_eights; };
  }
}
template <class Epilogue>
constexpr bool has_halves() {
  return is_gated<Epilogue>() && !has_eights<Epilogue>();
}

/// Finishes one quad.
template <class Epilogue, class Sum>
QUARRY_DEVICE void finish(const Epilogue& epilogue, int row, int column, int count, const Quad<Sum>& sum) {
  epilogue.store(row, column, count, epilogue.outputs(row, column, count, sum));
}

}  // namespace quarry
