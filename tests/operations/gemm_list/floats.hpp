/// Values and views of the tests of lists of GEMMs with expressions.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

#include "quarry/tensor.hpp"

namespace quarry::test {

using Floats = std::vector<float>;

/// A row-major view of f32.
inline TensorView rows_of(const Floats& data, std::initializer_list<std::int64_t> extents) {
  return TensorView::row_major(data.data(), DType::f32, extents);
}

/// Values between -1 and 1.
inline Floats random_values(std::int64_t count, std::mt19937_64& random) {
  std::uniform_real_distribution<float> values(-1, 1);
  Floats all(static_cast<std::size_t>(count));
  for (float& each : all) each = values(random);
  return all;
}

/// Whether all bits are the same.
inline bool is_same(const Floats& one, const Floats& other) {
  return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
}

}  // namespace quarry::test
