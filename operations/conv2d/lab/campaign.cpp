#include "operations/conv2d/lab/campaign.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/config_parts.hpp"
#include "lab/campaign/draw_controls.hpp"
#include "lab/campaign/draw_epilogue.hpp"
#include "lab/campaign/draw_tensor.hpp"
#include "lab/campaign/source.hpp"
#include "lab/problems/byte_sums.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/conv2d/lab/expression.hpp"
#include "operations/conv2d/lab/operation.hpp"

namespace quarry::lab::conv2d {
namespace {

constexpr DType all_types[] = {DType::f16, DType::bf16, DType::f32, DType::f64,
                               DType::s8,  DType::u8,   DType::s32, DType::e4m3};

/// A tensor with gaps between its extents, misaligned by chance; an input may be broadcast along one.
TensorView random_tensor(DType type, const Extents& e, bool is_output, Dice& dice) {
  const auto gap = [&] { return dice.one_in(2) ? 0 : dice.between(1, 9); };
  Extents strides = {0, 0, 0, 1};
  for (std::size_t i = 3; i-- > 0;) strides[i] = std::max<std::int64_t>(e[i + 1], 1) * strides[i + 1] + gap();
  if (dice.one_in(4)) {  // rows outside of images: strides that grow in another order
    strides = {e[2] * e[3] + gap(), 0, e[3] + gap(), 1};
    strides[0] = std::max<std::int64_t>(e[2], 1) * strides[2];
    strides[1] = std::max<std::int64_t>(e[0], 1) * strides[0];
  }
  if (!is_output && dice.one_in(12)) strides[static_cast<std::size_t>(dice.between(0, 2))] = 0;
  if (e[3] > 1 && dice.one_in(64)) strides[3] = 2;  // to be refused
  TensorView view = TensorView::strided(nullptr, type, e, strides);
  constexpr int elements[] = {1, 1, 2, 4, 8};
  view.assumed_alignment = static_cast<std::uint16_t>(std::max(1, bytes_of(type)) * dice.one_of(elements));
  return view;
}

/// A dense tensor, aligned to 16 bytes if its channels allow.
TensorView dense_tensor(DType type, const Extents& e) {
  Extents strides = {0, 0, 0, 1};
  for (std::size_t i = 3; i-- > 0;) strides[i] = std::max<std::int64_t>(e[i + 1], 1) * strides[i + 1];
  TensorView view = TensorView::strided(nullptr, type, e, strides);
  view.assumed_alignment = 16;
  return view;
}

/// A tensor as `view`, whose channels lie in groups of 32: misaligned by chance. @param is_images these may
/// lie at some distance
TensorView varied_groups(TensorView view, bool is_images, Dice& dice) {
  if (is_images && dice.one_in(4)) view.strides[0] += dice.one_in(2) ? interleave : dice.between(1, 40);
  view.assumed_alignment =
      static_cast<std::uint16_t>(dice.one_in(4) ? std::max(1, bytes_of(view.dtype)) : 16);
  return view;
}

/// Makes one tensor of a problem in a few something else than the others: to be refused.
void spoil_groups(const Problem& p, Conv2dArguments& args, Dice& dice) {
  if (!dice.one_in(16)) return;
  switch (dice.between(0, 3)) {
    case 0: args.a = dense_tensor(p.a.dtype, p.a_extents()); break;
    case 1: args.a = c32rsk32(nullptr, p.a.dtype, p.a_extents()); break;
    case 2: args.b = nc32hw32(nullptr, p.b.dtype, p.b_extents()); break;
    default: args.out.strides[2] += interleave;
  }
}

/// Breaks a rule, of one problem in a few.
void spoil(Conv2dArguments& args, Dice& dice) {
  if (!dice.one_in(16)) return;
  TensorView* const tensors[] = {&args.a, &args.b, &args.out};
  switch (dice.between(0, 6)) {
    case 0: args.stride.height = -dice.between(0, 1); break;
    case 1: args.dilation.width = -dice.between(0, 1); break;
    case 2: args.padding.height = -1; break;
    case 3: args.groups = dice.between(0, 7); break;
    case 4: args.padding.width += dice.between(1, 3); break;
    case 5: args.out.extents[static_cast<std::size_t>(dice.between(0, 3))] += 1; break;
    default: tensors[dice.between(0, 2)]->rank = 3;
  }
}

/// Makes a tensor of the epilogue one of other extents or rank, of one problem in a few: to be refused.
void spoil_parts(Epilogue& parts, Dice& dice) {
  if (!dice.one_in(48)) return;
  std::optional<TensorView>& spoiled = dice.one_in(2) ? parts.residual : parts.aux;
  if (!spoiled) return;
  if (dice.one_in(2)) {
    spoiled->extents[static_cast<std::size_t>(dice.between(0, 2))] += 1;
  } else {
    spoiled->rank = 3;
  }
}

/// The epilogue, as an output of two extents has it, and C.
DrawnEpilogue draw_parts(Conv2dArguments& args, DType compute, Dice& dice) {
  const Extents& e = args.out.extents;
  const TensorView matrix = TensorView::row_major(nullptr, args.out.dtype, {1, e[3]});
  DrawnEpilogue drawn = draw_epilogue({.out = matrix, .compute = compute, .plain = true}, dice);
  Epilogue& parts = drawn.epilogue;
  const bool has_vectors = args.direction != Direction::wgrad || dice.one_in(32);
  if (!has_vectors) parts.bias.reset(), parts.scale.reset();
  if (parts.bias) parts.bias = TensorView::vector(nullptr, args.out.dtype, e[3]);
  if (parts.scale) parts.scale = TensorView::vector(nullptr, compute, dice.one_in(3) ? 1 : e[3]);
  parts.bias_axis = parts.scale_axis = BiasAxis::column;
  const auto tensor = [&](bool in_place, bool is_output) {
    if (in_place) return args.out;
    if (args.out.tag != LayoutTag::strided)
      return varied_groups(nc32hw32(nullptr, args.out.dtype, e), true, dice);
    return random_tensor(args.out.dtype, e, is_output, dice);
  };
  if (drawn.c) drawn.c = tensor(drawn.in_place, false);
  if (parts.residual) parts.residual = tensor(drawn.residual_in_place, false);
  if (parts.aux) parts.aux = tensor(false, true);
  spoil_parts(parts, dice);
  return drawn;
}

void fit_integers(const Problem& p, Epilogue& e, Dice& dice) {
  if (p.sums() != DType::s32) return;
  if (p.compute() == DType::s32) return make_whole(e, dice);
  double alpha = e.alpha.value * alpha_of_byte_sums(p.a.dtype, p.b.dtype, p.out.dtype, p.terms());
  if (is_integer(p.out.dtype) && alpha != 0)
    alpha = std::copysign(std::exp2(std::floor(std::log2(std::abs(alpha)))), alpha);
  e.alpha.value = alpha;
}

std::string text_of(const TypeKey& key) {
  std::string text(to_string(key.direction));
  for (const DType type : {key.a, key.b, key.accumulator, key.out}) text.append(" ").append(to_string(type));
  return key.interleaved ? text + " nc32hw32" : text;
}

const Conv2dArguments& of(const Arguments& arguments) { return *arguments.as<Conv2dArguments>(); }

/// Whether kernels with expressions have such sums and outputs.
bool may_have_expression(const Conv2dArguments& args) {
  const DType sums = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  return bits_of(sums) > 0 && detail::is_rounded_to(args.out.dtype) && args.out.rank == 4;
}

std::string described(const Conv2dArguments& args, const Problem& p, const DrawnEpilogue& drawn) {
  const auto axes = [](std::string_view name, const ImageAxes& a) {
    return ", " + std::string(name) + " " + std::to_string(a.height) + "x" + std::to_string(a.width);
  };
  const std::string math = args.math == Math::exact ? "" : ", math " + std::string(to_string(args.math));
  return Lab::shape_text(p) + math + axes("padding", args.padding) + axes("stride", args.stride) +
         axes("dilation", args.dilation) + ", groups " + std::to_string(args.groups) +
         (args.flips ? ", turned" : "") + lab::described("a", args.a) + lab::described("b", args.b) +
         c_described(drawn) + lab::described("out", args.out) + lab::described(drawn) +
         expression_described(args.expression, args.tensors) + lab::described(args.controls);
}

}  // namespace

TypeKey type_key(const Conv2dArguments& args) {
  return {args.direction, args.a.dtype,
          args.b.dtype,   args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype)),
          args.out.dtype, args.out.tag != LayoutTag::strided};
}

