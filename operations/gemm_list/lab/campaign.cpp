#include "operations/gemm_list/lab/campaign.hpp"

#include <limits>

#include "common/config_parts.hpp"
#include "lab/campaign/draw_epilogue.hpp"
#include "lab/campaign/source.hpp"
#include "lab/problems/byte_sums.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/lab/campaign_scales.hpp"
#include "operations/gemm/lab/many_types.hpp"
#include "operations/gemm_list/lab/expression.hpp"
#include "operations/gemm_list/lab/operation.hpp"
#include "operations/gemm_list/lab/sizes.hpp"
#include "operations/gemm_list/problem.hpp"

namespace quarry::lab::gemm_list {
namespace {

/// The bounds and the sizes of a problem, drawn again until it costs no more than is allowed.
Problem random_shape(double cost, Dice& dice) {
  constexpr std::int64_t most_count = 40;
  constexpr std::int64_t most_extent = 1000;
  Problem p;
  std::int64_t count = 0;
  double needed = 0;
  do {
    const auto extent = [&] {
      return dice.one_in(64) ? 0 : static_cast<int>(log_uniform(most_extent, dice));
    };
    count = dice.one_in(64) ? 0 : log_uniform(most_count, dice);
    p.bounds = {extent(), extent(), extent()};
    const double m = p.bounds.m;
    const double n = p.bounds.n;
    const double k = p.bounds.k;
    // Operands are made and checked, too.
    needed = static_cast<double>(count) * (m * n * k + 64 * (m * n + m * k + k * n));
  } while (needed > cost);
  draw_sizes(p, count, dice);
  if (dice.one_in(3)) {
    spoil_sizes(p, dice);
    p.clamp_host_sizes = true;
  }
  return p;
}

/// Leading dimensions for matrices of a view: its own, or where there is no padding between its lines, any
/// that fit, and that keep its alignment if that is promised.
class LeadingOf {
 public:
  LeadingOf(const TensorView& view, bool keeps_alignment) {
    const bool by_columns = detail::gemm_list::is_by_columns(view);
    const std::int64_t columns = view.extents[view.rank - 1U];
    const std::int64_t rows = view.extents[view.rank - 2U];
    by_columns_ = by_columns;
    bound_ = view.strides[by_columns ? view.rank - 1U : view.rank - 2U];
    is_packed_ = bound_ == (by_columns ? rows : columns);
    while (keeps_alignment && unit_ < 16 && bound_ % (2 * unit_) == 0) unit_ *= 2;
  }

  /// The view's own.
  std::int32_t view() const { return static_cast<std::int32_t>(bound_); }

  std::int32_t draw(int rows, int columns, bool is_spoiled, Dice& dice) const {
    const std::int64_t line = by_columns_ ? rows : columns;
    if (is_spoiled && dice.one_in(4)) return std::numeric_limits<std::int32_t>::max();
    if (is_spoiled && is_packed_ && line % unit_ == 0 && dice.one_in(4)) return -1;
    const std::int64_t least = (line + unit_ - 1) / unit_;
    if (!is_packed_ || least * unit_ > bound_ || bound_ == 0) return static_cast<std::int32_t>(bound_);
    return static_cast<std::int32_t>(dice.between(least, bound_ / unit_) * unit_);
  }

