#include "operations/gemm/lab/campaign_problems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>

#include "common/config_parts.hpp"
#include "lab/problems/byte_sums.hpp"
#include "lab/problems/dice.hpp"

namespace quarry::lab::gemm {
namespace {

constexpr DType all_types[] = {DType::f16, DType::bf16, DType::f32, DType::f64,
                               DType::s8,  DType::u8,   DType::s32};

struct Sizes {
  std::int64_t m, n, k;
  std::int64_t batch;  ///< 0: matrices of rank 2
};

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

std::int64_t log_uniform(std::int64_t most, Dice& dice) {
  const double power = dice.fraction() * std::log(static_cast<double>(most) + 1);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::exp(power)), 1, most);
}

/// Sizes that cost no more than is allowed; drawn again until they do, so that they stay log-uniform below.
/// @param unit what extents are multiples of, mostly
Sizes random_sizes(const CampaignSpace& space, std::int64_t unit, Dice& dice) {
  const auto extent = [&] {
    const std::int64_t size = log_uniform(space.extent, dice);
    return std::min(rounded_up(size, unit), space.extent / unit * unit);
  };
  Sizes sizes{1, 1, 1, 0};
  do {
    sizes = {.m = extent(), .n = extent(), .k = extent(), .batch = 0};
    if (dice.one_in(3)) sizes.batch = dice.between(1, 5);
  } while (campaign_cost(sizes.m, sizes.n, sizes.k, sizes.batch) > space.cost);
  return sizes;
}

const TypeKey& one_of(const std::vector<TypeKey>& types, Dice& dice) {
  return types[static_cast<std::size_t>(dice.between(0, std::ssize(types) - 1))];
}

/// Each type of A is as likely as any other.
TypeKey random_types(const CampaignSpace& space, Dice& dice) {
  std::set<DType> types_of_a;
  for (const TypeKey& types : space.types) types_of_a.insert(types.a);
  const DType a = *std::next(types_of_a.begin(), dice.between(0, std::ssize(types_of_a) - 1));
  TypeKey types = one_of(space.types, dice);
  while (types.a != a) types = one_of(space.types, dice);
  if (dice.one_in(16)) {
    types = {dice.one_of(all_types), dice.one_of(all_types), dice.one_of(all_types), dice.one_of(all_types),
             Math::exact};
  }
  if (dice.one_in(8)) types.math = static_cast<Math>(dice.between(0, static_cast<int>(Math::fast_bf16)));
  return types;
}

/// How a matrix may be stored.
struct Storage {
  bool plain = false;         ///< as most kernels like it: aligned to 16 bytes, contiguous, of its layout
  bool is_output = false;     ///< elements may not share memory
  bool may_be_array = false;  ///< of pointers, where there is a batch
  /// No stride of 0 along this axis, K's: 0 for rows, 1 for columns, -1 for neither. Where both operands
  /// repeat along K, all products are the same, and errors of rounding add up instead of cancelling.
  int distinct_along = -1;
  LayoutTag tag = LayoutTag::strided;
};

/// Layout tags of the operands of a problem.
struct Tags {
  LayoutTag a = LayoutTag::strided;
  LayoutTag b = LayoutTag::strided;
  LayoutTag out = LayoutTag::strided;
  bool any() const { return a != LayoutTag::strided || b != LayoutTag::strided || out != LayoutTag::strided; }
};

/// For every third problem of bytes: those that tensor cores take, or any.
Tags random_tags(const TypeKey& types, Dice& dice) {
  constexpr LayoutTag tags[] = {LayoutTag::strided, LayoutTag::row_interleaved32,
                                LayoutTag::column_interleaved32};
  if (!is_byte(types.a) || !is_byte(types.b) || !dice.one_in(3)) return {};
  const LayoutTag out = dice.one_of(tags);
  if (dice.one_in(2)) return {LayoutTag::column_interleaved32, LayoutTag::row_interleaved32, out};
  return {dice.one_of(tags), dice.one_of(tags), out};
}

struct Strides {
  std::int64_t along;   ///< within a line
  std::int64_t across;  ///< from line to line
};

