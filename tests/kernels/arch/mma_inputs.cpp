/// Inputs of matrix multiplications. Of each thread: four words of A and two of B, each with two elements,
/// (of f32 operands one), then its sums, four words in f32 or two with two elements in f16. What stands where
/// in the matrices does not matter here.
#include <bit>

#include "basic/numbers.hpp"
#include "tests/kernels/arch/inputs.hpp"

namespace quarry::test {
namespace {

constexpr std::size_t words_a = 4;
constexpr std::size_t words_b = 2;
constexpr std::size_t warp_threads = 32;

/// An operand's element, by its type.
template <MmaTypes types>
std::uint32_t element(float x) {
  if (types == MmaTypes::tf32_f32) return std::bit_cast<std::uint32_t>(x);
  return types == MmaTypes::bf16_f32 ? host::f32_to_bf16(x) : host::f32_to_f16(x);
}

/// What part of a multiplication an element is of.
enum class Part : std::uint8_t { a, b, sum };

/// The words of all warps; `make(part, warp)` returns an element, in its type.
template <MmaTypes types, class Make>
Words for_each_element(Make make) {
  const auto pair = [&](Part part, std::size_t warp) {
    const std::uint32_t low = make(part, warp);
    if (types == MmaTypes::tf32_f32) return low;
    return low | make(part, warp) << 16;
  };
  Words words;
  for (std::size_t thread = 0; thread < mma_warps * warp_threads; ++thread) {
    const std::size_t warp = thread / warp_threads;
    for (std::size_t i = 0; i < words_a; ++i) words.push_back(pair(Part::a, warp));
    for (std::size_t i = 0; i < words_b; ++i) words.push_back(pair(Part::b, warp));
    if (types == MmaTypes::f16_f16) {
      for (std::size_t i = 0; i < 2; ++i) words.push_back(pair(Part::sum, warp));
    } else {
      for (std::size_t i = 0; i < 4; ++i) words.push_back(make(Part::sum, warp));
    }
  }
  return words;
}

/// A sum, by its type.
template <MmaTypes types>
std::uint32_t sum_element(float x) {
  return types == MmaTypes::f16_f16 ? host::f32_to_f16(x) : std::bit_cast<std::uint32_t>(x);
}

template <MmaTypes types>
std::uint32_t any_element(Part part, float x) {
  return part == Part::sum ? sum_element<types>(x) : element<types>(x);
}

float small_integer(Random& random) { return static_cast<float>(random.below(17)) - 8; }

/// 2^exponent.
float power_of_two(int exponent) {
  return static_cast<float>(std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52));
}

/// A number of a magnitude from 2^lowest to 2^highest.
float of_magnitude(Random& random, int lowest, int highest) {
  const auto range = static_cast<std::uint32_t>(highest - lowest);
  const float scale = power_of_two(lowest + static_cast<int>(random.below(range)));
  return scale * (1 + static_cast<float>(random.below(1U << 23)) * 0x1p-23F);
}

}  // namespace

template <MmaTypes types>
Words mma_integers(Random& random) {
  return for_each_element<types>(
      [&](Part part, std::size_t) { return any_element<types>(part, small_integer(random)); });
}

template <MmaTypes types>
Words mma_floats(Random& random) {
  // Sums in f16 must not become infinite: 17 terms below 2^8.
  const int most = types == MmaTypes::bf16_f32 || types == MmaTypes::tf32_f32 ? 20
                   : types == MmaTypes::f16_f32                               ? 8
                                                                              : 4;
  return for_each_element<types>([&](Part part, std::size_t warp) {
    // The second half of the warps has negative products.
    const bool negative = warp % 2 == 1 && part != Part::b;
    const float x = of_magnitude(random, -most, most);
    return any_element<types>(part, negative ? -x : x);
  });
}

template <MmaTypes types>
Words mma_subnormals(Random& random) {
  constexpr bool f16_sums = types == MmaTypes::f16_f16;
  constexpr std::size_t sums_warp = 0;
  return for_each_element<types>([&](Part part, std::size_t warp) -> std::uint32_t {
    const std::uint32_t sign = random.below(2);
    if (part == Part::b) return element<types>(random.below(2) == 0 ? 1.0F : 2.0F);
    if (warp == sums_warp) {  // nothing is added to the sums
      if (part == Part::a) return 0;
      return f16_sums ? sign << 15 | random.below(0x400) : sign << 31 | random.below(0x800000);
    }
    // Multiples of the operand type's smallest number, so few that every sum of products is exact.
    const std::uint32_t multiple = random.below(32);
    if (part == Part::a || f16_sums) return sign << 15 | multiple;
    if (types == MmaTypes::bf16_f32) return sign << 31 | multiple << 16;
    return std::bit_cast<std::uint32_t>(static_cast<float>(multiple) * (sign == 0 ? 0x1p-24F : -0x1p-24F));
  });
}