 private:
  bool by_columns_ = false;
  bool is_packed_ = false;
  std::int64_t bound_ = 0;
  std::int64_t unit_ = 1;
};

/// @param is_promised what the leading dimensions of A and B keep will be promised
void draw_leading(Problem& p, const GemmListArguments& args, const DrawnEpilogue& drawn, bool is_promised,
                  Dice& dice) {
  const bool in_place = drawn.in_place;
  const LeadingOf a(args.a, is_promised);
  const LeadingOf b(args.b, is_promised);
  const LeadingOf out(args.out, is_promised);
  const LeadingOf c(args.c && !in_place ? *args.c : args.out, is_promised);
  for (std::size_t i = 0; i < p.sizes.size(); ++i) {
    const ListExtents own = p.own(i);
    const bool is_spoiled = p.clamp_host_sizes;
    Leading& row = p.leading.emplace_back();
    row[0] = a.draw(own.m, own.k, is_spoiled, dice);
    row[1] = b.draw(own.k, own.n, is_spoiled, dice);
    const int columns = p.own_output(i).n;
    row[2] = c.draw(own.m, columns, is_spoiled, dice);
    row[3] = out.draw(own.m, columns, is_spoiled, dice);
    if (drawn.residual_in_place) row[3] = out.view();  // as a residual's lines are
    if (in_place) row[2] = row[3];
  }
}

/// Breaks a rule about the tables now and then.
void spoil_arguments(GemmListArguments& args, Dice& dice) {
  if (!dice.one_in(32)) return;
  TensorView& table = args.leading && dice.one_in(2) ? *args.leading : args.sizes;
  switch (dice.between(0, 3)) {
    case 0: table.dtype = DType::f32; break;
    case 1: table.extents[0] += 1; break;
    case 2: table.extents[1] += 1; break;
    default: table.strides[1] = 2; break;
  }
}

void fit_integers(const Problem& p, const ManyTypes& types, Epilogue& e, Dice& dice) {
  if (types.sums != DType::s32) return;
  if (compute_type(types.sums, types.out) == DType::s32) return make_whole(e, dice);
  e.alpha.value *= alpha_of_byte_sums(types.a, types.b, types.out, p.bounds.k);
}

const GemmListArguments& of(const Arguments& arguments) { return *arguments.as<GemmListArguments>(); }

/// Whether an expression may stand in the place of the epilogue: sums and outputs are such as kernels with
/// expressions have. Without problems, tensors of rank 3 would be made by hand.
bool may_have_expression(const GemmListArguments& args) {
  const ManyTypes types = lab::types_of(args);
  return bits_of(types.sums) > 0 && detail::is_rounded_to(types.out) && !args.a_scale && !args.b_scale &&
         args.out.extents[0] > 0;
}

gemm::WideParts draw_parts(const GemmListArguments& args, Dice& dice) {
  gemm::WideParts parts = {.lines = dice.one_in(4), .groups = dice.one_in(4), .pairs = dice.one_in(3)};
  parts.eights = parts.pairs && args.out.extents[2] % 8 == 0 && dice.one_in(3);
  return parts;
}

/// The same problems with twice the columns of B, for gated pairs. Halves are whole pieces where the bound's
/// are: kernels that copy these take the problems then.
void double_columns(Problem& p, bool eights, Dice& dice) {
  const int columns = p.bounds.n;
  int unit = eights ? 8 : 1;
  while (unit < 16 && columns % (2 * unit) == 0) unit *= 2;
  p.bounds.n = 2 * columns;
  for (ListExtents& each : p.sizes) {
    if (each.n < 0 || each.n > columns) continue;
    each.n = 2 * (each.n / unit * unit);
    if (p.clamp_host_sizes && each.n < p.bounds.n && dice.one_in(4)) ++each.n;
  }
}

std::string described(const GemmListArguments& args, const Problem& p, const DrawnEpilogue& drawn) {
  std::string text = "within " + list_text({p.bounds}) + ": " + list_text(p.sizes);
  if (!p.leading.empty())
    text += ", leading " + leading_text(p.leading) + " (of " + std::to_string(args.leading_alignment) + ")";
  return text + lab::described("a", args.a) + lab::described("b", args.b) + scales_described(args) +
         c_described(drawn) + lab::described("out", args.out) + lab::described(drawn) +
         expression_described(args.expression, args.tensors);
}

/// Up to 40 problems within bounds, of any strides; empty ones, some as large as the bounds, negative sizes
/// and sizes past the bounds; everything that an epilogue can have. Some have types that no kernel has, or
/// break a rule of the API.
class Source final : public CampaignSource {
 public:
  /// @param cost the most multiplications that a problem may need
  Source(std::span<const Kernel> kernels, double cost) : types_(kernels), cost_(cost) {}

  DrawnProblem draw(std::uint64_t seed) const override;
  std::string types_of(const KernelMetadata& kernel) const override;
  std::vector<std::string> types_for(const Arguments& arguments) const override;
  bool is_always_taken(const Arguments& arguments) const override;
  std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const Arguments& arguments,
                               const DeviceModel& device) const override;
  std::string fault_of_empty_answer(const Status& status, const Arguments& arguments) const override;

