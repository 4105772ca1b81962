/// Computes an expression of tensors element by element.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"
#include "common/expression.cuh"
#include "common/held_tensors.cuh"
#include "elementwise/config.hpp"
#include "elementwise/params.hpp"

namespace quarry::elementwise {

/// What is computed, where no expression is compiled in: bytes are copied. Others are generated
/// (operations/elementwise/code.hpp) with the same members:
///   inputs, tensors    how many inputs there are, and tensors in all
///   type(tensor)       their element types
///   element(lane)      computes an element: reads lane.input<i>(), writes lane.output<i>(value)
struct CopyBytes {
  static constexpr int inputs = 1;
  static constexpr int tensors = 2;
  static constexpr DType type(int) { return DType::u8; }
  template <class Lane>
  QUARRY_DEVICE static void element(const Lane& lane) {
    lane.template copy<0, 1>();
  }
};

template <class Code, int tensor>
using ComputedAs = typename elementary::ComputedIn<Code::type(tensor)>::Type;

/// One of the neighbours: what generated code computes with.
template <class Code, class Inputs, class Outputs>
struct Lane {
  Inputs& inputs;
  Outputs& outputs;
  int index;

  template <int tensor>
  QUARRY_DEVICE auto input() const {
    return to_compute<ComputedAs<Code, tensor>>(inputs.template of<tensor>().v[index]);
  }
  template <int tensor, class C>
  QUARRY_DEVICE void output(C value) const {
    outputs.template of<tensor>().v[index] = elementary::stored<Code::type(tensor)>(value);
  }
  template <int from, int to>
  QUARRY_DEVICE void copy() const {
    outputs.template of<to>().v[index] = inputs.template of<from>().v[index];
  }
};

/// Neighbours of the innermost extent: where they are, and how many of them exist.
struct Place {
  long long at[elementwise_extents];
  int count;
  /// The problem has more than one line; otherwise only the last of `at` counts.
  bool has_lines;
};

/// number / by, and number becomes the rest. Divisions of 32 bits take a quarter of the time of others.
QUARRY_DEVICE long long divide(long long& number, long long by, bool is_small) {
  const long long quotient =
      is_small ? static_cast<long long>(static_cast<unsigned>(number) / static_cast<unsigned>(by))
               : number / by;
  number -= quotient * by;
  return quotient;
}

template <Config config>
QUARRY_DEVICE Place place_of(const ElementwiseParams& params, long long vector) {
  const long long* const extents = params.extents;
  const long long across = vectors_along(config, extents[3]);
  Place place = {};
  place.has_lines = extents[0] * extents[1] * extents[2] > 1;
  if (place.has_lines) {
    const long long all = extents[0] * extents[1] * extents[2] * across;
    if (vector >= all) return place;
    const bool is_small = all <= 0xffffffffLL;
    long long line = divide(vector, across, is_small);
    long long plane = divide(line, extents[2], is_small);
    place.at[2] = line;
    place.at[0] = divide(plane, extents[1], is_small);
    place.at[1] = plane;
  }
  place.at[3] = vector * config.elements;
  const long long left = extents[3] - place.at[3];
  place.count = left >= config.elements ? config.elements : left > 0 ? static_cast<int>(left) : 0;
  return place;
}

template <class T>
QUARRY_DEVICE const T* address_of(const ElementwiseTensor& tensor, const Place& place) {
  long long offset = place.at[3] * tensor.strides[3];
  if (place.has_lines) {
    QUARRY_UNROLL
    for (int i = 0; i < 3; ++i) offset += place.at[i] * tensor.strides[i];
  }
  return static_cast<const T*>(tensor.data) + offset;
}

/// Elements of one access.
template <class T, int elements>
constexpr int together = elements* static_cast<int>(sizeof(T)) <= widest_access
                             ? elements
                             : widest_access / static_cast<int>(sizeof(T));

template <DType type>
QUARRY_DEVICE Element<type> read(const ElementwiseTensor& tensor, const Place& place) {
  return arch::global_load<Element<type>>(address_of<Element<type>>(tensor, place));
}

template <class T, int elements>
QUARRY_DEVICE void fill(arch::Vector<T, elements>& all, T value) {
  QUARRY_UNROLL
  for (int i = 0; i < elements; ++i) all.v[i] = value;
}

/// Reads neighbours; those that do not exist keep what they are.
template <DType type, int elements>
QUARRY_DEVICE void load(const ElementwiseTensor& tensor, const Place& place,
                        arch::Vector<Element<type>, elements>& to) {
  using T = Element<type>;
  constexpr int n = together<T, elements>;
  const long long stride = tensor.strides[3];
  if (elements > 1 && tensor.data != nullptr && stride == 0) return fill(to, read<type>(tensor, place));
  if constexpr (!is_fp8(type)) {  // whose values are not given from the host
    if (tensor.data == nullptr) return fill(to, elementary::stored<type>(tensor.value));
  }
  const T* const from = address_of<T>(tensor, place);
  if (place.count == elements) {  // of more than 1 element, they are next to each other
    QUARRY_UNROLL
    for (int i = 0; i < elements; i += n) {
      const auto part = arch::global_load<arch::Vector<T, n>>(from + i);
      QUARRY_UNROLL
      for (int j = 0; j < n; ++j) to.v[i + j] = part.v[j];
    }
    return;
  }
  QUARRY_UNROLL
  for (int i = 0; i < elements; ++i) {
    if (i < place.count) to.v[i] = arch::global_load<T>(from + i);
  }
}

/// Writes neighbours that exist.
template <DType type, int elements>
QUARRY_DEVICE void store(const ElementwiseTensor& tensor, const Place& place,
                         const arch::Vector<Element<type>, elements>& values) {
  using T = Element<type>;
  constexpr int n = together<T, elements>;
  T* const to = const_cast<T*>(address_of<T>(tensor, place));
  if (place.count == elements) {
    QUARRY_UNROLL
    for (int i = 0; i < elements; i += n) {
      arch::Vector<T, n> part;
      QUARRY_UNROLL
      for (int j = 0; j < n; ++j) part.v[j] = values.v[i + j];
      arch::global_store(to + i, part);
    }
    return;
  }
  QUARRY_UNROLL
  for (int i = 0; i < elements; ++i) {
    if (i < place.count) arch::global_store(to + i, values.v[i]);
  }
}

/// The place of the input that chooses the rows of another one; -1 for one that is not gathered.
template <class Code>
constexpr int index_of(int tensor) {
  if constexpr (requires { Code::index_of(0); }) return Code::index_of(tensor);
  return -1;
}

/// Reads neighbours in a row of the tensor; where there is no such row, they are 0.
template <DType type, int elements>
QUARRY_DEVICE void load_row(const ElementwiseTensor& tensor, const Place& place, int row,
                            arch::Vector<Element<type>, elements>& to) {
  if (row < 0 || row >= tensor.rows) return fill(to, Element<type>{});
  Place own = place;
  own.at[2] = row;
  own.has_lines = true;
  load<type, elements>(tensor, own, to);
}

template <class Code, int elements, int tensor = 0, class Inputs>
QUARRY_DEVICE void load_all(const ElementwiseParams& params, const Place& place, Inputs& inputs) {
  if constexpr (tensor < Code::inputs && index_of<Code>(tensor) >= 0) {
    const int row = inputs.template of<index_of<Code>(tensor)>().v[0];
    load_row<Code::type(tensor), elements>(params.tensors[tensor], place, row, inputs.template of<tensor>());
    load_all<Code, elements, tensor + 1>(params, place, inputs);
  } else if constexpr (tensor < Code::inputs) {
    load<Code::type(tensor), elements>(params.tensors[tensor], place, inputs.template of<tensor>());
    load_all<Code, elements, tensor + 1>(params, place, inputs);
  }
}

template <class Code, int elements, int tensor = Code::inputs, class Outputs>
QUARRY_DEVICE void store_all(const ElementwiseParams& params, const Place& place, Outputs& outputs) {
  if constexpr (tensor < Code::tensors) {
    store<Code::type(tensor), elements>(params.tensors[tensor], place, outputs.template of<tensor>());
    store_all<Code, elements, tensor + 1>(params, place, outputs);
  }
}

/// The kernel: all loads of a thread come before its first store, so that their latencies overlap.
template <Config config, class Code = CopyBytes>
QUARRY_DEVICE void kernel(const ElementwiseParams& params) {
  constexpr int elements = config.elements;
  using Inputs = HeldTensors<Code, elements, 0, Code::inputs>;
  using Outputs = HeldTensors<Code, elements, Code::inputs, Code::tensors>;
  const long long first =
      static_cast<long long>(arch::block_index()) * threads(config) * config.vectors + arch::thread_index();
  Place places[config.vectors];
  Inputs inputs[config.vectors];
  QUARRY_UNROLL
  for (int i = 0; i < config.vectors; ++i) {
    places[i] = place_of<config>(params, first + i * threads(config));
    if (places[i].count > 0) load_all<Code, elements>(params, places[i], inputs[i]);
  }
  QUARRY_UNROLL
  for (int i = 0; i < config.vectors; ++i) {
    if (places[i].count == 0) continue;
    Outputs outputs;
    QUARRY_UNROLL
    for (int lane = 0; lane < elements; ++lane)
      Code::element(Lane<Code, Inputs, Outputs>{inputs[i], outputs, lane});
    store_all<Code, elements>(params, places[i], outputs);
  }
}

}  // namespace quarry::elementwise
