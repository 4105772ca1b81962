#include "operations/reduce_split_k/lab/campaign.hpp"

#include <algorithm>
#include <set>

#include "common/config_parts.hpp"
#include "lab/campaign/draw_epilogue.hpp"
#include "lab/campaign/source.hpp"
#include "operations/reduce_split_k/lab/operation.hpp"

namespace quarry::lab::reduce_split_k {
namespace {

/// Types of the partial sums and the output.
struct TypeKey {
  DType partials, out;
  friend auto operator<=>(const TypeKey&, const TypeKey&) = default;
};

constexpr DType all_types[] = {DType::f16, DType::bf16, DType::f32, DType::f64,
                               DType::s8,  DType::u8,   DType::s32};

struct Sizes {
  std::int64_t slices, m, n;
  std::int64_t batch;  ///< 0: none
};

/// What it takes to make, add up and check the elements, in multiplications.
double cost_of(const Sizes& s) {
  constexpr double an_element = 64;
  return an_element * static_cast<double>(s.slices + 3) * static_cast<double>(s.m) *
         static_cast<double>(s.n) * static_cast<double>(std::max<std::int64_t>(s.batch, 1));
}

/// Drawn again until they cost no more than is allowed. @param unit what extents are multiples of
Sizes random_sizes(std::int64_t unit, double most, Dice& dice) {
  constexpr std::int64_t extent = 2000;
  constexpr std::int64_t slices = 24;
  Sizes sizes{1, 1, 1, 0};
  do {
    sizes = {.slices = dice.one_in(64) ? 0 : log_uniform(slices, dice),
             .m = rounded_up(log_uniform(extent, dice), unit),
             .n = rounded_up(log_uniform(extent, dice), unit),
             .batch = dice.one_in(3) ? dice.between(1, 5) : 0};
  } while (cost_of(sizes) > most);
  return sizes;
}

/// Packed slices; by chance with other strides or as an array of pointers, which are to be refused.
TensorView random_partials(DType type, const Sizes& s, Dice& dice) {
  TensorView view = s.batch > 0 ? TensorView::row_major(nullptr, type, {s.slices, s.batch, s.m, s.n})
                                : TensorView::row_major(nullptr, type, {s.slices, s.m, s.n});
  constexpr int elements[] = {1, 1, 2, 4};
  view.assumed_alignment = static_cast<std::uint16_t>(bytes_of(type) * dice.one_of(elements));
  if (dice.one_in(8)) view.strides[0] += dice.between(1, 9);
  if (s.batch == 0 && dice.one_in(64)) view.is_pointer_array = true;
  return view;
}

LayoutTag random_tag(Dice& dice) {
  constexpr LayoutTag tags[] = {LayoutTag::row_interleaved32, LayoutTag::column_interleaved32,
                                LayoutTag::column_interleaved32};
  return dice.one_in(4) ? dice.one_of(tags) : LayoutTag::strided;
}

/// As of the random problems for a kernel.
void fit_integers(const TypeKey& types, Epilogue& e, Dice& dice) {
  if (types.partials != DType::s32) return;
  if (compute_type(types.partials, types.out) == DType::s32) return make_whole(e, dice);
  e.alpha.value *= alpha_of_sums(types.out);
}

std::string text_of(const TypeKey& key) {
  return std::string(to_string(key.partials)).append(" ").append(to_string(key.out));
}

const ReduceSplitKArguments& of(const Arguments& arguments) { return *arguments.as<ReduceSplitKArguments>(); }

std::string described(const ReduceSplitKArguments& args, const DrawnEpilogue& drawn) {
  const TensorView& out = args.out;
  std::string text = std::to_string(args.partials.extents[0]) + "x" +
                     std::to_string(out.extents[out.rank - 2U]) + "x" +
                     std::to_string(out.extents[out.rank - 1U]);
  if (out.rank == 3) text += " batch " + std::to_string(out.extents[0]);
  return text + lab::described("partials", args.partials) + c_described(drawn) + lab::described("out", out) +
         lab::described(drawn);
}

/// Types of all kinds, 1 to 24 slices, extents that are log-uniform from 1, batches, padded, interleaved and
/// misaligned outputs, everything that an epilogue can have. Some have types that no kernel has, slices that
/// are not packed, or break a rule of the API.
class Source final : public CampaignSource {
 public:
  /// @param cost the most that a problem may cost, in elements times 64
  Source(std::span<const Kernel> kernels, double cost);