 private:
  DrawnTypes types_;
  double cost_;
};

DrawnProblem Source::draw(std::uint64_t seed) const {
  Dice dice(seed);
  const ManyTypes types = types_.draw(dice);
  Problem p = random_shape(cost_, dice);
  const bool plain = dice.one_in(2);
  const auto matrix = [&](DType type, std::int64_t rows, std::int64_t columns, int distinct_along) {
    const std::int64_t batch = dice.one_in(16) ? 0 : p.count();
    return random_matrix(type, {.plain = plain, .may_be_array = true, .distinct_along = distinct_along},
                         batch, rows, columns, dice);
  };
  GemmListArguments args;
  args.a = matrix(types.a, p.bounds.m, p.bounds.k, 1);
  args.b = matrix(types.b, p.bounds.k, p.bounds.n, 0);
  args.out = random_matrix(types.out, {.plain = plain, .is_output = true, .may_be_array = true}, p.count(),
                           p.bounds.m, p.bounds.n, dice);
  // A matrix of rank 2 would have no problems; without any, operands of rank 3 are made by hand.
  for (TensorView* view : {&args.a, &args.b, &args.out}) {
    if (p.count() > 0) break;
    *view = TensorView::row_major(nullptr, view->dtype,
                                  {0, view->extents[view->rank - 2U], view->extents[view->rank - 1U]});
  }
  if (types_.has_scaled(types) && p.count() > 0 && dice.one_in(2))
    add_random_scales(args, {.plain = plain, .may_be_array = true}, p.count(), p.count(), dice);
  args.sizes = TensorView::row_major(nullptr, DType::s32, {p.count(), list_extents});
  args.clamp_host_sizes = p.clamp_host_sizes;
  args.accumulator = types.sums;
  const DType compute = compute_type(types.sums, types.out);
  DrawnEpilogue drawn;
  if (may_have_expression(args) && dice.one_in(6)) {
    const gemm::WideParts parts = draw_parts(args, dice);
    if (parts.pairs) {
      double_columns(p, parts.eights, dice);
      args.b = matrix(types.b, p.bounds.k, p.bounds.n, 0);
    }
    add_random_expression(args, parts, dice);
    p.expression = args.expression;
  } else {
    drawn = draw_epilogue({.out = args.out, .compute = compute, .plain = plain, .arrays = true}, dice);
    if (p.count() == 0) drawn = {};  // whose matrices of rank 2 would have no problems, either
    fit_integers(p, types, drawn.epilogue, dice);
  }
  args.c = drawn.c;
  args.epilogue = drawn.epilogue;
  if (p.count() > 0 && dice.one_in(2)) {
    const bool is_promised = dice.one_in(2);
    draw_leading(p, args, drawn, is_promised, dice);
    args.leading = TensorView::row_major(nullptr, DType::s32, {p.count(), list_matrices});
    if (is_promised) args.leading_alignment = kept_alignment(p, args);
  }
  if (dice.one_in(2)) args.host_sizes = kept_sizes(p.sizes);
  if (!args.host_sizes.empty() && dice.one_in(2)) args.schedule = ListSchedule::host;
  spoil_arguments(args, dice);
  return {.arguments = args,
          .in_place = drawn.operands_in_place(),
          .given = Lab::given(p),
          .scalars_in_memory = drawn.scalars_by_pointer ? compute : DType::none,
          .text = described(args, p, drawn)};
}

std::string Source::types_of(const KernelMetadata& kernel) const { return text_of(lab::types_of(kernel)); }

std::vector<std::string> Source::types_for(const Arguments& arguments) const {
  return {text_of(lab::types_of(of(arguments)))};
}

bool Source::is_always_taken(const Arguments& arguments) const {
  const GemmListArguments& args = of(arguments);
  if (args.expression && gemm::wide_parts(*args.expression).groups) return false;
  return types_.take(args);
}

std::string Source::fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                                     const Arguments& arguments, const DeviceModel& device) const {
  return gemm_list::fault_of_refusal(status, kernel, of(arguments), device);
}

std::string Source::fault_of_empty_answer(const Status& status, const Arguments& arguments) const {
  return gemm_list::fault_of_empty_answer(status, of(arguments));
}

}  // namespace

std::unique_ptr<CampaignSource> Lab::campaign(std::span<const Kernel> kernels, double cost) {
  return std::make_unique<Source>(kernels, cost);
}

}  // namespace quarry::lab::gemm_list