/// Strides of lines of this length: usual ones, with padding, or by chance what hardly any kernel takes.
Strides random_strides(std::int64_t line, std::int64_t lines, std::int64_t unit, const Storage& storage,
                       bool may_repeat_along, bool may_repeat_across, Dice& dice) {
  const auto padded = [&](std::int64_t elements) {
    const std::int64_t padding = dice.one_in(2) ? 0 : dice.between(1, dice.one_in(6) ? 100 : 9);
    return rounded_up(elements + padding, unit);
  };
  const Strides usual = {1, padded(line)};
  if (storage.plain || !dice.one_in(7)) return usual;
  const std::int64_t apart = dice.between(2, 3);
  const Strides spread = {apart, padded(apart * line)};
  if (storage.is_output) return spread;
  switch (dice.between(0, 4)) {
    case 0: return spread;
    case 1: return may_repeat_across ? Strides{1, 0} : usual;
    case 2: return may_repeat_along ? Strides{0, 1} : spread;
    case 3: return may_repeat_along && may_repeat_across ? Strides{0, 0} : usual;
    default: return {1, lines > 1 ? dice.between(1, line) : 1};  // lines overlap
  }
}

/// @param batch 0: a matrix of rank 2
TensorView random_interleaved(DType dtype, const Storage& storage, std::int64_t batch, std::int64_t rows,
                              std::int64_t columns, Dice& dice) {
  constexpr int alignments[] = {1, 4, 16, 16, 16};
  const bool by_rows = storage.tag == LayoutTag::row_interleaved32;
  const int bytes = std::max(storage.plain ? 16 : dice.one_of(alignments), bytes_of(dtype));
  const std::int64_t unit = bytes / bytes_of(dtype);
  const auto padded = [&](std::int64_t elements) {
    return rounded_up(elements + (dice.one_in(2) ? 0 : dice.between(1, 100)), unit);
  };
  const std::int64_t ld = padded((by_rows ? columns : rows) * interleave);
  std::int64_t batch_stride = padded(rounded_up(by_rows ? rows : columns, interleave) / interleave * ld);
  if (!storage.is_output && dice.one_in(6)) batch_stride = 0;
  const std::array<std::int64_t, 3> extents = {batch, rows, columns};
  const std::array<std::int64_t, 3> strides = {batch_stride, by_rows ? ld : interleave,
                                               by_rows ? interleave : ld};
  const std::size_t first = batch == 0 ? 1 : 0;
  TensorView view = TensorView::strided(nullptr, dtype, std::span(extents).subspan(first),
                                        std::span(strides).subspan(first));
  view.tag = storage.tag;
  view.assumed_alignment = static_cast<std::uint16_t>(bytes);
  return view;
}

TensorView random_matrix(DType dtype, const Storage& storage, std::int64_t batch, std::int64_t rows,
                         std::int64_t columns, Dice& dice) {
  if (storage.tag != LayoutTag::strided)
    return random_interleaved(dtype, storage, batch, rows, columns, dice);
  constexpr int alignments[] = {1, 2, 4, 8, 16, 16};
  const bool row_major = dice.one_in(2);
  const int bytes = std::max(storage.plain ? 16 : dice.one_of(alignments), bytes_of(dtype));
  const std::int64_t unit = bytes / bytes_of(dtype);
  const std::int64_t line = row_major ? columns : rows;
  const std::int64_t lines = row_major ? rows : columns;
  const int line_axis = row_major ? 1 : 0;
  const bool may_repeat_along = storage.distinct_along != line_axis;
  const bool may_repeat_across = storage.distinct_along != 1 - line_axis;
  const Strides strides =
      random_strides(line, lines, unit, storage, may_repeat_along, may_repeat_across, dice);

  const std::int64_t span = (line - 1) * strides.along + (lines - 1) * strides.across + 1;
  std::int64_t batch_stride = rounded_up(span + (dice.one_in(2) ? 0 : dice.between(1, 40)), unit);
  if (!storage.plain && !storage.is_output && dice.one_in(6)) batch_stride = 0;
  const std::array<std::int64_t, 3> extents = {batch, rows, columns};
  const std::array<std::int64_t, 3> all = {batch_stride, row_major ? strides.across : strides.along,
                                           row_major ? strides.along : strides.across};
  const std::size_t first = batch == 0 ? 1 : 0;
  TensorView view =
      TensorView::strided(nullptr, dtype, std::span(extents).subspan(first), std::span(all).subspan(first));
  const bool misaligned = !storage.plain && dice.one_in(8);
  view.assumed_alignment = static_cast<std::uint16_t>(misaligned ? bytes_of(dtype) : bytes);
  if (batch == 0 || !storage.may_be_array || dice.one_in(2)) return view;
  view.is_pointer_array = true;
  if (dice.one_in(64)) view.assumed_alignment = 24;  // which is to be refused
  return view;
}