  DrawnProblem draw(std::uint64_t seed) const override;
  std::string types_of(const KernelMetadata& kernel) const override;
  std::vector<std::string> types_for(const Arguments& arguments) const override;
  bool is_always_taken(const Arguments& arguments) const override;
  std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const Arguments& arguments,
                               const DeviceModel& device) const override;
  std::string fault_of_empty_answer(const Status& status, const Arguments& arguments) const override;

 private:
  /// The types that there are kernels of, and the layouts of outputs beside them.
  std::vector<TypeKey> types_;
  std::set<std::pair<TypeKey, Layout>> there_;
  double cost_;
};

Source::Source(std::span<const Kernel> kernels, double cost) : cost_(cost) {
  std::set<TypeKey> types;
  for (const Kernel& kernel : kernels) {
    const OperandsMetadata& operands = kernel.metadata().operands;
    const TypeKey key{operands.accumulator, operands.out.dtype};
    types.insert(key);
    there_.insert({key, operands.out.layout});
  }
  types_ = {types.begin(), types.end()};
}

DrawnProblem Source::draw(std::uint64_t seed) const {
  Dice dice(seed);
  TypeKey types = types_[static_cast<std::size_t>(dice.between(0, std::ssize(types_) - 1))];
  if (dice.one_in(16)) types = {dice.one_of(all_types), dice.one_of(all_types)};
  const bool plain = dice.one_in(2);
  const LayoutTag tag = takes_integer_sums(types.out) ? random_tag(dice) : LayoutTag::strided;
  Sizes sizes = random_sizes(tag != LayoutTag::strided ? interleave : 1, cost_, dice);
  if (tag != LayoutTag::strided && dice.one_in(16)) sizes.m -= dice.between(1, interleave - 1);
  const bool arrays = dice.one_in(24);  // to be refused
  ReduceSplitKArguments args;
  args.partials = random_partials(types.partials, sizes, dice);
  args.out = random_matrix(types.out, {.plain = plain, .is_output = true, .may_be_array = arrays, .tag = tag},
                           sizes.batch, sizes.m, sizes.n, dice);
  const DType compute = compute_type(types.partials, types.out);
  DrawnEpilogue drawn =
      draw_epilogue({.out = args.out, .compute = compute, .plain = plain, .arrays = arrays}, dice);
  fit_integers(types, drawn.epilogue, dice);
  args.c = drawn.c;
  args.epilogue = drawn.epilogue;
  return {.arguments = args,
          .in_place = drawn.operands_in_place(),
          .scalars_in_memory = drawn.scalars_by_pointer ? compute : DType::none,
          .text = described(args, drawn)};
}

std::string Source::types_of(const KernelMetadata& kernel) const {
  return text_of({kernel.operands.accumulator, kernel.operands.out.dtype});
}

std::vector<std::string> Source::types_for(const Arguments& arguments) const {
  const ReduceSplitKArguments& args = of(arguments);
  return {text_of({args.partials.dtype, args.out.dtype})};
}

bool Source::is_always_taken(const Arguments& arguments) const {
  const ReduceSplitKArguments& args = of(arguments);
  const Layout layout = args.out.tag == LayoutTag::strided ? Layout::row : layout_of(args.out.tag);
  return is_packed(args.partials) && there_.contains({{args.partials.dtype, args.out.dtype}, layout});
}

std::string Source::fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                                     const Arguments& arguments, const DeviceModel& device) const {
  return reduce_split_k::fault_of_refusal(status, kernel, of(arguments), device);
}

std::string Source::fault_of_empty_answer(const Status& status, const Arguments& arguments) const {
  return reduce_split_k::fault_of_empty_answer(status, of(arguments));
}

}  // namespace

std::unique_ptr<CampaignSource> Lab::campaign(std::span<const Kernel> kernels, double cost) {
  return std::make_unique<Source>(kernels, cost);
}

}  // namespace quarry::lab::reduce_split_k
