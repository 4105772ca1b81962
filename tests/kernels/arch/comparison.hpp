/// How far two results may lie apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/kernels/arch/inputs.hpp"

namespace quarry::test {

/// What a result is made of, and how many units in the last place an element may be off. Bits must be equal.
/// Of numbers, any NaN is as good as another; infinities and signs (of zeros too) must be equal.
struct Comparison {
  enum class Element : std::uint8_t { bits32, bits16, f16, f32, f64 };
  Element element = Element::bits32;
  unsigned ulps = 0;
  /// Results that are no normal numbers are 0: none may be subnormal, and 0 is next to the smallest number.
  bool flushed = false;

  /// Whether only equal results will do, once NaNs are one.
  bool exact() const { return ulps == 0 && !flushed; }
};

/// How two results differ.
struct Difference {
  std::size_t elements = 0;  ///< compared
  std::size_t wrong = 0;     ///< further apart than allowed
  std::size_t first = 0;     ///< the first of these
  std::uint64_t worst = 0;   ///< units in the last place between right elements that lie furthest apart
  /// "element 3 of 128: 3f800000 expected, 3f800001 got; 1 wrong", "" where none is.
  std::string text;
};

/// Compares element by element. @pre both have the same number of words
Difference difference(const Comparison& comparison, const Words& expected, const Words& got);

/// The words with every NaN of an element type replaced by one.
Words with_one_nan(const Comparison& comparison, Words words);

}  // namespace quarry::test