/// A matrix like the output that an epilogue reads, by chance the same for the whole batch.
TensorView random_source(const GemmArguments& args, const Sizes& sizes, bool plain, bool arrays, Dice& dice) {
  const bool unlike = args.out.tag != LayoutTag::strided && dice.one_in(32);  // to be refused
  const Storage storage = {
      .plain = plain, .may_be_array = arrays, .tag = unlike ? LayoutTag::strided : args.out.tag};
  return random_matrix(args.out.dtype, storage, dice.one_in(5) ? 0 : sizes.batch, sizes.m, sizes.n, dice);
}

/// What only some epilogues have: half of the problems, as kernels know shorter ways for the others.
void random_extras(CampaignProblem& problem, const TypeKey& types, const Sizes& sizes, bool plain,
                   bool arrays, Dice& dice) {
  if (dice.one_in(2)) return;
  const GemmArguments& args = problem.arguments;
  Epilogue& e = problem.arguments.epilogue;
  const DType compute = compute_type(types.accumulator, types.out);
  if (dice.one_in(2) && (compute != DType::s32 || dice.one_in(32))) {
    e.scale_axis = dice.one_in(2) ? BiasAxis::row : BiasAxis::column;
    const std::int64_t extent = e.scale_axis == BiasAxis::row ? sizes.m : sizes.n;
    e.scale = TensorView::vector(nullptr, compute, dice.one_in(3) ? 1 : extent);
    e.scale->assumed_alignment = static_cast<std::uint16_t>(bytes_of(compute));
  }
  if (dice.one_in(2)) {
    problem.residual_in_place = dice.one_in(4);
    e.residual = problem.residual_in_place ? args.out : random_source(args, sizes, plain, arrays, dice);
  }
  if (dice.one_in(2)) {
    const Storage storage = {.plain = plain, .is_output = true, .may_be_array = arrays, .tag = args.out.tag};
    e.aux = random_matrix(types.out, storage, sizes.batch, sizes.m, sizes.n, dice);
  }
  const double unit = compute == DType::s32 ? 1 << 20 : is_byte(types.out) ? 64 : 1;
  if (dice.one_in(2)) e.clamp.low = -0.5 * unit;
  if (dice.one_in(2)) e.clamp.high = dice.one_in(64) ? -unit : 0.75 * unit;
}

void random_epilogue(CampaignProblem& problem, const TypeKey& types, const Sizes& sizes, bool plain,
                     bool arrays, Dice& dice) {
  constexpr double alphas[] = {1, 1, 1, 0.5, -1.25, 2};
  constexpr double betas[] = {0, 0, 1, -0.75};
  GemmArguments& args = problem.arguments;
  Epilogue& e = args.epilogue;
  e.alpha = dice.one_in(20) ? 0 : dice.one_of(alphas);
  e.beta = dice.one_of(betas);
  problem.scalars_by_pointer = dice.one_in(8);
  if (!dice.one_in(3))
    e.activation = static_cast<Activation>(dice.between(0, static_cast<int>(Activation::gelu_tanh)));
  e.leaky_slope = static_cast<float>(dice.between(-4, 4)) / 8;
  const bool reads_c = e.beta.value != 0 || problem.scalars_by_pointer;
  if (reads_c || dice.one_in(8)) {  // where it must not be read, it is poison
    problem.in_place = reads_c && dice.one_in(4);
    args.c = problem.in_place ? args.out : random_source(args, sizes, plain, arrays, dice);
  }
  if (dice.one_in(2)) {
    e.bias_axis = dice.one_in(2) ? BiasAxis::row : BiasAxis::column;
    e.bias = TensorView::vector(nullptr, args.out.dtype, e.bias_axis == BiasAxis::row ? sizes.m : sizes.n);
    e.bias->assumed_alignment = static_cast<std::uint16_t>(bytes_of(args.out.dtype));
  }
  random_extras(problem, types, sizes, plain, arrays, dice);
}

/// Where products of bytes are summed: whole numbers where the epilogue is computed in s32 (but for one in
/// 16, which has to be refused), otherwise an alpha that brings the sums to where rounding, C and the bias
/// show.
void fit_integers(const TypeKey& types, const Sizes& sizes, Epilogue& e, Dice& dice) {
  if (types.accumulator != DType::s32) return;
  if (compute_type(types.accumulator, types.out) == DType::s32) {
    if (dice.one_in(16)) return;
    e.alpha.value = std::round(3 * e.alpha.value);
    e.beta.value = std::round(3 * e.beta.value);
    if (e.activation > Activation::relu) e.activation = Activation::relu;
    return;
  }
  e.alpha.value *= alpha_of_byte_sums(types.a, types.b, types.out, sizes.k);
}

