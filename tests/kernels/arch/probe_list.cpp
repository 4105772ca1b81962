#include "tests/kernels/arch/probe.hpp"
#include "tests/kernels/arch/probe_params.hpp"

namespace quarry::test {
namespace {

constexpr std::size_t threads = probes::usual.threads;
constexpr unsigned mma_blocks = static_cast<unsigned>(mma_warps * 32 / threads);

constexpr Comparison bits = {};
constexpr Comparison bits16 = {.element = Comparison::Element::bits16};
/// One rounding of the true value, which leaves no choice, except for which NaN.
constexpr Comparison exact_f32 = {.element = Comparison::Element::f32};
constexpr Comparison exact_f64 = {.element = Comparison::Element::f64};
constexpr Comparison exact_f16 = {.element = Comparison::Element::f16};
/// A relative error of 2^-22 on the GPU (the bound that the function states) is up to 4 units.
constexpr Comparison exp2_bound = {.element = Comparison::Element::f32, .ulps = 4, .flushed = true};
/// A relative error of 2^-11 on the GPU (PTX ISA, tanh) is up to 8,192 units.
constexpr Comparison rough_tanh_bound = {.element = Comparison::Element::f32, .ulps = 8192};
/// The GPU's result is one of the two f32 that the true value lies between, the emulator's is the nearer.
constexpr Comparison reciprocal_bound = {.element = Comparison::Element::f32, .ulps = 1, .flushed = true};
/// Errors that the two libraries state for their functions, added up: 1 unit each for exp, 2 for tanh, 5 for
/// erfc.
constexpr Comparison exp_bound = {.element = Comparison::Element::f64, .ulps = 2};
constexpr Comparison tanh_bound = {.element = Comparison::Element::f64, .ulps = 4};
constexpr Comparison erfc_bound = {.element = Comparison::Element::f64, .ulps = 10};
/// The same in f32: 1 unit each for log, 2 for erf. The error of erf in f64 is as tanh's.
constexpr Comparison log_f32_bound = {.element = Comparison::Element::f32, .ulps = 2};
constexpr Comparison erf_f32_bound = {.element = Comparison::Element::f32, .ulps = 4};
/// No terms cancel here. The GPU cuts off each of 17 terms two bits or more behind the last place of the
/// largest, and then the sum: 6 units. The emulator rounds 16 times: at most 8 units.
constexpr Comparison sum_f32_bound = {.element = Comparison::Element::f32, .ulps = 14};
/// The same sums, so close that rounding them to f16 gives the same or a neighbour.
constexpr Comparison sum_f16_bound = {.element = Comparison::Element::f16, .ulps = 1};
/// Sums of five terms, in whatever order.
constexpr Comparison sum_f64_bound = {.element = Comparison::Element::f64, .ulps = 2};

template <std::size_t count>
Words words(Random& random) {
  return random_words(random, count);
}

/// Of scattered bytes in sections of `bytes` a thread.
template <std::size_t bytes>
Words sections(Random& random) {
  return random_words(random, bytes * threads / 4);
}

/// The copies of `copy_async`. The last one reads the first 8 of its 16 bytes, which are the last there are.
Words partial_copies(Random& random) { return random_words(random, (4 + 8 + 16) * threads / 4 - 2); }

Words copies_or_zeros(Random& random) {
  Words in = sections<4 + 8 + 16>(random);
  constexpr std::uint32_t present[] = {0, 0, 1, 2, 0x80, 0x100, 0x10000, 0x80000000, 0xffffffff};
  for (std::size_t i = 0; i < 3 * threads; ++i) in.push_back(present[random.below(9)]);
  return in;
}

Words additions(Random& random) {
  Words in = {0, 1, 5, 0xfffffffa, 0x7fffffff, 1, 0x80000000, 0xffffffff};
  const Words other = random_words(random, 6 * threads);
  in.insert(in.end(), other.begin(), other.end());
  return in;
}

Words matrices_and_lines(Random& random) {
  Words in = random_words(random, 4 * 64);
  for (std::size_t i = 0; i < threads; ++i) in.push_back(random.below(64));
  return in;
}

Words halves(Random&) { return all_halves(); }

/// Probes of a function of one number, or of three.
Probe items(std::string kernel, std::vector<std::string> covers, Words (*make_inputs)(Random&),
            std::size_t count, std::size_t out_words, const Comparison& comparison) {
  return {.kernel = std::move(kernel),
          .covers = std::move(covers),
          .make_inputs = make_inputs,
          .out_words = out_words,
          .comparison = comparison,
          .grid = 8,
          .items = count};
}

/// How many words a function makes.
std::size_t count_of(Words (*make_inputs)(Random&)) {
  Random random(0);
  return make_inputs(random).size();
}

void add_weight_probes(std::vector<Probe>& all) {
  const std::size_t pairs = count_of(pairs_of_bytes);
  const auto add = [&](const char* kernel, std::vector<std::string> covers, std::size_t words) {
    all.push_back(items(kernel, std::move(covers), pairs_of_bytes, pairs, words * pairs, bits));
  };
  for (const char* kernel : {"f16_weights_of_e4m3", "bf16_weights_of_e4m3"}) {
    all.push_back(items(kernel, {"byte_pair(E4M3x4)"}, pairs_of_bytes, pairs, pairs, bits16));
    all.back().sm90 = true;
  }
  add("f16_weights_of_s8", {"byte_pair(S8x4)"}, 1);
  add("bf16_weights_of_s8", {"byte_pair(S8x4)"}, 1);
  add("f16_weights_of_u8", {"byte_pair(U8x4)", "pair_zero<F16>"}, 2);
  add("bf16_weights_of_u8", {"byte_pair(U8x4)", "pair_zero<BF16>"}, 2);
  add("f16_weights_of_s4", {"half_byte_pair(S4x8)"}, 4);
  add("bf16_weights_of_s4", {"half_byte_pair(S4x8)"}, 4);
  add("f16_weights_of_u4", {"half_byte_pair(U4x8)", "pair_zero<F16>"}, 4);
  add("bf16_weights_of_u4", {"half_byte_pair(U4x8)", "pair_zero<BF16>"}, 4);
  add("f16_rows_of_s4", {"half_byte_rows(S4x8)", "half_byte_lane"}, 4);
  add("bf16_rows_of_s4", {"half_byte_rows(S4x8)", "half_byte_lane"}, 4);
  add("f16_rows_of_u4", {"half_byte_rows(U4x8)", "half_byte_lane", "row_zero<F16>"}, 4);
  add("bf16_rows_of_u4", {"half_byte_rows(U4x8)", "half_byte_lane", "row_zero<BF16>"}, 4);
}

void add_number_probes(std::vector<Probe>& all) {
  const std::size_t to_f16 = count_of(floats_around_f16) / 2 * 2;
  const std::size_t to_bf16 = count_of(floats_around_bf16) / 2 * 2;
  const std::size_t f32 = count_of(triples_f32) / 3;
  const std::size_t f64 = count_of(triples_f64) / 6;
  all.push_back(items("f32_of_f16", {"to_f32(F16)"}, halves, 0x10000, 0x10000, bits));
  all.push_back(items("f32_of_bf16", {"to_f32(BF16)"}, halves, 0x10000, 0x10000, bits));
  all.push_back(items("f16_of_f32", {"to_f16"}, floats_around_f16, to_f16, to_f16 / 2, bits16));
  all.push_back(items("bf16_of_f32", {"to_bf16"}, floats_around_bf16, to_bf16, to_bf16 / 2, bits16));
  all.push_back(items("pair_of_f16", {"pair_of<F16>"}, floats_around_f16, to_f16 / 2, to_f16 / 2, bits16));
  all.push_back(
      items("pair_of_bf16", {"pair_of<BF16>"}, floats_around_bf16, to_bf16 / 2, to_bf16 / 2, bits16));
  const std::size_t to_fp8 = count_of(floats_around_fp8) / 2;
  all.push_back(items("pair_of_e4m3", {"pair_of_e4m3"}, floats_around_fp8, to_fp8, to_fp8 / 2, bits16));
  all.push_back(items("pair_of_e5m2", {"pair_of_e5m2"}, floats_around_fp8, to_fp8, to_fp8 / 2, bits16));
  const std::size_t pairs = count_of(pairs_of_bytes);
  all.push_back(items("f16_of_s8", {"low_pair_of<F16>(S8x4)"}, pairs_of_bytes, pairs, pairs, bits));
  all.push_back(items("f16_of_u8", {"low_pair_of<F16>(U8x4)"}, pairs_of_bytes, pairs, pairs, bits));
  all.push_back(items("bf16_of_s8", {"low_pair_of<BF16>(S8x4)"}, pairs_of_bytes, pairs, pairs, bits));
  all.push_back(items("bf16_of_u8", {"low_pair_of<BF16>(U8x4)"}, pairs_of_bytes, pairs, pairs, bits));
  all.push_back(items("tf32_of_f32", {"to_tf32"}, floats_around_f16, to_f16, to_f16, exact_f32));
  const std::size_t to_byte = count_of(floats_around_bytes);
  all.push_back(items("s8_of_f32", {"to_s8"}, floats_around_bytes, to_byte, to_byte / 4, bits));
  all.push_back(items("u8_of_f32", {"to_u8"}, floats_around_bytes, to_byte, to_byte / 4, bits));
  const std::size_t dots = count_of(triples_of_bytes) / 3;
  all.push_back(items("dot4_s8_s8", {"dot4(S8x4)"}, triples_of_bytes, dots, dots, bits));
  all.push_back(items("dot4_s8_u8", {"dot4(S8x4)"}, triples_of_bytes, dots, dots, bits));
  all.push_back(items("dot4_u8_s8", {"dot4(U8x4)"}, triples_of_bytes, dots, dots, bits));
  all.push_back(items("dot4_u8_u8", {"dot4(U8x4)"}, triples_of_bytes, dots, dots, bits));
  all.push_back(items("fma_f32", {"fma(float)"}, triples_f32, f32, f32, exact_f32));
  all.push_back(items("fma_f64", {"fma(double)"}, triples_f64, f64, 2 * f64, exact_f64));
  all.push_back(items("pinned_fma", {"pinned_fma"}, triples_f32, f32, f32, exact_f32));
  all.push_back(items("fma_saturated", {"fma_saturated"}, triples_f32, f32, f32, exact_f32));
  all.push_back(items("minimum", {"minimum"}, triples_f32, f32, f32, exact_f32));
  all.push_back(items("maximum", {"maximum"}, triples_f32, f32, f32, exact_f32));
  all.push_back(items("opaque", {"opaque(int)", "opaque(char*)"}, exponents_f32, 256, 256, bits));
  all.push_back(
      items("tanh_approximate", {"tanh_approximate"}, tanh_arguments_f32, 256, 256, rough_tanh_bound));
  all.push_back(items("exp2_approximate", {"exp2_approximate"}, exponents_f32, 256, 256, exp2_bound));
  all.push_back(
      items("reciprocal_approximate", {"reciprocal_approximate"}, divisors_f32, 256, 256, reciprocal_bound));
  all.push_back(items("exp_f64", {"exp"}, arguments_f64<740>, 128, 256, exp_bound));
  all.push_back(items("tanh_f64", {"tanh"}, arguments_f64<20>, 128, 256, tanh_bound));
  all.push_back(items("erfc_f64", {"erfc"}, arguments_f64<27>, 128, 256, erfc_bound));
  const std::size_t to_s32 = count_of(floats_around_integers);
  all.push_back(items("s32_of_f32", {"to_s32(float)"}, floats_around_integers, to_s32, to_s32, bits));
  all.push_back(items("s32_of_f64", {"to_s32(double)"}, doubles_around_integers, to_s32, to_s32, bits));
  all.push_back(items("log_f32", {"log(float)"}, divisors_f32, 256, 256, log_f32_bound));
  all.push_back(items("log_f64", {"log(double)"}, arguments_f64<740>, 128, 256, exp_bound));
  all.push_back(items("square_root_f32", {"square_root(float)"}, divisors_f32, 256, 256, exact_f32));
  all.push_back(items("square_root_f64", {"square_root(double)"}, arguments_f64<740>, 128, 256, exact_f64));
  all.push_back(items("erf_f32", {"erf(float)"}, tanh_arguments_f32, 256, 256, erf_f32_bound));
  all.push_back(items("erf_f64", {"erf(double)"}, arguments_f64<20>, 128, 256, tanh_bound));
}

/// The probes of a product of f64 that takes so many numbers of each lane.
template <std::size_t numbers>
void add_f64_probes(std::vector<Probe>& all, const char* kernel, const std::vector<std::string>& covers,
                    bool sm90) {
  for (const bool whole : {true, false}) {
    all.push_back({.kernel = kernel,
                   .inputs = whole ? "integers" : "floats",
                   .covers = covers,
                   .make_inputs = whole ? mma_f64_integers<numbers> : mma_f64_floats<numbers>,
                   .out_words = mma_warps * 32 * 8,
                   .comparison = whole ? exact_f64 : sum_f64_bound,
                   .grid = mma_blocks,
                   .sm90 = sm90});
  }
}

/// One probe for each kind of inputs.
template <MmaTypes types>
void add_mma_probes(std::vector<Probe>& all, const char* kernel, const char* covers, const Comparison& exact,
                    const Comparison& bound) {
  constexpr std::size_t sum_words = types == MmaTypes::f16_f16 ? 2 : 4;
  const auto add = [&](const char* inputs, Words (*make_inputs)(Random&), const Comparison& comparison) {
    all.push_back({.kernel = kernel,
                   .inputs = inputs,
                   .covers = {covers},
                   .make_inputs = make_inputs,
                   .out_words = mma_warps * 32 * sum_words,
                   .comparison = comparison,
                   .grid = mma_blocks});
  };
  add("integers", mma_integers<types>, bits);
  add("floats", mma_floats<types>, bound);
  if constexpr (types != MmaTypes::tf32_f32) add("subnormals", mma_subnormals<types>, bits);
  add("zeros", mma_zeros<types>, bits);
  add("specials", mma_specials<types>, exact);
}

std::vector<Probe> memory_probes() {
  return {
      {.kernel = "indices",
       .covers = {"block_index", "grid_blocks", "thread_index", "warp_index", "lane_index"},
       .make_inputs = words<1>,
       .out_words = 3 * 5 * threads,
       .grid = 3},
      {.kernel = "lanes",
       .covers = {"shuffle", "first_lane"},
       .make_inputs = words<2 * threads>,
       .out_words = 4 * threads},
      {.kernel = "shared_memory",
       .covers = {"shared_memory"},
       .make_inputs = words<threads>,
       .out_words = threads + 1,
       .shared_memory = 4 * threads},
      {.kernel = "shared_words",
       .covers = {"shared_load", "shared_store"},
       .make_inputs = sections<90>,
       .out_words = 2 * 90 * threads / 4,
       .shared_memory = 32 * threads},
      {.kernel = "shared_bytes",
       .covers = {"shared_load", "shared_store"},
       .make_inputs = sections<15>,
       .out_words = 2 * 15 * threads / 4,
       .shared_memory = 8 * threads},
      {.kernel = "global_bytes",
       .covers = {"global_load", "global_store"},
       .make_inputs = sections<15>,
       .out_words = 2 * 15 * threads / 4},
      {.kernel = "global_words",
       .covers = {"global_load", "global_store"},
       .make_inputs = sections<90>,
       .out_words = 2 * 90 * threads / 4},
  };
}

std::vector<Probe> copy_probes() {
  return {
      {.kernel = "copy_async",
       .covers = {"copy_async"},
       .make_inputs = partial_copies,
       .out_words = 28 * threads / 4,
       .shared_memory = 16 * threads},
      {.kernel = "copy_async_or_zero",
       .covers = {"copy_async_or_zero"},
       .make_inputs = copies_or_zeros,
       .out_words = 28 * threads / 4,
       .shared_memory = 16 * threads},
      {.kernel = "copy_async_groups",
       .covers = {"copy_async_commit", "copy_async_wait"},
       .make_inputs = words<16 * threads>,
       .out_words = 15 * threads,
       .shared_memory = 64 * threads},
  };
}

std::vector<Probe> barrier_probes() {
  return {
      {.kernel = "block_barrier",
       .covers = {"block_barrier"},
       .make_inputs = words<2 * threads>,
       .out_words = 2 * threads,
       .grid = 2,
       .shared_memory = 4 * threads},
      {.kernel = "named_barrier",
       .covers = {"named_barrier"},
       .make_inputs = words<2 * threads>,
       .out_words = threads,
       .shared_memory = 4 * threads},
      {.kernel = "named_barrier_arrive",
       .covers = {"named_barrier_arrive"},
       .make_inputs = words<2 * threads>,
       .out_words = 2 * threads,
       .shared_memory = 2 * threads},
      {.kernel = "warp_barrier",
       .covers = {"warp_barrier"},
       .make_inputs = words<threads>,
       .out_words = threads,
       .shared_memory = 4 * threads},
      {.kernel = "fetch_add",
       .covers = {"fetch_add"},
       .make_inputs = additions,
       .out_words = 8 + 6 * threads,
       .grid = 6,
       .counters = 3},
      {.kernel = "acquire_release",
       .covers = {"load_acquire", "store_release"},
       .make_inputs = words<12 * threads>,
       .out_words = 12 * threads,
       .grid = 12,
       .shared_memory = 4,
       .counters = 2},
  };
}

std::vector<Probe> matrix_probes() {
  return {
      {.kernel = "load_matrix_x4",
       .covers = {"load_matrix_x4"},
       .make_inputs = matrices_and_lines,
       .out_words = 4 * threads,
       .shared_memory = 64 * 16},
      {.kernel = "load_matrix_x4_transposed",
       .covers = {"load_matrix_x4_transposed"},
       .make_inputs = matrices_and_lines,
       .out_words = 4 * threads,
       .shared_memory = 64 * 16},
      {.kernel = "row_pair",
       .covers = {"row_pair(AccumulatorF32)", "row_pair(AccumulatorF16)"},
       .make_inputs = words<4 * threads>,
       .out_words = 8 * threads,
       .comparison = exact_f32},
  };
}

std::vector<Probe> make_probes() {
  std::vector<Probe> all;
  for (const auto& some : {memory_probes(), copy_probes(), barrier_probes(), matrix_probes()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  add_mma_probes<MmaTypes::f16_f32>(all, "mma_f16_f32", "mma<F16>(AccumulatorF32)", exact_f32, sum_f32_bound);
  add_mma_probes<MmaTypes::bf16_f32>(all, "mma_bf16_f32", "mma<BF16>", exact_f32, sum_f32_bound);
  add_mma_probes<MmaTypes::f16_f16>(all, "mma_f16_f16", "mma<F16>(AccumulatorF16)", exact_f16, sum_f16_bound);
  add_mma_probes<MmaTypes::f16_f32>(all, "mma_k8_f16_f32", "mma_k8<F16>(AccumulatorF32)", exact_f32,
                                    sum_f32_bound);
  add_mma_probes<MmaTypes::bf16_f32>(all, "mma_k8_bf16_f32", "mma_k8<BF16>", exact_f32, sum_f32_bound);
  add_mma_probes<MmaTypes::f16_f16>(all, "mma_k8_f16_f16", "mma_k8<F16>(AccumulatorF16)", exact_f16,
                                    sum_f16_bound);
  add_mma_probes<MmaTypes::tf32_f32>(all, "mma_tf32_f32", "mma<TF32>", exact_f32, sum_f32_bound);
  const auto add_bytes = [&](const char* kernel, const char* covers) {
    all.push_back({.kernel = kernel,
                   .covers = {covers, "row_pair(AccumulatorS32)"},
                   .make_inputs = mma_bytes,
                   .out_words = mma_warps * 32 * 4,
                   .grid = mma_blocks});
  };
  add_bytes("mma_s8_s8", "mma<S8x4, S8x4>");
  add_bytes("mma_s8_u8", "mma<S8x4, U8x4>");
  add_bytes("mma_u8_s8", "mma<U8x4, S8x4>");
  add_bytes("mma_u8_u8", "mma<U8x4, U8x4>");
  add_f64_probes<numbers_f64>(all, "mma_f64", {"mma", "row_pair(AccumulatorF64)"}, false);
  add_f64_probes<numbers_f64_k8>(all, "mma_f64_k8", {"mma_k8"}, true);
  add_f64_probes<numbers_f64_k16>(all, "mma_f64_k16", {"mma_k16"}, true);
  add_number_probes(all);
  add_weight_probes(all);
  add_warpgroup_probes(all);
  add_along_k_probes(all);
  add_cluster_probes(all);
  add_pixel_probes(all);
  return all;
}

}  // namespace

const std::vector<Probe>& probes() {
  static const std::vector<Probe> all = make_probes();
  return all;
}

Words inputs_of(const Probe& probe, std::uint64_t seed) {
  // Each probe has numbers of its own, whatever other probes there are.
  for (const char c : probe.name()) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  Random random(seed);
  return probe.make_inputs(random);
}

}  // namespace quarry::test
