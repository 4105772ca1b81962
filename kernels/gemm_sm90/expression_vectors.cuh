/// Inputs of an expression that have a value for each row or for each column, on their way ahead of the sums,
/// as the bias of the standard chain, and in its place in shared memory: as many as fit there.
#pragma once

#include "common/expression_epilogue.cuh"
#include "gemm_sm90/bias.cuh"

namespace quarry::gemm_sm90 {

/// All parameters of a kernel with an expression, of which these are the first: a struct of standard layout
/// (kernels/gemm_sm90/family.cpp) has the address of its first member.
template <class Code>
QUARRY_DEVICE const auto& whole_of(const TensorGemmParams& params) {
  using Whole = typename Code::template Parameters<TensorGemmParams>;
  if constexpr (requires { static_cast<const Whole&>(params); }) {
    return static_cast<const Whole&>(params);
  } else {
    return static_cast<const Whole&>(reinterpret_cast<const ScaledTensorGemmParams&>(params));
  }
}

/// The tensors of an expression, behind a kernel's own parameters.
template <class Code>
QUARRY_DEVICE const ExpressionParams& expression_of(const TensorGemmParams& params) {
  return whole_of<Code>(params).expression;
}

/// The entry of a batch that an expression's tensors have for a piece of work: the output's, unless the work
/// is of a group that has one of its own (grouped_gemm/schedule.cuh).
template <class Work>
QUARRY_DEVICE int tensor_entry(const Work& work) {
  if constexpr (requires { work.tensor_entry(); }) {
    return work.tensor_entry();
  } else {
    return work.out().batch;
  }
}

/// Which inputs are loaded ahead, and where they lie in a set.
struct VectorPlaces {
  unsigned inputs;  ///< bits
  int at[gemm_expression_tensors];
};

template <Config config, class Code>
struct ExpressionVectors {
 private:
  static constexpr VectorPlaces make_places() {
    VectorPlaces places = {};
    int end = 0;
    for (int i = 0; i < Code::inputs; ++i) {
      const int bytes = bias_bytes(config) / 4 * bytes_of(Code::type(i));
      if (!Code::is_vector(i) || bytes_of(Code::type(i)) > 4 || end + bytes > bias_bytes(config)) continue;
      places.inputs |= 1u << i;
      places.at[i] = end;
      end += bytes;
    }
    return places;
  }

 public:
  static constexpr VectorPlaces places = make_places();
  static constexpr bool any = places.inputs != 0;

  template <class Params>
  QUARRY_DEVICE static bool has_any(const Params& /*params*/) {
    return any;
  }

  /// Loads the vectors of a tile. @param thread of `threads` that do so together, whole warps
  template <class Work>
  QUARRY_DEVICE static void load(BiasRing<config>& ring, const TensorGemmParams& params, const Work& work,
                                 int thread, int threads) {
    ring.acquire();
    load_from<0>(ring, expression_of<Code>(params), work, thread, threads);
    ring.commit();
    ring.advance();
  }

  /// Reads the values of a lane's two neighbouring columns in one row of its tile.
  template <class Held>
  QUARRY_DEVICE static void read(const BiasRing<config>& ring, const ExpressionParams& params, int row,
                                 int column, Held& held) {
    read_from<0>(ring, params, row, column, held);
  }

 private:
  static constexpr bool is_ahead(int i) { return (places.inputs >> i & 1) != 0; }

  /// Exchanged problems have columns for rows: only the strides say which a vector goes along.
  QUARRY_DEVICE static bool is_by_column(const MatrixParams& m) { return m.row_stride == 0; }

  template <int tensor, class Work>
  QUARRY_DEVICE static void load_from(const BiasRing<config>& ring, const ExpressionParams& params,
                                      const Work& work, int thread, int threads) {
    if constexpr (tensor < Code::inputs) {
      if constexpr (is_ahead(tensor))
        load_one<tensor>(ring, params.tensors[tensor].matrix, work, thread, threads);
      load_from<tensor + 1>(ring, params, work, thread, threads);
    }
  }

  template <int tensor, class Work>
  QUARRY_DEVICE static void load_one(const BiasRing<config>& ring, const MatrixParams& m, const Work& work,
                                     int thread, int threads) {
    using T = Element<Code::type(tensor)>;
    const bool by_column = is_by_column(m);
    const int count = by_column ? config.tile.n : config.tile.m;
    const int first = (by_column ? work.tile_n : work.tile_m) * count;
    const OperandBase base = work.out();
    const int extent = by_column ? work.n() : work.m();
    const long long stride = by_column ? m.column_stride : m.row_stride;
    const T* const from =
        static_cast<const T*>(m.data) +
        (tensor_entry(work) * m.batch_stride + ((by_column ? base.column : base.row) + first) * stride);
    QUARRY_ROLLED
    for (int i = thread; i < count; i += threads) {
      T value = {};
      if (first + i < extent) value = arch::global_load<T>(from + i * stride);
      arch::shared_store(ring.at(0) + (places.at[tensor] + i * static_cast<int>(sizeof(T))), value);
    }
  }

  template <int tensor, class Held>
  QUARRY_DEVICE static void read_from(const BiasRing<config>& ring, const ExpressionParams& params, int row,
                                      int column, Held& held) {
    if constexpr (tensor < Code::inputs) {
      if constexpr (is_ahead(tensor)) {
        using T = Element<Code::type(tensor)>;
        const arch::SharedAddress at = ring.at(0) + places.at[tensor];
        auto& to = held.template of<tensor>();
        if (is_by_column(params.tensors[tensor].matrix)) {
          to = arch::shared_load<arch::Vector<T, 2>>(at + column * static_cast<int>(sizeof(T)));
        } else {
          to.v[0] = arch::shared_load<T>(at + row * static_cast<int>(sizeof(T)));
          to.v[1] = to.v[0];
        }
      }
      read_from<tensor + 1>(ring, params, row, column, held);
    }
  }
};

}  // namespace quarry::gemm_sm90
