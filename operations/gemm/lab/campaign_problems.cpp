#include "operations/gemm/lab/campaign_problems.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "common/config_parts.hpp"
#include "lab/campaign/draw_controls.hpp"
#include "lab/problems/byte_sums.hpp"
#include "lab/problems/dice.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/lab/campaign_scales.hpp"
#include "operations/gemm/lab/expression.hpp"
#include "operations/gemm/scales.hpp"

namespace quarry::lab::gemm {
namespace {

constexpr DType all_types[] = {DType::f16, DType::bf16, DType::f32, DType::f64,
                               DType::s8,  DType::u8,   DType::s32};

struct Sizes {
  std::int64_t m, n, k;
  std::int64_t batch;  ///< 0: matrices of rank 2
};

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

/// Where products of bytes are summed: whole numbers where the epilogue is computed in s32 (except one in
/// 16, which must be refused), otherwise an alpha that brings the sums to where rounding, C and the bias
/// show.
void fit_integers(const TypeKey& types, const Sizes& sizes, Epilogue& e, Dice& dice) {
  if (types.accumulator != DType::s32) return;
  if (compute_type(types.accumulator, types.out) == DType::s32) {
    make_whole(e, dice);
    return;
  }
  e.alpha.value *= alpha_of_byte_sums(types.a, types.b, types.out, sizes.k);
}

/// Whether kernels with expressions have such sums and outputs.
bool may_have_expression(const GemmArguments& args) {
  const DType sums = partial_type(*args.accumulator);
  const bool is_summed = sums == detail::element_of(detail::value_type_of(sums));
  return is_summed && detail::is_rounded_to(args.out.dtype) && args.out.tag == LayoutTag::strided;
}

/// Puts an expression in the place of the epilogue. Every other one may have gated pairs and reductions, of
/// outputs that are no arrays of pointers; their rows are contiguous, mostly, as no kernel takes others.
void draw_expression(GemmArguments& args, const Sizes& sizes, bool plain, Dice& dice) {
  WideParts parts;
  if (!args.out.is_pointer_array && dice.one_in(2)) {
    parts = {.lines = dice.one_in(2), .groups = dice.one_in(3), .pairs = sizes.n % 2 == 0 && dice.one_in(3)};
    parts.eights = parts.pairs && sizes.n % 16 == 0 && dice.one_in(2);
    const std::int64_t columns = parts.pairs ? sizes.n / 2 : sizes.n;
    do {
      args.out = random_matrix(args.out.dtype, {.plain = plain, .is_output = true}, sizes.batch, sizes.m,
                               columns, dice);
    } while (args.out.strides[args.out.rank - 1U] != 1 && !dice.one_in(8));
  }
  add_random_expression(args, parts, dice);
}

/// Whether fallbacks take the expression, if there is one: pairs and reductions want an `out` of contiguous
/// rows and a B that is not interleaved, and some tiles only compute groups.
bool is_taken_always(const GemmArguments& args) {
  if (!args.expression || !detail::is_wide(*args.expression)) return true;
  return args.out.strides[args.out.rank - 1U] == 1 && args.b.tag == LayoutTag::strided &&
         !wide_parts(*args.expression).groups;
}

/// Whether scales change every 32 or 64 of K beside types that have no kernel with such scales.
bool has_groups_beside_others(const GemmArguments& args) {
  const bool has_groups = (args.a_scale && is_grouped(args.a_scale_granularity)) ||
                          (args.b_scale && is_grouped(args.b_scale_granularity));
  return has_groups && !(is_half(args.a.dtype) && is_weight(args.b.dtype));
}

using Fallbacks = std::map<TypeKey, std::set<LayoutKey>>;

/// The types, with the math of any problem that they serve, that have a fallback in all strided layouts.
std::set<TypeKey> served_always(const Fallbacks& fallbacks) {
  std::set<TypeKey> served;
  for (const auto& [types_there, layouts] : fallbacks) {
    if (std::ranges::count_if(layouts, is_strided) < 8 || types_there.math != Math::exact) continue;
    TypeKey key = types_there;
    for (int math = 0; math <= static_cast<int>(Math::fast_bf16); ++math) {
      key.math = static_cast<Math>(math);
      served.insert(key);
    }
  }
  return served;
}

/// Scales of A, of B or of both, stored in any way. Those that change every 32 or 64 of K stand beside
/// weights, and now and then beside other types, where every kernel must refuse them.
void draw_scales(GemmArguments& args, const Sizes& sizes, const Storage& storage, Dice& dice) {
  using enum ScaleGranularity;
  constexpr ScaleGranularity of_a[] = {tensor, row, block_1x128, block_1x32, block_1x64};
  constexpr ScaleGranularity of_b[] = {tensor, column, block_1x128, block_128x128, block_1x32, block_1x64};
  const bool has_weights = is_half(args.a.dtype) && is_weight(args.b.dtype);
  const bool has_groups = has_weights || dice.one_in(8);
  const auto view = [&](Operand name, ScaleGranularity granularity, const detail::MatrixExtents& of) {
    const detail::MatrixExtents extents = detail::scale_extents(name, granularity, of);
    const std::int64_t batch = dice.one_in(3) ? 0 : sizes.batch;
    const DType type = name == Operand::b_zero ? DType::u8 : DType::f32;
    return random_matrix(type, storage, batch, extents.rows, extents.columns, dice);
  };
  const std::int64_t which = dice.between(0, 2);
  if (which != 1) {
    args.a_scale_granularity = of_a[dice.between(0, has_groups ? 4 : 2)];
    args.a_scale = view(Operand::a_scale, args.a_scale_granularity, {sizes.m, sizes.k});
  }
  if (which != 2) {
    args.b_scale_granularity = of_b[dice.between(0, has_groups ? 5 : 3)];
    args.b_scale = view(Operand::b_scale, args.b_scale_granularity, {sizes.k, sizes.n});
    if (has_weights && is_unsigned(args.b.dtype) && dice.one_in(2))
      args.b_zero = view(Operand::b_zero, args.b_scale_granularity, {sizes.k, sizes.n});
  }
}

/// Scales of blocks of A, of B or of both, stored in any way: those that stand beside an expression.
void draw_block_scales(GemmArguments& args, const Sizes& sizes, const Storage& storage, Dice& dice) {
  using enum ScaleGranularity;
  const auto view = [&](Operand name, ScaleGranularity granularity, const detail::MatrixExtents& of) {
    const detail::MatrixExtents extents = detail::scale_extents(name, granularity, of);
    return random_matrix(DType::f32, storage, dice.one_in(3) ? 0 : sizes.batch, extents.rows, extents.columns,
                         dice);
  };
  const std::int64_t which = dice.between(0, 3);
  if (which != 1) {
    args.a_scale_granularity = block_1x128;
    args.a_scale = view(Operand::a_scale, args.a_scale_granularity, {sizes.m, sizes.k});
  }
  if (which != 2) {
    args.b_scale_granularity = dice.one_in(2) ? block_1x128 : block_128x128;
    args.b_scale = view(Operand::b_scale, args.b_scale_granularity, {sizes.k, sizes.n});
  }
}

/// Whether kernels take scales of blocks beside an expression.
bool may_have_block_scales(const GemmArguments& args) {
  return bits_of(args.a.dtype) == bits_of(args.b.dtype) &&
         compute_type(*args.accumulator, args.out.dtype) != DType::s32;
}

}  // namespace

CampaignSpace campaign_space(std::span<const Kernel> kernels, double cost) {
  std::set<TypeKey> types;
  Fallbacks fallbacks;
  Fallbacks scaled_fallbacks;
  Fallbacks zero_fallbacks;
  for (const Kernel& kernel : kernels) {
    const TypeKey key = type_key(kernel.metadata());
    types.insert(key);
    if (takes_any_problem(kernel.metadata())) fallbacks[key].insert(layout_key(kernel.metadata()));
    if (takes_any_scaled_problem(kernel.metadata()))
      scaled_fallbacks[key].insert(layout_key(kernel.metadata()));
    if (takes_any_problem_with_zeros(kernel.metadata()))
      zero_fallbacks[key].insert(layout_key(kernel.metadata()));
  }
  return {.types = {types.begin(), types.end()},
          .always_there = served_always(fallbacks),
          .fallbacks = fallbacks,
          .always_scaled = served_always(scaled_fallbacks),
          .scaled_fallbacks = scaled_fallbacks,
          .always_with_zeros = served_always(zero_fallbacks),
          .cost = cost};
}

bool is_always_taken(const CampaignSpace& space, const GemmArguments& args) {
  if (!is_taken_always(args) || has_groups_beside_others(args)) return false;
  const TypeKey types{args.a.dtype, args.b.dtype, *args.accumulator, args.out.dtype, args.math};
  if (args.b_zero && !space.always_with_zeros.contains(types)) return false;
  const auto layouts = [](const TensorView& view) -> std::vector<Layout> {
    if (view.tag != LayoutTag::strided) return {layout_of(view.tag)};
    return {Layout::row, Layout::column};
  };
  TypeKey exact = types;
  exact.math = Math::exact;
  const bool has_scales = detail::has_scales(args);
  const auto& fallbacks = has_scales ? space.scaled_fallbacks : space.fallbacks;
  const auto& always = has_scales ? space.always_scaled : space.always_there;
  const auto there = fallbacks.find(exact);
  for (const Layout a : layouts(args.a)) {
    for (const Layout b : layouts(args.b)) {
      for (const Layout out : layouts(args.out)) {
        const LayoutKey key{a, b, out};
        const bool taken = is_strided(key) ? always.contains(types)
                                           : there != fallbacks.end() && there->second.contains(key);
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
  problem.drawn = draw_epilogue({.out = args.out,
                                 .compute = compute_type(types.accumulator, types.out),
                                 .plain = plain,
                                 .arrays = arrays},
                                dice);
  fit_integers(types, sizes, problem.drawn.epilogue, dice);
  args.c = problem.drawn.c;
  args.epilogue = problem.drawn.epilogue;
  args.controls = draw_controls(sizes.k, dice);
  if (is_fp8(types.a) && dice.one_in(3)) args.accumulation = Accumulation::precise;
  if (compute_type(types.accumulator, types.out) != DType::s32 && dice.one_in(6)) {
    draw_scales(args, sizes, {.plain = plain, .may_be_array = arrays}, dice);
  } else if (dice.one_in(12) && may_have_expression(args)) {
    problem.drawn = {};
    args.c = std::nullopt;
    args.epilogue = {};
    if (may_have_block_scales(args) && dice.one_in(3))
      draw_block_scales(args, sizes, {.plain = plain, .may_be_array = arrays}, dice);
    draw_expression(args, sizes, plain, dice);
  }
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
  text += lab::described("a", args.a) + lab::described("b", args.b) + scales_described(args) +
          (args.b_zero ? lab::described("b_zero", *args.b_zero) : "") + c_described(problem.drawn) +
          lab::described("out", args.out);
  if (args.accumulator) text += ", accumulator " + std::string(to_string(*args.accumulator));
  if (args.accumulation != Accumulation::fast)
    text += ", accumulation " + std::string(to_string(args.accumulation));
  if (args.math != Math::exact) text += ", math " + std::string(to_string(args.math));
  text += expression_described(args.expression, args.tensors);
  return text + lab::described(problem.drawn) + lab::described(args.controls);
}

}  // namespace quarry::lab::gemm
