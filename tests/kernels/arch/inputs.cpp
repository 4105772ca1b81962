#include "tests/kernels/arch/inputs.hpp"

#include <bit>
#include <limits>

#include "basic/numbers.hpp"

namespace quarry::test {
namespace {

constexpr std::uint32_t sign_bit = 0x80000000U;

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

void add(Words& words, std::uint64_t bits_of_f64) {
  words.push_back(static_cast<std::uint32_t>(bits_of_f64));
  words.push_back(static_cast<std::uint32_t>(bits_of_f64 >> 32));
}

/// From 0 to just below 1.
double fraction(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

std::uint32_t with_random_sign(Random& random, std::uint32_t magnitude) {
  return magnitude | (random.below(2) == 0 ? 0 : sign_bit);
}

/// Zeros, infinities, NaNs, the ends of the normal and subnormal numbers, and the same of narrower types.
Words special_f32() {
  Words found;
  for (const std::uint32_t magnitude : {0U,           // 0
                                        1U,           // the smallest number
                                        0x007fffffU,  // the largest subnormal
                                        0x00800000U,  // the smallest normal
                                        0x00800001U,
                                        0x33000000U,  // 2^-25, half of f16's smallest number
                                        0x33000001U,  // the one above
                                        0x33800000U,  // 2^-24, f16's smallest number
                                        0x387fc000U,  // f16's largest subnormal
                                        0x387fe000U,  // between that and the smallest normal
                                        0x38800000U,  // f16's smallest normal
                                        0x3f7fffffU,  // below 1
                                        0x3f800000U,  // 1
                                        0x3f800001U,  // above 1
                                        0x477fe000U,  // f16's largest number, 65504
                                        0x477fefffU,  // the last that is rounded down to it
                                        0x477ff000U,  // the first that is too large
                                        0x7e800000U,  // 2^126, the last whose reciprocal is normal
                                        0x7e800001U,
                                        0x7f7f0000U,  // bf16's largest number
                                        0x7f7f7fffU,  // the last that is rounded down to it
                                        0x7f7f8000U,  // the first that is too large
                                        0x7f7fffffU,  // the largest number
                                        0x7f800000U,  // infinity
                                        0x7f800001U,  // NaNs: signalling, with the smallest payload,
                                        0x7f802000U,  // with the one that f16's last bit holds,
                                        0x7fbfffffU,  // with the largest,
                                        0x7fc00000U,  // quiet
                                        0x7fc12345U, 0x7fffffffU}) {
    found.push_back(magnitude);
    found.push_back(magnitude | sign_bit);
  }
  return found;
}

std::vector<std::uint64_t> special_f64() {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  std::vector<std::uint64_t> found;
  for (const std::uint64_t magnitude :
       {bits(0.0), std::uint64_t{1}, bits(0x1p-1022) - 1, bits(0x1p-1022), bits(1.0), bits(1.0) + 1,
        bits(0x1p-53), bits(3.0), bits(std::numeric_limits<double>::max()),
        bits(std::numeric_limits<double>::infinity()), bits(std::numeric_limits<double>::quiet_NaN())}) {
    found.push_back(magnitude);
    found.push_back(magnitude | sign);
  }
  return found;
}

void add_special_and_random(Words& words, Random& random) {
  const Words special = special_f32();
  words.insert(words.end(), special.begin(), special.end());
  const Words other = random_words(random, 4096);
  words.insert(words.end(), other.begin(), other.end());
}

}  // namespace

Words random_words(Random& random, std::size_t count) {
  Words words(count);
  for (std::uint32_t& word : words) word = random.word();
  return words;
}

Words all_halves() {
  Words words;
  for (std::uint32_t i = 0; i < 0x10000; i += 2) words.push_back(i | (i + 1) << 16);
  return words;
}

Words floats_around_f16(Random& random) {
  Words words;
  for (std::uint16_t h = 0; h < 0x7c00; ++h) {
    const float below = host::f16_to_f32(h);
    const float above = h == 0x7bff ? 0x1p16F : host::f16_to_f32(static_cast<std::uint16_t>(h + 1));
    const std::uint32_t middle = bits((below + above) / 2);
    for (const std::uint32_t x : {middle - 1, middle, middle + 1}) {
      words.push_back(with_random_sign(random, x));
    }
  }
  add_special_and_random(words, random);
  return words;
}

Words floats_around_bf16(Random& random) {
  Words words;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    words.push_back(upper << 16 | 0x8000);
    words.push_back(upper << 16 | (random.below(2) == 0 ? 0x7fff : 0x8001));
  }
  add_special_and_random(words, random);
  return words;
}

Words floats_around_fp8(Random& random) {
  Words words;
  for (std::uint32_t upper = 0; upper < 0x1000; ++upper) {
    for (const std::uint32_t lower : {0U, 1U, 0x7ffffU, 0x80000U, 0x80001U, 0xfffffU})
      words.push_back(upper << 20 | lower);
  }
  add_special_and_random(words, random);
  while (words.size() % 4 != 0) words.push_back(random.word());
  return words;
}

Words floats_around_bytes(Random& random) {
  Words words;
  for (int twice = -2 * 260; twice <= 2 * 260; ++twice) {
    const std::uint32_t x = bits(static_cast<float>(twice) / 2);
    words.insert(words.end(), {x - 1, x, x + 1});
  }
  add_special_and_random(words, random);
  while (words.size() % 4 != 0) words.push_back(random.word());
  return words;
}

Words triples_of_bytes(Random& random) {
  Words words;
  constexpr std::uint32_t ends[] = {0, 0x01010101, 0x7f7f7f7f, 0x80808080, 0xffffffff, 0x807f00ff};
  for (const std::uint32_t a : ends) {
    for (const std::uint32_t b : ends) {
      for (const std::uint32_t sum : {0U, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
        words.insert(words.end(), {a, b, sum});
      }
    }
  }
  const Words other = random_words(random, 3 * 2048);
  words.insert(words.end(), other.begin(), other.end());
  return words;
}

Words pairs_of_bytes(Random& random) {
  Words words;
  for (std::uint32_t low = 0; low < 256; ++low) {
    for (const std::uint32_t high : {255 - low, random.below(256)}) {
      words.push_back(low | high << 8 | random.word() << 16);
    }
  }
  return words;
}

Words triples_f32(Random& random) {
  Words words;
  const Words special = special_f32();
  for (const std::uint32_t a : special) {
    for (const std::uint32_t b : special) {
      words.insert(words.end(), {a, b, special[random.below(static_cast<std::uint32_t>(special.size()))]});
    }
  }
  for (int i = 0; i < 2048; ++i) {
    const float a = static_cast<float>(fraction(random) + 1);
    const float b = static_cast<float>(fraction(random) - 2);
    const float product = a * b;
    words.insert(words.end(), {bits(a), bits(b), bits(-product)});
    words.insert(words.end(), {random.word(), random.word(), random.word()});
  }
  return words;
}

Words triples_f64(Random& random) {
  Words words;
  const std::vector<std::uint64_t> special = special_f64();
  for (const std::uint64_t a : special) {
    for (const std::uint64_t b : special) {
      for (const std::uint64_t x : {a, b, special[random.below(static_cast<std::uint32_t>(special.size()))]})
        add(words, x);
    }
  }
  for (int i = 0; i < 1024; ++i) {
    const double a = fraction(random) + 1;
    const double b = fraction(random) - 2;
    const double product = a * b;
    for (const double x : {a, b, -product}) add(words, bits(x));
    for (int part = 0; part < 3; ++part) add(words, random.next());
  }
  return words;
}

Words exponents_f32(Random& random) {
  Words words = special_f32();
  for (int x = -150; x <= 130; x += 7) words.push_back(bits(static_cast<float>(x)));
  for (const float x : {-126.0F, -127.0F, 127.0F, 128.0F, -125.99999F, -126.00001F, 127.99999F}) {
    words.push_back(bits(x));
  }
  while (words.size() < 256) words.push_back(bits(static_cast<float>(fraction(random) * 254 - 126)));
  return words;
}

Words tanh_arguments_f32(Random& random) {
  Words words = special_f32();
  while (words.size() < 256) words.push_back(bits(static_cast<float>(fraction(random) * 20 - 10)));
  return words;
}

Words floats_around_integers(Random& random) {
  Words words = special_f32();
  for (int half = -40; half <= 40; ++half) words.push_back(bits(static_cast<float>(half) / 2));
  for (const float x : {0x1p31F, 0x1.fffffep30F, 0x1.000002p31F, 0x1p22F, 0x1.8p23F, 0x1p40F}) {
    words.insert(words.end(), {bits(x), bits(-x)});
  }
  while (words.size() < 256) words.push_back(with_random_sign(random, random.below(0x7f800000U)));
  return words;
}

Words doubles_around_integers(Random& random) {
  Words words;
  for (const std::uint64_t x : special_f64()) add(words, x);
  for (int half = -40; half <= 40; ++half) add(words, bits(static_cast<double>(half) / 2));
  for (const double x : {0x1p31, 0x1p31 - 1, 0x1p31 - 0.5, 0x1p31 - 0.75, 0x1p31 + 0.5, 0x1p31 + 1, 0x1p40}) {
    add(words, bits(x));
    add(words, bits(-x));
  }
  while (words.size() < 512) add(words, bits((fraction(random) - 0.5) * 0x1p33));
  return words;
}

Words divisors_f32(Random& random) {
  Words words = special_f32();
  while (words.size() < 256) {
    words.push_back(with_random_sign(random, random.below(0x7f800000U)));
  }
  return words;
}

template <int limit>
Words arguments_f64(Random& random) {
  Words words;
  for (const std::uint64_t x : special_f64()) add(words, x);
  while (words.size() < 2 * std::size_t{128}) {
    // Every other one near 0, where the functions are 0, 1 or straight.
    const double x = (fraction(random) * 2 - 1) * limit;
    add(words, bits(words.size() % 4 == 0 ? x : x / limit));
  }
  return words;
}
template Words arguments_f64<20>(Random&);
template Words arguments_f64<27>(Random&);
template Words arguments_f64<740>(Random&);

}  // namespace quarry::test
