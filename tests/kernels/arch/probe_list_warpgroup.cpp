/// Probes of what a warpgroup does together, and of stored matrices.
#include <algorithm>
#include <bit>
#include <numeric>

#include "basic/numbers.hpp"
#include "tests/kernels/arch/operand_tile.hpp"
#include "tests/kernels/arch/probe.hpp"
#include "tests/kernels/arch/probe_params.hpp"
#include "tests/kernels/arch/warpgroup_layout.hpp"

namespace quarry::test {
namespace {

using arch::Major;

constexpr std::size_t threads = probes::usual.threads;
constexpr unsigned operand_bytes = 4 * probes::operand_words;
constexpr int columns = 64;
constexpr int line_widths[] = {128, 64, 32, 16};

/// Twice the bounds of mma (probe_list.cpp): there are two instructions.
constexpr Comparison sums_f32_bound = {.element = Comparison::Element::f32, .ulps = 28};
constexpr Comparison sums_f16_bound = {.element = Comparison::Element::f16, .ulps = 2};

float small_integer(Random& random) { return static_cast<float>(random.below(17)) - 8; }

/// A positive number from 2^-4 to 2^4.
float positive(Random& random) {
  return std::bit_cast<float>((123 + random.below(8)) << 23 | random.below(1U << 23));
}

using Draw = float (*)(Random&);

template <MmaTypes types>
std::uint32_t element(float x) {
  return types == MmaTypes::bf16_f32 ? host::f32_to_bf16(x) : host::f32_to_f16(x);
}

void push_descriptor(Words& in, arch::MatrixDescriptor descriptor) {
  in.push_back(static_cast<std::uint32_t>(descriptor));
  in.push_back(static_cast<std::uint32_t>(descriptor >> 32));
}

/// All but the descriptors, which `push_descriptors` adds.
template <MmaTypes types, Draw draw, class PushDescriptors>
Words multiplication(Random& random, bool accumulate, PushDescriptors push_descriptors) {
  Words in;
  for (int i = 0; i < probes::operand_words; ++i) {
    const std::uint32_t low = element<types>(draw(random));
    in.push_back(low | element<types>(draw(random)) << 16);
  }
  push_descriptors(in);
  in.push_back(accumulate ? 1 : 0);
  for (int i = 0; i < probes::sum_words; ++i) {
    const float sum = draw(random);
    const std::uint32_t half = element<types>(sum);
    in.push_back(types == MmaTypes::f16_f16 ? half | half << 16 : std::bit_cast<std::uint32_t>(sum));
  }
  return in;
}

/// Whatever lies in shared memory is taken for tiles: of A in its first half, of B in the second one. A's
/// lines have width number `width`, B's lines the next one.
template <MmaTypes types, Major a_major, Major b_major, int width, Draw draw>
Words tiles(Random& random) {
  const OperandTile a = {a_major, 64, line_widths[width]};
  const OperandTile b = {b_major, columns, line_widths[(width + 1) % 4]};
  return multiplication<types, draw>(random, width % 2 == 0, [&](Words& in) {
    const int first = static_cast<int>(random.below(4));
    const int second = static_cast<int>(random.below(4));
    push_descriptor(in, a.descriptor(0, first));
    push_descriptor(in, b.descriptor(operand_bytes / 2, first));
    push_descriptor(in, a.descriptor(0, second));
    push_descriptor(in, b.descriptor(operand_bytes / 2, second));
  });
}

/// Lines of 32 bytes, of which the second half of shared memory has 256: as many columns as there can be.
template <MmaTypes types>
Words lines_for_every_n(Random& random) {
  return multiplication<types, small_integer>(random, true, [](Words& in) {
    constexpr arch::MatrixDescriptor lines_of_32 = 3ULL << 62 | (8 * 32 / 16ULL) << 32;
    constexpr arch::MatrixDescriptor b = lines_of_32 | operand_bytes / 2 / 16;
    push_descriptor(in, lines_of_32);
    push_descriptor(in, b);
    push_descriptor(in, lines_of_32 | 64 * 32 / 16);
    push_descriptor(in, b);
  });
}

/// Fragments of `words` words a thread, and a line for each thread.
template <std::size_t words>
Words fragments_and_lines(Random& random) {
  Words in = random_words(random, words * threads);
  Words lines(threads);
  std::iota(lines.begin(), lines.end(), 0U);
  for (std::uint32_t i = threads; i > 1; --i) std::swap(lines[i - 1], lines[random.below(i)]);
  in.insert(in.end(), lines.begin(), lines.end());
  return in;
}

template <std::size_t count>
Words words(Random& random) {
  return random_words(random, count);
}

/// One kernel, of `types` and majors, on lines of all widths.
template <MmaTypes types, Major a_major, Major b_major>
void add_tiles(std::vector<Probe>& all, const std::string& kernel) {
  constexpr std::size_t sums = columns / (types == MmaTypes::f16_f16 ? 4 : 2);
  const auto add = [&](const char* inputs, Words (*make_inputs)(Random&), const Comparison& comparison) {
    all.push_back({.kernel = kernel,
                   .inputs = inputs,
                   .covers = {"warpgroup_multiply"},
                   .make_inputs = make_inputs,
                   .out_words = threads * sums,
                   .comparison = comparison,
                   .shared_memory = operand_bytes,
                   .sm90 = true});
  };
  add("integers_128_64", tiles<types, a_major, b_major, 0, small_integer>, {});
  add("integers_64_32", tiles<types, a_major, b_major, 1, small_integer>, {});
  add("integers_32_16", tiles<types, a_major, b_major, 2, small_integer>, {});
  add("integers_16_128", tiles<types, a_major, b_major, 3, small_integer>, {});
  if (a_major != Major::k || b_major != Major::k) return;
  add("floats", tiles<types, a_major, b_major, 0, positive>,
      types == MmaTypes::f16_f16 ? sums_f16_bound : sums_f32_bound);
}

template <MmaTypes types>
void add_majors(std::vector<Probe>& all, const std::string& kernel) {
  add_tiles<types, Major::k, Major::k>(all, kernel + "_kk");
  add_tiles<types, Major::k, Major::mn>(all, kernel + "_kn");
  add_tiles<types, Major::mn, Major::k>(all, kernel + "_mk");
  add_tiles<types, Major::mn, Major::mn>(all, kernel + "_mn");
}

/// All N from `first` to `last` columns in one kernel.
Probe every_n(int first, int last) {
  std::size_t out_words = 0;
  for (int n = first; n <= last; n += 8) out_words += threads * static_cast<std::size_t>(n) / 2;
  return {.kernel = "warpgroup_multiply_n" + std::to_string(last),
          .covers = {"warpgroup_multiply", "warpgroup_fence", "warpgroup_commit", "warpgroup_wait",
                     "warpgroup_hold(WarpgroupSumsF32<N>)"},
          .make_inputs = lines_for_every_n<MmaTypes::bf16_f32>,
          .out_words = out_words,
          .shared_memory = operand_bytes,
          .sm90 = true};
}

/// The same of some N, with the left operand in registers.
template <MmaTypes types>
Probe fragment(const char* kernel) {
  std::size_t out_words = 0;
  for (const std::size_t n : {8, 16, 32, 64, 96, 128, 256}) out_words += threads * n / 2;
  return {.kernel = kernel,
          .covers = {"warpgroup_multiply_fragment"},
          .make_inputs = lines_for_every_n<types>,
          .out_words = out_words,
          .shared_memory = operand_bytes,
          .sm90 = true};
}

Probe stored_matrices(const char* name, Words (*make_inputs)(Random&)) {
  return {.kernel = name,
          .covers = {name},
          .make_inputs = make_inputs,
          .out_words = 4 * threads,
          .shared_memory = 16 * threads,
          .sm90 = true};
}

}  // namespace

void add_warpgroup_probes(std::vector<Probe>& all) {
  all.push_back(stored_matrices("store_matrix_x4", fragments_and_lines<4>));
  all.push_back(stored_matrices("store_matrix_x4_transposed", fragments_and_lines<4>));
  all.push_back(stored_matrices("store_matrix_x2", fragments_and_lines<2>));
  all.push_back(stored_matrices("store_matrix_x2_transposed", fragments_and_lines<2>));
  add_majors<MmaTypes::f16_f32>(all, "warpgroup_multiply_f16_f32");
  add_majors<MmaTypes::bf16_f32>(all, "warpgroup_multiply_bf16_f32");
  const std::size_t first_narrow = all.size();
  add_majors<MmaTypes::f16_f16>(all, "warpgroup_multiply_f16_f16");
  for (std::size_t i = first_narrow; i < all.size(); ++i) {
    all[i].covers.emplace_back("warpgroup_hold(WarpgroupSumsF16<N>)");
    all[i].covers.emplace_back("async_proxy_fence");
  }
  for (const int last : {64, 128, 192, 256}) all.push_back(every_n(last - 56, last));
  all.push_back(fragment<MmaTypes::bf16_f32>("warpgroup_multiply_fragment_bf16"));
  all.push_back(fragment<MmaTypes::f16_f32>("warpgroup_multiply_fragment_f16"));
  all.push_back({.kernel = "registers",
                 .covers = {"give_registers", "take_registers"},
                 .make_inputs = words<16 * threads>,
                 .out_words = 16 * threads,
                 .sm90 = true});
}

}  // namespace quarry::test
