/// The table of element types, and the arithmetic of those that no kernel takes yet, over all of their codes.
#include "quarry/types.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "lab/problems/fresh_seed.hpp"
#include "operations/common/host/element.hpp"
#include "quarry/tensor.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A number of `bits` bits as the rules of an 8-bit floating-point format make it (OFP8), by arithmetic.
struct Fp8 {
  DType type;
  int mantissa_bits;
  int bias;
  double largest;

  double value(unsigned code) const {
    const int exponent = static_cast<int>(code >> mantissa_bits & (0x7fU >> mantissa_bits));
    const int mantissa = static_cast<int>(code & ((1U << mantissa_bits) - 1));
    const double sign = (code & 0x80U) != 0 ? -1 : 1;
    const int hidden = exponent == 0 ? 0 : 1 << mantissa_bits;
    const double number = std::ldexp(hidden + mantissa, std::max(exponent, 1) - bias - mantissa_bits);
    if (number <= largest) return sign * number;
    const bool is_infinity = type == DType::e5m2 && mantissa == 0;
    return is_infinity ? sign * infinity : std::numeric_limits<double>::quiet_NaN();
  }

  /// The nearest finite number, ties to even.
  double nearest(double x) const {
    if (x == 0 || std::isnan(x)) return x;
    if (std::isinf(x)) return std::copysign(largest, x);
    const int exponent = std::max(std::ilogb(x), 1 - bias);
    const double unit = std::ldexp(1.0, exponent - mantissa_bits);
    return std::clamp(std::nearbyint(x / unit) * unit, -largest, largest);
  }
};

constexpr Fp8 fp8_types[] = {{DType::e4m3, 3, 7, 448}, {DType::e5m2, 2, 15, 57344}};

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

/// The code that a number is written as.
unsigned code_of(DType type, double value) {
  std::uint8_t code = 0;
  host::write_element(type, &code, 0, value);
  return code;
}

TEST_CASE("the table of types has a row for each enumerator, in their order", "[types]") {
  CHECK(dtype_count == static_cast<int>(DType::u4) + 1);
  std::set<std::string_view> names;
  for (int i = 0; i < dtype_count; ++i) {
    const TypeInfo info = info_of(static_cast<DType>(i));
    INFO(info.name);
    CHECK(static_cast<int>(info.type) == i);
    CHECK(names.insert(info.name).second);
    CHECK(to_string(info.type) == info.name);
    CHECK(bytes_of(info.type) * 8 == (info.bits % 8 == 0 ? info.bits : 0));
    CHECK((is_floating(info.type) == (info.significand_bits > 0)));
    CHECK(is_floating(info.type) + is_integer(info.type) == (info.bits > 0 ? 1 : 0));
  }
}

TEST_CASE("the numbers of old types are those that keys and files hold", "[types]") {
  constexpr DType in_order[] = {DType::none, DType::f16, DType::bf16, DType::f32,
                                DType::f64,  DType::s8,  DType::u8,   DType::s32};
  for (int i = 0; i < 8; ++i) CHECK(static_cast<int>(in_order[i]) == i);
}

TEST_CASE("a number that is no type has the row of none", "[types]") {
  for (const int number : {dtype_count, 100, 255}) {
    const auto type = static_cast<DType>(number);
    CHECK(info_of(type).type == DType::none);
    CHECK(bits_of(type) == 0);
    CHECK(bytes_of(type) == 0);
    CHECK_FALSE(host::with_type(type, [](auto) { FAIL("called"); }));
  }
  CHECK_FALSE(host::with_type(DType::none, [](auto) { FAIL("called"); }));
}

TEST_CASE("elements of half a byte share bytes", "[types]") {
  for (const DType type : {DType::s4, DType::u4}) {
    CHECK(bytes_of(type) == 0);
    CHECK(unit_bytes(type) == 1);
    CHECK(bytes_for(type, 0) == 0);
    CHECK(bytes_for(type, 1) == 1);
    CHECK(bytes_for(type, 2) == 1);
    CHECK(bytes_for(type, 3) == 2);
    CHECK(bytes_for(type, 4096) == 2048);
    CHECK(bytes_for(type, std::numeric_limits<std::int64_t>::max()) == std::int64_t{1} << 62);
  }
  for (int i = 0; i < dtype_count; ++i) {
    const auto type = static_cast<DType>(i);
    if (bytes_of(type) == 0) continue;
    CHECK(unit_bytes(type) == bytes_of(type));
    CHECK(bytes_for(type, 7) == 7 * bytes_of(type));
  }
}

TEST_CASE("the limits of the table are those of the elements", "[types]") {
  for (int i = 1; i < dtype_count; ++i) {
    const TypeInfo info = info_of(static_cast<DType>(i));
    const DType type = info.type;
    INFO(info.name);
    const auto stored = [&](double value) {
      std::uint64_t memory = 0;
      host::write_element(type, &memory, 0, value);
      return host::read_element(type, &memory, 0);
    };
    CHECK(stored(info.largest) == info.largest);
    CHECK(stored(lowest_of(type)) == lowest_of(type));
    CHECK(stored(info.smallest) == info.smallest);
    CHECK(stored(info.smallest / 4) == 0);
    CHECK(stored(infinity) == (saturates(type) ? info.largest : infinity));
    CHECK(stored(-infinity) == (saturates(type) ? lowest_of(type) : -infinity));
    if (is_integer(type)) continue;
    CHECK(std::isnan(stored(NAN)));
    // 1 + u is half-way to the next number, and 1 is even.
    CHECK(stored(1 + unit_roundoff(type)) == 1);
    CHECK(stored(1 + 2 * unit_roundoff(type)) == 1 + 2 * unit_roundoff(type));
  }
}

