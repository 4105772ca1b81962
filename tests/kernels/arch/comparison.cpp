#include "tests/kernels/arch/comparison.hpp"

#include <algorithm>
#include <cstdio>

namespace quarry::test {
namespace {

/// A binary format, by its parts.
struct Format {
  int bits;
  int mantissa_bits;  // 0: this is no number

  std::uint64_t all() const { return ~std::uint64_t{0} >> (64 - bits); }
  std::uint64_t sign() const { return std::uint64_t{1} << (bits - 1); }
  std::uint64_t magnitude(std::uint64_t x) const { return x & ~sign() & all(); }
  std::uint64_t smallest_normal() const { return std::uint64_t{1} << mantissa_bits; }
  std::uint64_t infinity() const { return magnitude(all()) & ~(smallest_normal() - 1); }
  bool is_nan(std::uint64_t x) const { return mantissa_bits > 0 && magnitude(x) > infinity(); }
  bool is_subnormal(std::uint64_t x) const { return magnitude(x) - 1 < smallest_normal() - 1; }
};

Format format_of(Comparison::Element element) {
  switch (element) {
    case Comparison::Element::bits16: return {16, 0};
    case Comparison::Element::f16: return {16, 10};
    case Comparison::Element::f32: return {32, 23};
    case Comparison::Element::f64: return {64, 52};
    default: return {32, 0};
  }
}

std::size_t elements_in(const Words& words, const Format& format) {
  return words.size() * 32 / static_cast<std::size_t>(format.bits);
}

std::uint64_t element_of(const Words& words, const Format& format, std::size_t i) {
  if (format.bits == 64) return words[2 * i] | static_cast<std::uint64_t>(words[2 * i + 1]) << 32;
  if (format.bits == 16) return words[i / 2] >> (i % 2 * 16) & 0xffffU;
  return words[i];
}

constexpr std::uint64_t no_way = ~std::uint64_t{0};

/// Units in the last place between two elements; `no_way` where they are not comparable.
std::uint64_t distance(const Comparison& comparison, const Format& format, std::uint64_t a, std::uint64_t b) {
  if (a == b && !(comparison.flushed && format.is_subnormal(a))) return 0;
  if (format.mantissa_bits == 0) return no_way;
  if (format.is_nan(a) && format.is_nan(b)) return 0;
  if (((a ^ b) & format.sign()) != 0) return no_way;
  const auto place = [&](std::uint64_t x) {
    const std::uint64_t magnitude = format.magnitude(x);
    if (!comparison.flushed || magnitude == 0) return magnitude;
    return magnitude - (format.smallest_normal() - 1);
  };
  for (const std::uint64_t x : {a, b}) {
    if (format.magnitude(x) >= format.infinity()) return no_way;
    if (comparison.flushed && format.is_subnormal(x)) return no_way;
  }
  return std::max(place(a), place(b)) - std::min(place(a), place(b));
}

std::string hex(std::uint64_t x, const Format& format) {
  char text[20];
  std::snprintf(text, sizeof text, "%0*llx", format.bits / 4, static_cast<unsigned long long>(x));
  return text;
}

}  // namespace

Difference difference(const Comparison& comparison, const Words& expected, const Words& got) {
  const Format format = format_of(comparison.element);
  Difference found;
  found.elements = elements_in(expected, format);
  for (std::size_t i = 0; i < found.elements; ++i) {
    const std::uint64_t a = element_of(expected, format, i);
    const std::uint64_t b = element_of(got, format, i);
    const std::uint64_t apart = distance(comparison, format, a, b);
    if (apart <= comparison.ulps) {
      found.worst = std::max(found.worst, apart);
    } else if (found.wrong++ == 0) {
      found.first = i;
      found.text = "element " + std::to_string(i) + " of " + std::to_string(found.elements) + ": " +
                   hex(a, format) + " expected, " + hex(b, format) + " got";
    }
  }
  if (found.wrong > 0) found.text += "; " + std::to_string(found.wrong) + " wrong";
  return found;
}

Words with_one_nan(const Comparison& comparison, Words words) {
  const Format format = format_of(comparison.element);
  for (std::size_t i = 0; i < elements_in(words, format); ++i) {
    if (!format.is_nan(element_of(words, format, i))) continue;
    const std::uint64_t nan = format.magnitude(format.all());
    if (format.bits == 64) {
      words[2 * i] = static_cast<std::uint32_t>(nan);
      words[2 * i + 1] = static_cast<std::uint32_t>(nan >> 32);
    } else if (format.bits == 16) {
      const int shift = static_cast<int>(i % 2) * 16;
      words[i / 2] = (words[i / 2] & ~(0xffffU << shift)) | static_cast<std::uint32_t>(nan) << shift;
    } else {
      words[i] = static_cast<std::uint32_t>(nan);
    }
  }
  return words;
}

}  // namespace quarry::test