TypeKey type_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return {kernel.direction.value_or(Direction::fprop),
          o.a.dtype,
          o.b.dtype,
          o.accumulator,
          o.out.dtype,
          is_interleaved(o.out.layout)};
}

namespace {

/// Makes of a problem one of channels and filters in 32s; of a few, one that has others.
void fit_channel_groups(Problem& p, Dice& dice) {
  p.groups = 1;
  p.c = rounded_up(p.c, interleave);
  p.k = rounded_up(p.k, interleave);
  if (dice.one_in(32)) ++(dice.one_in(2) ? p.c : p.k);
}

/// Windows of all kinds (draw_windows), strides of any kind, everything that an epilogue of a convolution can
/// have. Some have types that no kernel has, or break a rule of the API.
class Source final : public CampaignSource {
 public:
  /// @param cost the most products of a problem
  Source(std::span<const Kernel> kernels, double cost);

  DrawnProblem draw(std::uint64_t seed) const override;
  std::string types_of(const KernelMetadata& kernel) const override;
  std::vector<std::string> types_for(const Arguments& arguments) const override;
  bool is_always_taken(const Arguments& arguments) const override;
  std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const Arguments& arguments,
                               const DeviceModel& device) const override;
  std::string fault_of_empty_answer(const Status& status, const Arguments& arguments) const override;

