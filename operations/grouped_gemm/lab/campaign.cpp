#include "operations/grouped_gemm/lab/campaign.hpp"

#include "common/config_parts.hpp"
#include "lab/campaign/draw_epilogue.hpp"
#include "lab/campaign/source.hpp"
#include "lab/problems/byte_sums.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/lab/campaign_scales.hpp"
#include "operations/gemm/lab/expression.hpp"
#include "operations/gemm/lab/many_types.hpp"
#include "operations/grouped_gemm/lab/expression.hpp"
#include "operations/grouped_gemm/lab/operation.hpp"
#include "operations/grouped_gemm/lab/sizes.hpp"

namespace quarry::lab::grouped_gemm {
namespace {

/// The form, the extents and the sizes of a problem, drawn again until it costs no more than is allowed.
Problem random_shape(double cost, Dice& dice) {
  constexpr std::int64_t most_groups = 40;
  constexpr std::int64_t extent = 1000;
  Problem p;
  double needed = 0;
  do {
    p.form = static_cast<GroupForm>(dice.between(0, 2));
    p.groups = log_uniform(most_groups, dice);
    p.m = log_uniform(extent, dice);
    p.n = log_uniform(extent, dice);
    p.k = log_uniform(extent, dice);
    p.room = p.form != GroupForm::masked && dice.one_in(64) ? 0 : log_uniform(2 * extent, dice);
    const double each =
        static_cast<double>(p.n) * static_cast<double>(p.form == GroupForm::ragged_k ? p.m : p.k);
    // Operands are made and checked, too.
    const double operands = 64 * static_cast<double>(p.n) * static_cast<double>(p.groups) *
                            static_cast<double>(p.form == GroupForm::ragged_k ? p.m : p.k);
    const double rows =
        static_cast<double>(p.room) * (p.form == GroupForm::masked ? static_cast<double>(p.groups) : 1);
    needed = each * rows + operands + 64 * rows * static_cast<double>(p.n + p.k);
  } while (needed > cost);
  p.sizes_are = p.form == GroupForm::masked || dice.one_in(2) ? SizesAre::counts : SizesAre::ends;
  draw_sizes(p, dice);
  p.zero_outside = dice.one_in(3);
  if (dice.one_in(3)) {
    spoil_sizes(p, dice);
    p.clamp_host_sizes = true;
  }
  return p;
}

/// Breaks a rule about the sizes now and then.
void spoil_arguments(GroupedGemmArguments& args, Dice& dice) {
  if (!dice.one_in(32)) return;
  switch (dice.between(0, 3)) {
    case 0: args.sizes.dtype = DType::f32; break;
    case 1: args.sizes.extents[0] += 1; break;
    case 2: args.sizes.strides[0] = 3; break;
    default:
      if (args.a.rank == 3) args.sizes_are = SizesAre::ends;
  }
}

void fit_integers(const Problem& p, const ManyTypes& types, Epilogue& e, Dice& dice) {
  if (types.sums != DType::s32) return;
  if (compute_type(types.sums, types.out) == DType::s32) return make_whole(e, dice);
  e.alpha.value *=
      alpha_of_byte_sums(types.a, types.b, types.out, p.form == GroupForm::ragged_k ? p.room : p.k);
}

const GroupedGemmArguments& of(const Arguments& arguments) { return *arguments.as<GroupedGemmArguments>(); }

/// Parts that an expression has in the place of the epilogue, of sums and outputs that kernels with
/// expressions have; nothing: no expression.
std::optional<gemm::WideParts> draw_parts(const GroupedGemmArguments& args, Dice& dice) {
  const ManyTypes types = lab::types_of(args);
  const bool may_have =
      bits_of(types.sums) > 0 && detail::is_rounded_to(types.out) && !args.a_scale && !args.b_scale;
  if (!may_have || !dice.one_in(6)) return std::nullopt;
  return gemm::WideParts{.lines = dice.one_in(4), .groups = dice.one_in(4), .pairs = dice.one_in(3)};
}

std::string described(const GroupedGemmArguments& args, const Problem& p, const DrawnEpilogue& drawn) {
  constexpr std::string_view forms[] = {"contiguous", "masked", "ragged k"};
  std::string text(forms[static_cast<std::size_t>(p.form)]);
  text += " " + std::to_string(p.groups) + " groups of " + std::to_string(p.room) + ": " +
          size_list_text(p.sizes) + " (" + std::string(to_string(args.sizes_are)) + ")";
  if (p.zero_outside) text += ", others 0";
  return text + lab::described("a", args.a) + lab::described("b", args.b) + scales_described(args) +
         c_described(drawn) + lab::described("out", args.out) + lab::described(drawn) +
         expression_described(args.expression, args.tensors);
}

/// Groups in each form, from 1 to 40, of any strides; with empty groups, one huge group, sizes past the room,
/// negative ones and ends that do not ascend; everything that an epilogue can have. Some have types that no
/// kernel has, or break a rule of the API.
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
  const Problem p = random_shape(cost_, dice);
  const bool plain = dice.one_in(2);
  const bool is_ragged = p.form == GroupForm::ragged_k;
  GroupedGemmArguments args;
  args.a = random_matrix(types.a, {.plain = plain, .distinct_along = 1}, is_ragged ? 0 : p.entries(),
                         is_ragged ? p.m : p.room, is_ragged ? p.room : p.k, dice);
  args.b = random_matrix(types.b, {.plain = plain, .distinct_along = 0}, is_ragged ? 0 : p.groups,
                         is_ragged ? p.room : p.k, p.n, dice);
  args.out =
      random_matrix(types.out, {.plain = plain, .is_output = true}, p.entries(), p.out_rows(), p.n, dice);
  args.sizes = TensorView::vector(nullptr, DType::s32, p.groups);
  args.sizes_are = p.sizes_are;
  args.zero_outside = p.zero_outside;
  args.clamp_host_sizes = p.clamp_host_sizes;
  args.accumulator = types.sums;
  if (types_.has_scaled(types) && dice.one_in(is_ragged ? 64 : 2))  // ragged K has none
    add_random_scales(args, {.plain = plain}, p.entries(), p.groups, dice);
  const DType compute = compute_type(types.sums, types.out);
  DrawnEpilogue drawn;
  if (const std::optional<gemm::WideParts> parts = draw_parts(args, dice)) {
    if (parts->pairs) {
      const std::int64_t columns = p.n;
      args.b = random_matrix(types.b, {.plain = plain, .distinct_along = 0}, is_ragged ? 0 : p.groups,
                             is_ragged ? p.room : p.k, 2 * columns, dice);
    }
    add_random_expression(args, *parts, dice);
  } else {
    drawn = draw_epilogue({.out = args.out, .compute = compute, .plain = plain}, dice);
    fit_integers(p, types, drawn.epilogue, dice);
  }
  args.c = drawn.c;
  args.epilogue = drawn.epilogue;
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
  const GroupedGemmArguments& args = of(arguments);
  if (args.expression && gemm::wide_parts(*args.expression).groups) return false;
  return types_.take(args);
}

std::string Source::fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                                     const Arguments& arguments, const DeviceModel& device) const {
  return grouped_gemm::fault_of_refusal(status, kernel, of(arguments), device);
}

std::string Source::fault_of_empty_answer(const Status& status, const Arguments& arguments) const {
  return grouped_gemm::fault_of_empty_answer(status, of(arguments));
}

}  // namespace

std::unique_ptr<CampaignSource> Lab::campaign(std::span<const Kernel> kernels, double cost) {
  return std::make_unique<Source>(kernels, cost);
}

}  // namespace quarry::lab::grouped_gemm