/// Slices that most kernels can cut K into, or by chance too many.
int random_slices(std::int64_t k, Dice& dice) {
  const std::int64_t most = dice.one_in(4) ? 12 : std::clamp<std::int64_t>(k / 32, 1, 12);
  return static_cast<int>(dice.between(1, most));
}

Controls random_controls(std::int64_t k, Dice& dice) {
  Controls controls;
  if (dice.one_in(2)) return controls;
  if (dice.one_in(2)) controls.mode = static_cast<Mode>(dice.between(0, static_cast<int>(Mode::stream_k)));
  const bool keeps_tiles = controls.mode == Mode::gemm || controls.mode == Mode::stream_k;
  if (dice.one_in(2)) controls.split_k_slices = keeps_tiles ? 1 : random_slices(k, dice);
  if (dice.one_in(3)) controls.swizzle = dice.one_in(32) ? 3 : 1 << dice.between(0, 3);
  if (dice.one_in(3)) controls.raster = dice.one_in(2) ? Raster::along_n : Raster::along_m;
  if (dice.one_in(10)) controls.multiprocessors = static_cast<int>(dice.between(1, 160));
  return controls;
}

std::string text_of(std::string_view name, const TensorView& view) {
  std::string text = ", " + std::string(name) + " " + std::string(to_string(view.dtype)) + " (";
  for (std::size_t i = 0; i < view.rank; ++i) {
    const bool is_array = i == 0 && view.is_pointer_array;
    text += (i == 0 ? "" : ",") + (is_array ? "array" : std::to_string(view.strides[i]));
  }
  if (view.tag != LayoutTag::strided) text.append(") ").append(to_string(view.tag)).append(" (");
  return text + ") align " + std::to_string(view.assumed_alignment / std::max(bytes_of(view.dtype), 1));
}

std::string text_of(const Controls& controls) {
  std::string text;
  if (controls.mode) text += ", mode " + std::string(to_string(*controls.mode));
  if (controls.split_k_slices) text += ", split-K " + std::to_string(*controls.split_k_slices);
  if (controls.swizzle) text += ", swizzle " + std::to_string(*controls.swizzle);
  if (controls.raster) text += ", raster " + std::string(to_string(*controls.raster));
  if (controls.multiprocessors) text += ", multiprocessors " + std::to_string(*controls.multiprocessors);
  return text;
}

}  // namespace

CampaignSpace campaign_space(std::span<const Kernel> kernels, double cost) {
  std::set<TypeKey> types;
  std::map<TypeKey, std::set<LayoutKey>> fallbacks;
  for (const Kernel& kernel : kernels) {
    const TypeKey key = type_key(kernel.metadata());
    types.insert(key);
    if (takes_any_problem(kernel.metadata())) fallbacks[key].insert(layout_key(kernel.metadata()));
  }
  CampaignSpace space{
      .types = {types.begin(), types.end()}, .always_there = {}, .fallbacks = fallbacks, .cost = cost};
  for (const auto& [types_there, layouts] : fallbacks) {
    if (std::ranges::count_if(layouts, is_strided) < 8 || types_there.math != Math::exact) continue;
    TypeKey key = types_there;
    for (int math = 0; math <= static_cast<int>(Math::fast_bf16); ++math) {
      key.math = static_cast<Math>(math);
      space.always_there.insert(key);
    }
  }
  return space;
}

bool is_always_taken(const CampaignSpace& space, const GemmArguments& args) {
  const TypeKey types{args.a.dtype, args.b.dtype, *args.accumulator, args.out.dtype, args.math};
  const auto layouts = [](const TensorView& view) -> std::vector<Layout> {
    if (view.tag != LayoutTag::strided) return {layout_of(view.tag)};
    return {Layout::row, Layout::column};
  };
  TypeKey exact = types;
  exact.math = Math::exact;
  const auto there = space.fallbacks.find(exact);
  for (const Layout a : layouts(args.a)) {
    for (const Layout b : layouts(args.b)) {
      for (const Layout out : layouts(args.out)) {
        const LayoutKey key{a, b, out};
        const bool taken = is_strided(key) ? space.always_there.contains(types)
                                           : there != space.fallbacks.end() && there->second.contains(key);
        if (!taken) return false;
      }
    }
  }
  return true;
}