template <MmaTypes types>
Words mma_zeros(Random& random) {
  return for_each_element<types>([&](Part part, std::size_t warp) {
    const float zero = random.below(2) == 0 ? 0.0F : -0.0F;
    if (part == Part::b) return element<types>(1.0F + static_cast<float>(random.below(4)));
    // Operands that are all -0, that are all 0, and both.
    return any_element<types>(part, part == Part::sum || warp % 3 == 2 ? zero : warp % 3 == 0 ? -0.0F : 0.0F);
  });
}

template <MmaTypes types>
Words mma_specials(Random& random) {
  constexpr std::uint32_t infinity = types == MmaTypes::bf16_f32 ? 0x7f80 : 0x7c00;
  return for_each_element<types>([&](Part part, std::size_t) -> std::uint32_t {
    const std::uint32_t sign = random.below(2);
    const std::uint32_t which = random.below(64);
    if (which > 1) return any_element<types>(part, small_integer(random));
    if ((part == Part::sum && types != MmaTypes::f16_f16) || types == MmaTypes::tf32_f32) {
      return sign << 31 | (which == 0 ? 0x7f800000U : 0x7f800001U + random.below(0x7fffff));
    }
    return sign << 15 | (which == 0 ? infinity : infinity + 1 + random.below(0x3f));
  });
}

namespace {

Words mma_f64(Random& random, std::size_t numbers, double (*make)(Random&)) {
  Words words;
  for (std::size_t i = 0; i < mma_warps * warp_threads * numbers; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(make(random));
    words.push_back(static_cast<std::uint32_t>(bits));
    words.push_back(static_cast<std::uint32_t>(bits >> 32));
  }
  return words;
}

}  // namespace

template <std::size_t numbers>
Words mma_f64_integers(Random& random) {
  return mma_f64(random, numbers, [](Random& r) { return static_cast<double>(small_integer(r)); });
}

template <std::size_t numbers>
Words mma_f64_floats(Random& random) {
  return mma_f64(random, numbers,
                 [](Random& r) { return std::bit_cast<double>(0x3ffULL << 52 | r.next() >> 12); });
}

Words mma_bytes(Random& random) {
  Words words;
  for (std::size_t thread = 0; thread < mma_warps * warp_threads; ++thread) {
    for (std::size_t i = 0; i < words_a + words_b; ++i) words.push_back(random.word());
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t distance = random.below(1U << 19);
      const bool at_end = thread / warp_threads % 2 == 1;
      const std::uint32_t sum = at_end ? 0x7fffffffU - distance : distance;
      words.push_back(random.below(2) == 0 ? sum : ~sum);
    }
  }
  return words;
}

template Words mma_f64_integers<numbers_f64>(Random&);
template Words mma_f64_integers<numbers_f64_k8>(Random&);
template Words mma_f64_integers<numbers_f64_k16>(Random&);
template Words mma_f64_floats<numbers_f64>(Random&);
template Words mma_f64_floats<numbers_f64_k8>(Random&);
template Words mma_f64_floats<numbers_f64_k16>(Random&);
template Words mma_integers<MmaTypes::f16_f32>(Random&);
template Words mma_integers<MmaTypes::tf32_f32>(Random&);
template Words mma_floats<MmaTypes::tf32_f32>(Random&);
template Words mma_zeros<MmaTypes::tf32_f32>(Random&);
template Words mma_specials<MmaTypes::tf32_f32>(Random&);
template Words mma_integers<MmaTypes::bf16_f32>(Random&);
template Words mma_integers<MmaTypes::f16_f16>(Random&);
template Words mma_floats<MmaTypes::f16_f32>(Random&);
template Words mma_floats<MmaTypes::bf16_f32>(Random&);
template Words mma_floats<MmaTypes::f16_f16>(Random&);
template Words mma_subnormals<MmaTypes::f16_f32>(Random&);
template Words mma_subnormals<MmaTypes::bf16_f32>(Random&);
template Words mma_subnormals<MmaTypes::f16_f16>(Random&);
template Words mma_zeros<MmaTypes::f16_f32>(Random&);
template Words mma_zeros<MmaTypes::bf16_f32>(Random&);
template Words mma_zeros<MmaTypes::f16_f16>(Random&);
template Words mma_specials<MmaTypes::f16_f32>(Random&);
template Words mma_specials<MmaTypes::bf16_f32>(Random&);
template Words mma_specials<MmaTypes::f16_f16>(Random&);

}  // namespace quarry::test