TEST_CASE("every code of an 8-bit floating-point type is read as the format says, and written back",
          "[types]") {
  for (const Fp8& format : fp8_types) {
    INFO(to_string(format.type));
    for (unsigned code = 0; code < 256; ++code) {
      const auto byte = static_cast<std::uint8_t>(code);
      const double expected = format.value(code);
      const double value = host::read_element(format.type, &byte, 0);
      INFO("code " << code << " is " << value << ", expected " << expected);
      REQUIRE(same(value, expected));
      const unsigned written = code_of(format.type, value);
      if (std::isnan(expected)) {
        REQUIRE(written == 0x7f);
      } else if (std::isinf(expected)) {
        REQUIRE(written == code - 1);  // the greatest finite number of its sign
      } else {
        REQUIRE(written == code);
      }
    }
  }
  CHECK(code_of(DType::e4m3, 448) == 0x7e);
  CHECK(code_of(DType::e4m3, -1e30) == 0xfe);
  CHECK(code_of(DType::e5m2, 57344) == 0x7b);
  CHECK(code_of(DType::e5m2, -infinity) == 0xfb);
}

TEST_CASE("8-bit floating-point types round to the nearest, ties to even", "[types]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const Fp8& format : fp8_types) {
    INFO(to_string(format.type));
    const auto rounds_right = [&](float x) {
      const auto code = static_cast<std::uint8_t>(code_of(format.type, static_cast<double>(x)));
      return same(host::read_element(format.type, &code, 0), format.nearest(static_cast<double>(x)));
    };
    for (unsigned code = 0; format.value(code) < format.largest; ++code) {
      const auto middle = static_cast<float>((format.value(code) + format.value(code + 1)) / 2);
      for (const float x : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, INFINITY)}) {
        INFO(x);
        REQUIRE(rounds_right(x));
        REQUIRE(rounds_right(-x));
      }
    }
    for (int i = 0; i < 300'000; ++i) {
      // Half of them are in reach of the format, the others any.
      auto bits = static_cast<std::uint32_t>(random());
      if (i % 2 == 0) bits = (bits & 0x87ffffffU) | 0x38000000U;
      const float x = std::bit_cast<float>(bits);
      if (!rounds_right(x)) FAIL("wrong: " << x);
    }
  }
}

TEST_CASE("both halves of every byte are read and written apart", "[types]") {
  for (const DType type : {DType::s4, DType::u4}) {
    INFO(to_string(type));
    for (int byte = 0; byte < 256; ++byte) {
      const auto memory = static_cast<std::uint8_t>(byte);
      for (const int index : {0, 1}) {
        const int half = index == 0 ? byte % 16 : byte / 16;
        const int expected = type == DType::s4 && half >= 8 ? half - 16 : half;
        REQUIRE(host::read_element(type, &memory, index) == expected);
        for (int value = -20; value <= 20; ++value) {
          std::uint8_t written = memory;
          host::write_element(type, &written, index, value);
          const double stored = std::clamp<double>(value, lowest_of(type), info_of(type).largest);
          REQUIRE(host::read_element(type, &written, index) == stored);
          REQUIRE(host::read_element(type, &written, 1 - index) ==
                  host::read_element(type, &memory, 1 - index));
        }
      }
    }
    std::array<std::uint8_t, 3> memory = {};
    for (int i = 0; i < 6; ++i) host::write_element(type, memory.data(), i, i + 1);
    CHECK(memory == std::array<std::uint8_t, 3>{0x21, 0x43, 0x65});
    host::write_element(type, memory.data(), 3, 2.5);  // ties to even
    CHECK(host::read_element(type, memory.data(), 3) == 2);
    host::write_element(type, memory.data(), 3, NAN);
    CHECK(host::read_element(type, memory.data(), 3) == 0);
  }
}

TEST_CASE("a type is dispatched to its own element", "[types]") {
  for (int i = 1; i < dtype_count; ++i) {
    const auto type = static_cast<DType>(i);
    DType got = DType::none;
    CHECK(host::with_type(type, [&]<DType t>(host::TypeTag<t>) { got = t; }));
    CHECK(got == type);
    int bits = 0;
    host::with_element(type, [&]<class E>(E) { bits = host::element_bits<E>; });
    CHECK(bits == bits_of(type));
    const bool computes = type == DType::f32 || type == DType::f64 || type == DType::s32;
    CHECK(host::with_compute_type(type, [&]<class T>(T) { CHECK(8 * sizeof(T) == bits_of(type)); }) ==
          computes);
  }
}

}  // namespace
}  // namespace quarry
