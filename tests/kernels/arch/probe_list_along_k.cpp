/// Probes of a warpgroup's matrix instructions on operands contiguous along K.
#include <bit>

#include "basic/numbers.hpp"
#include "tests/kernels/arch/operand_tile.hpp"
#include "tests/kernels/arch/probe.hpp"
#include "tests/kernels/arch/probe_params.hpp"
#include "tests/kernels/arch/warpgroup_layout.hpp"

namespace quarry::test {
namespace {

constexpr std::size_t threads = probes::usual.threads;
constexpr unsigned operand_bytes = 4 * probes::operand_words;
constexpr int columns = 64;

/// Twice the bound of tf32's mma: there are two instructions.
constexpr Comparison tf32_bound = {.element = Comparison::Element::f32, .ulps = 28};
/// Sums of 8-bit products keep 13 bits of mantissa, and cut off the rest of each product: no page says so, an
/// H200 does.
constexpr Comparison fp8_bound = {.element = Comparison::Element::f32, .ulps = 32768};

float small_integer(Random& random) { return static_cast<float>(random.below(17)) - 8; }

/// A positive number from 2^-4 to 2^4.
float positive(Random& random) {
  return std::bit_cast<float>((123 + random.below(8)) << 23 | random.below(1U << 23));
}

using Draw = float (*)(Random&);
using Word = std::uint32_t (*)(Random&);

/// An f32 of at most so many bits of mantissa as count, and others that must not.
template <Draw draw>
std::uint32_t tf32_word(Random& random) {
  return (std::bit_cast<std::uint32_t>(draw(random)) & ~0x1fffU) | random.below(1U << 13);
}

template <Draw draw, std::uint8_t (*to_byte)(float)>
std::uint32_t fp8_word(Random& random) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | to_byte(draw(random));
  return word;
}

std::uint32_t any_word(Random& random) { return random_words(random, 1)[0]; }

template <Draw draw>
std::uint32_t float_word(Random& random) {
  return std::bit_cast<std::uint32_t>(draw(random));
}

void push_descriptor(Words& in, arch::MatrixDescriptor descriptor) {
  in.push_back(static_cast<std::uint32_t>(descriptor));
  in.push_back(static_cast<std::uint32_t>(descriptor >> 32));
}

/// Both operands in lines of `line_bytes`, A in the first half of shared memory and B in the second one.
template <Word a_word, Word b_word, Word sum_word, int line_bytes>
Words tiles(Random& random) {
  Words in;
  for (int i = 0; i < probes::operand_words; ++i)
    in.push_back(i < probes::operand_words / 2 ? a_word(random) : b_word(random));
  const OperandTile a = {arch::Major::k, 64, line_bytes};
  const OperandTile b = {arch::Major::k, columns, line_bytes};
  for (int i = 0; i < 2; ++i) {
    const int step = static_cast<int>(random.below(4));
    push_descriptor(in, a.descriptor(0, step));
    push_descriptor(in, b.descriptor(operand_bytes / 2, step));
  }
  in.push_back(line_bytes == 128 ? 1 : 0);
  for (int i = 0; i < probes::sum_words; ++i) in.push_back(sum_word(random));
  return in;
}

template <Word a_word, Word b_word, Word sum_word>
void add_kernel(std::vector<Probe>& all, const std::string& types, const std::string& values,
                const Comparison& comparison) {
  const auto add = [&](const char* inputs, Words (*make_inputs)(Random&)) {
    all.push_back({.kernel = "warpgroup_multiply_" + types,
                   .inputs = values + inputs,
                   .covers = {"warpgroup_multiply_along_k"},
                   .make_inputs = make_inputs,
                   .out_words = threads * columns / 2,
                   .comparison = comparison,
                   .shared_memory = operand_bytes,
                   .sm90 = true});
  };
  add("_128", tiles<a_word, b_word, sum_word, 128>);
  if (comparison.ulps == 0) add("_32", tiles<a_word, b_word, sum_word, 32>);  // others are kept word by word
}

using ToByte = std::uint8_t (*)(float);

template <ToByte a, ToByte b>
void add_fp8_integers(std::vector<Probe>& all, const std::string& types) {
  add_kernel<fp8_word<small_integer, a>, fp8_word<small_integer, b>, float_word<small_integer>>(
      all, types, "integers", {});
}

template <ToByte to_byte>
void add_fp8_floats(std::vector<Probe>& all, const std::string& types) {
  add_kernel<fp8_word<positive, to_byte>, fp8_word<positive, to_byte>, float_word<positive>>(
      all, types, "floats", fp8_bound);
}

}  // namespace

void add_along_k_probes(std::vector<Probe>& all) {
  add_kernel<tf32_word<small_integer>, tf32_word<small_integer>, float_word<small_integer>>(all, "tf32",
                                                                                            "integers", {});
  add_kernel<tf32_word<positive>, tf32_word<positive>, float_word<positive>>(all, "tf32", "floats",
                                                                             tf32_bound);
  add_fp8_integers<host::f32_to_e4m3, host::f32_to_e4m3>(all, "e4m3_e4m3");
  add_fp8_integers<host::f32_to_e4m3, host::f32_to_e5m2>(all, "e4m3_e5m2");
  add_fp8_integers<host::f32_to_e5m2, host::f32_to_e4m3>(all, "e5m2_e4m3");
  add_fp8_integers<host::f32_to_e5m2, host::f32_to_e5m2>(all, "e5m2_e5m2");
  add_fp8_floats<host::f32_to_e4m3>(all, "e4m3_e4m3");
  add_fp8_floats<host::f32_to_e5m2>(all, "e5m2_e5m2");
  for (const char* const types : {"s8_s8", "s8_u8", "u8_s8", "u8_u8"}) {
    const std::size_t first = all.size();
    add_kernel<any_word, any_word, any_word>(all, types, "bytes", {});
    for (std::size_t i = first; i < all.size(); ++i)
      all[i].covers.emplace_back("warpgroup_hold(WarpgroupSumsS32<N>)");
  }
}

}  // namespace quarry::test
