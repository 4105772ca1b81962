/// The inner loop of the host executor: sums of products of two packed panels, in the order of K in which a
/// kernel adds them.
#pragma once

#include <cstdint>

namespace quarry::host {

/// What happens to a sum at each addition: it is rounded to f16; or, of 32-bit integers (which are kept as
/// unsigned ones), what would leave s32 becomes its nearest number.
enum class Rounding : unsigned char { none, f16, saturated };

/// Rows of A and columns of B that are multiplied at once; panels interleave as many lines.
inline constexpr int rows_at_once = 4;
template <class T>
inline constexpr int columns_at_once = 32 / static_cast<int>(sizeof(T));

namespace block_product_detail {

/// 16 bytes of T, which every machine has registers for. (A vector extension of GCC and Clang.)
template <class T>
struct VectorType {
  typedef T Type __attribute__((vector_size(16)));
};
template <class T>
using Vector = typename VectorType<T>::Type;

/// Each element rounded to the nearest f16; see f32_to_f16, which works the same way.
inline Vector<float> rounded_to_f16(Vector<float> x) {
  using Bits = Vector<std::int32_t>;
  using Unsigned = Vector<std::uint32_t>;  // whose additions wrap, as those on NaNs do
  const Bits bits = reinterpret_cast<Bits>(x);
  const Bits magnitude = bits & 0x7fffffff;
  const Unsigned kept = reinterpret_cast<Unsigned>(magnitude);
  const Bits normal = reinterpret_cast<Bits>((kept + 0xfffU + (kept >> 13 & 1U)) & ~0x1fffU);
  const Bits special = magnitude > 0x7f800000 ? magnitude : Bits{} + 0x7f800000;
  const Bits subnormal = reinterpret_cast<Bits>(reinterpret_cast<Vector<float>>(magnitude) + 0.5F - 0.5F);
  const Bits finite = magnitude < 0x38800000 ? subnormal : normal;
  const Bits rounded = magnitude >= 0x477ff000 ? special : finite;  // 65520 and more is infinite
  return reinterpret_cast<Vector<float>>(rounded | (bits ^ magnitude));
}

/// The sums of elements as s32.
inline Vector<std::uint32_t> saturated_sum(Vector<std::uint32_t> x, Vector<std::uint32_t> y) {
  using Bits = Vector<std::int32_t>;
  const Vector<std::uint32_t> sum = x + y;
  // A sum has left the type where it has the sign of neither summand.
  const Bits overflow = reinterpret_cast<Bits>((x ^ sum) & (y ^ sum)) < 0;
  const Bits limit = (reinterpret_cast<Bits>(x) >> 31) ^ 0x7fffffff;
  return reinterpret_cast<Vector<std::uint32_t>>(overflow ? limit : reinterpret_cast<Bits>(sum));
}

template <Rounding rounding, class V>
V added(V x, V y) {
  if constexpr (rounding == Rounding::f16)
    return rounded_to_f16(x + y);
  else if constexpr (rounding == Rounding::saturated)
    return saturated_sum(x, y);
  else
    return x + y;
}

}  // namespace block_product_detail

/// Adds the product of `rows_at_once` rows and `columns_at_once` columns to `sums`, whose rows are
/// `row_stride` apart. For each of the `depth` positions of K the panels hold so many values of A or of B.
/// Products are summed in chunks of `chunk` positions (a matrix instruction's K), and each chunk is added to
/// the sums, as `rounding` says; chunk 1 adds each product by itself.
/// @pre depth is a multiple of chunk
template <class T, Rounding rounding>
void add_product(const T* a, const T* b, int depth, int chunk, T* sums, int row_stride) {
  using block_product_detail::Vector;
  constexpr int lanes = 16 / static_cast<int>(sizeof(T));
  constexpr int vectors = columns_at_once<T> / lanes;
  Vector<T> total[rows_at_once][vectors];
  for (int i = 0; i < rows_at_once; ++i) {
    for (int j = 0; j < vectors; ++j) __builtin_memcpy(&total[i][j], sums + i * row_stride + j * lanes, 16);
  }
  for (int begin = 0; begin < depth; begin += chunk) {
    Vector<T> part[rows_at_once][vectors] = {};
    for (int k = 0; k < chunk; ++k, a += rows_at_once, b += columns_at_once<T>) {
      Vector<T> column[vectors];
      __builtin_memcpy(column, b, sizeof column);
#pragma GCC unroll 4
      for (int i = 0; i < rows_at_once; ++i) {
#pragma GCC unroll 2
        for (int j = 0; j < vectors; ++j) part[i][j] += a[i] * column[j];
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows_at_once; ++i) {
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) {
        total[i][j] = block_product_detail::added<rounding>(total[i][j], part[i][j]);
      }
    }
  }
  for (int i = 0; i < rows_at_once; ++i) {
    for (int j = 0; j < vectors; ++j) __builtin_memcpy(sums + i * row_stride + j * lanes, &total[i][j], 16);
  }
}

}  // namespace quarry::host