double campaign_cost(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch) {
  constexpr double an_element = 64;
  const auto product = [](std::int64_t x, std::int64_t y) {
    return static_cast<double>(x) * static_cast<double>(y);
  };
  const double one = product(m, n) * static_cast<double>(k) +
                     an_element * (product(m, k) + product(k, n) + 2 * product(m, n));
  return one * static_cast<double>(std::max<std::int64_t>(batch, 1));
}

CampaignProblem campaign_problem(const CampaignSpace& space, std::uint64_t seed) {
  Dice dice(seed);
  CampaignProblem problem;
  const TypeKey types = random_types(space, dice);
  const bool plain = dice.one_in(2);
  const Tags tags = random_tags(types, dice);
  Sizes sizes = random_sizes(space, tags.any() ? interleave : plain && dice.one_in(2) ? 8 : 1, dice);
  if (tags.any() && dice.one_in(16)) sizes.m -= dice.between(1, interleave - 1);  // to be refused, mostly
  const bool arrays = dice.one_in(3);
  // One of the operands keeps apart what it multiplies.
  const bool a_is_distinct = dice.one_in(2);
  const auto batch = [&] { return dice.one_in(3) ? 0 : sizes.batch; };
  GemmArguments& args = problem.arguments;
  args.accumulator = types.accumulator;
  args.math = types.math;
  args.a = random_matrix(
      types.a,
      {.plain = plain, .may_be_array = arrays, .distinct_along = a_is_distinct ? 1 : -1, .tag = tags.a},
      batch(), sizes.m, sizes.k, dice);
  args.b = random_matrix(
      types.b,
      {.plain = plain, .may_be_array = arrays, .distinct_along = a_is_distinct ? -1 : 0, .tag = tags.b},
      batch(), sizes.k, sizes.n, dice);
  // Of other types that s8 and u8 operands may have by chance, outputs are strided.
  const bool may_interleave = takes_integer_sums(types.out);
  args.out = random_matrix(types.out,
                           {.plain = plain,
                            .is_output = true,
                            .may_be_array = arrays,
                            .tag = may_interleave ? tags.out : LayoutTag::strided},
                           sizes.batch, sizes.m, sizes.n, dice);
  random_epilogue(problem, types, sizes, plain, arrays, dice);
  fit_integers(types, sizes, args.epilogue, dice);
  args.controls = random_controls(sizes.k, dice);
  return problem;
}

std::string described(const CampaignProblem& problem) {
  const GemmArguments& args = problem.arguments;
  const TensorView& a = args.a;
  const TensorView& out = args.out;
  std::string text = std::to_string(out.extents[out.rank - 2U]) + "x" +
                     std::to_string(out.extents[out.rank - 1U]) + "x" +
                     std::to_string(a.extents[a.rank - 1U]);
  if (out.rank == 3) text += " batch " + std::to_string(out.extents[0]);
  text += text_of("a", args.a) + text_of("b", args.b);
  if (args.c) text += problem.in_place ? ", c is out" : text_of("c", *args.c);
  text += text_of("out", args.out);
  if (args.accumulator) text += ", accumulator " + std::string(to_string(*args.accumulator));
  if (args.math != Math::exact) text += ", math " + std::string(to_string(args.math));
  const Epilogue& e = args.epilogue;
  std::array<char, 96> numbers;
  std::snprintf(numbers.data(), numbers.size(), ", alpha %.9g, beta %.9g", e.alpha.value, e.beta.value);
  text += numbers.data();
  if (problem.scalars_by_pointer) text += " (by pointer)";
  if (e.activation != Activation::identity) text += ", " + std::string(to_string(e.activation));
  if (e.bias) text += e.bias_axis == BiasAxis::row ? ", bias row" : ", bias column";
  if (e.scale)
    text += e.scale->extents[0] == 1        ? ", scale tensor"
            : e.scale_axis == BiasAxis::row ? ", scale row"
                                            : ", scale column";
  if (e.residual) text += problem.residual_in_place ? ", residual is out" : text_of("residual", *e.residual);
  if (e.aux) text += text_of("aux", *e.aux);
  if (e.clamp != Clamp{}) {
    std::snprintf(numbers.data(), numbers.size(), ", clamp %g to %g", e.clamp.low, e.clamp.high);
    text += numbers.data();
  }
  return text + text_of(args.controls);
}

}  // namespace quarry::lab::gemm