 private:
  std::vector<TypeKey> types_;
  double cost_;
};

Source::Source(std::span<const Kernel> kernels, double cost) : cost_(cost) {
  std::set<TypeKey> types;
  for (const Kernel& kernel : kernels) types.insert(type_key(kernel.metadata()));
  types_ = {types.begin(), types.end()};
}

DrawnProblem Source::draw(std::uint64_t seed) const {
  Dice dice(seed);
  TypeKey types = types_[static_cast<std::size_t>(dice.between(0, std::ssize(types_) - 1))];
  if (dice.one_in(24)) types.out = dice.one_of(all_types);
  Problem p{.direction = types.direction,
            .interleaved = types.interleaved,
            .a = {.dtype = types.a},
            .b = {.dtype = types.b},
            .out = {.dtype = types.out},
            .accumulator = types.accumulator};
  if (dice.one_in(8) || (types.a == DType::f32 && dice.one_in(2)))
    p.math = static_cast<Math>(dice.between(0, static_cast<int>(Math::fast_bf16)));
  draw_windows(std::min(cost_ / 64, 4e6) / (types.interleaved ? 16 : 1), p, dice);
  if (types.interleaved) fit_channel_groups(p, dice);
  // As most networks have them, and the copy engine takes them: one group of whole lines.
  const bool is_dense = dice.one_in(2);
  if (is_dense && !types.interleaved) {
    p.c = types.direction == Direction::wgrad ? 16 * dice.between(1, 4) : (p.c / p.groups + 7) / 8 * 8;
    p.k = (p.k / p.groups + 7) / 8 * 8;
    p.groups = 1;
  }
  const auto tensor = [&](const TensorView& view, const Extents& e, Operand name) {
    if (types.interleaved) return varied_groups(view, name != Operand::b, dice);
    return is_dense && !dice.one_in(8) ? dense_tensor(view.dtype, e)
                                       : random_tensor(view.dtype, e, name == Operand::out, dice);
  };
  Conv2dArguments args = Lab::arguments(p);
  args.a = tensor(args.a, p.a_extents(), Operand::a);
  args.b = tensor(args.b, p.b_extents(), Operand::b);
  args.out = tensor(args.out, p.out_extents(), Operand::out);
  if (types.interleaved) spoil_groups(p, args, dice);
  spoil(args, dice);
  DrawnEpilogue drawn;
  if (dice.one_in(8) && may_have_expression(args)) {
    if (dice.one_in(2)) args.out = dense_tensor(types.out, args.out.extents);
    add_random_expression(args, dice);
  } else {
    drawn = draw_parts(args, p.compute(), dice);
    fit_integers(p, drawn.epilogue, dice);
  }
  args.c = drawn.c;
  args.epilogue = drawn.epilogue;
  args.controls = draw_controls(p.terms(), dice);
  // No kernel has it, so that there would be no candidates.
  if (args.controls.mode == Mode::stream_k && !dice.one_in(8)) args.controls.mode.reset();
  return {.arguments = args,
          .in_place = drawn.operands_in_place(),
          .scalars_in_memory = drawn.scalars_by_pointer ? p.compute() : DType::none,
          .text = described(args, p, drawn)};
}

std::string Source::types_of(const KernelMetadata& kernel) const { return text_of(type_key(kernel)); }

std::vector<std::string> Source::types_for(const Arguments& arguments) const {
  TypeKey key = type_key(of(arguments));
  std::vector<std::string> texts = {text_of(key)};
  key.interleaved = !key.interleaved;  // kernels that refuse it for where its channels lie
  texts.push_back(text_of(key));
  return texts;
}

bool Source::is_always_taken(const Arguments& arguments) const {
  const Controls& controls = of(arguments).controls;
  return !controls.mode && !controls.split_k_slices && !controls.multiprocessors &&
         std::ranges::find(types_, type_key(of(arguments))) != types_.end();
}

std::string Source::fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                                     const Arguments& arguments, const DeviceModel& device) const {
  return conv2d::fault_of_refusal(status, kernel, of(arguments), device);
}

std::string Source::fault_of_empty_answer(const Status& status, const Arguments& arguments) const {
  return conv2d::fault_of_empty_answer(status, of(arguments));
}

}  // namespace

std::unique_ptr<CampaignSource> Lab::campaign(std::span<const Kernel> kernels, double cost) {
  return std::make_unique<Source>(kernels, cost);
}

}  // namespace quarry::lab::conv2d
