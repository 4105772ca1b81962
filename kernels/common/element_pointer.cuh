/// Where elements lie in global memory, be they whole bytes or halves.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"
#include "common/matrix_view.cuh"

namespace quarry {

/// A place among elements of half a byte: so many of them behind the first one of a byte.
template <class T>
struct HalfBytePointer {
  const unsigned char* bytes;
  long long index;

  friend QUARRY_DEVICE HalfBytePointer operator+(HalfBytePointer from, long long elements) {
    return {from.bytes, from.index + elements};
  }
  QUARRY_DEVICE HalfBytePointer& operator+=(long long elements) {
    index += elements;
    return *this;
  }
};

/// How elements are found: by a pointer, or where they share bytes by a HalfBytePointer.
template <class T>
struct ElementPointer {
  using Type = const T*;
};
template <>
struct ElementPointer<S4> {
  using Type = HalfBytePointer<S4>;
};
template <>
struct ElementPointer<U4> {
  using Type = HalfBytePointer<U4>;
};

template <class T>
QUARRY_DEVICE T load_element(const T* from) {
  return arch::global_load<T>(from);
}
QUARRY_DEVICE U4 load_element(HalfBytePointer<U4> from) {
  const auto both = arch::global_load<unsigned char>(from.bytes + from.index / 2);
  return {static_cast<unsigned char>(from.index % 2 == 0 ? both & 15 : both >> 4)};
}
QUARRY_DEVICE S4 load_element(HalfBytePointer<S4> from) {
  const int code = load_element(HalfBytePointer<U4>{from.bytes, from.index}).value;
  return {static_cast<signed char>((code ^ 8) - 8)};
}

/// The element of a batch entry's matrix that is so far behind its first one.
template <class T>
QUARRY_DEVICE typename ElementPointer<T>::Type element_at(const MatrixParams& m, int batch,
                                                          long long distance) {
  using Pointer = typename ElementPointer<T>::Type;
  if constexpr (sizeof(Pointer) == sizeof(const T*)) {
    return static_cast<const T*>(m.data) + (batch_offset(m, batch, sizeof(T)) + distance);
  } else {
    const auto* const bytes = static_cast<const unsigned char*>(m.data);
    const long long offset = batch_offset(m, batch, 1);
    if (is_pointer_array(m)) return {bytes + offset, distance};
    return {bytes, offset + distance};
  }
}

}  // namespace quarry
