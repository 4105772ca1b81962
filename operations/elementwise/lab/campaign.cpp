#include "operations/elementwise/lab/campaign.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "basic/text.hpp"
#include "common/config_parts.hpp"
#include "lab/campaign/draw_tensor.hpp"
#include "lab/campaign/source.hpp"
#include "lab/expression/random.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/elementwise/lab/operation.hpp"

namespace quarry::lab::elementwise {
namespace {

using expression::Shape;

/// The reference of an element takes as long as so many multiplications.
constexpr double cost_of_element = 1 << 14;

const ElementwiseArguments& of(const Arguments& arguments) { return *arguments.as<ElementwiseArguments>(); }

/// A fake tensor of these extents: extents in any order of memory, with gaps, misaligned by chance; an input
/// may repeat along one.
TensorView random_view(DType type, const std::vector<std::int64_t>& extents, Shape shape, bool is_output,
                       Dice& dice) {
  const std::size_t rank = extents.size();
  std::vector<std::size_t> order(rank);  // the fastest one first
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  if (rank > 1 && (shape == Shape::column) != dice.one_in(8)) std::swap(order[0], order[1]);
  if (rank > 1 && dice.one_in(8)) std::swap(order[0], order[rank - 1]);
  const bool is_packed = dice.one_in(3);
  std::vector<std::int64_t> strides(rank, 0);
  std::int64_t stride = dice.one_in(12) ? 2 : 1;
  for (const std::size_t axis : order) {
    strides[axis] = stride;
    stride *= std::max<std::int64_t>(extents[axis], 1);
    if (!is_packed) stride = dice.one_in(2) ? rounded_up(stride, 8) : stride + dice.between(0, 5);
  }
  if (!is_output && dice.one_in(8))
    strides[static_cast<std::size_t>(dice.between(0, std::ssize(strides) - 1))] = 0;
  TensorView view = TensorView::strided(nullptr, type, extents, strides);
  constexpr int elements[] = {1, 2, 4, 8, 16, 16};
  const int bytes = std::max(1, bytes_of(type));
  view.assumed_alignment =
      static_cast<std::uint16_t>(std::max(bytes, std::min(16, bytes * dice.one_of(elements))));
  return view;
}

/// The extents of a vector that has a value for each row or column: rows or columns last, behind so many
/// extents of a batch.
std::vector<std::int64_t> vector_extents(const Extents& e, Shape shape, std::size_t batch) {
  std::vector<std::int64_t> extents(e.begin() + 2 - static_cast<std::ptrdiff_t>(batch), e.begin() + 2);
  extents.push_back(shape == Shape::per_row ? e[2] : e[3]);
  return extents;
}

class Draw {
 public:
  Draw(double most_elements, Dice& dice) : dice_(dice) {
    rank_ = static_cast<std::size_t>(dice.between(1, 4));
    const std::int64_t most = rank_ == 1 ? 20000 : 2000;
    do {
      for (std::size_t i = 4 - rank_; i < 4; ++i)
        extents_[i] = log_uniform(i < 2 ? 12 : most, dice) - (dice.one_in(48) ? 1 : 0);
    } while (elements() > most_elements);
  }

  DrawnProblem problem() {
    const Expression expression = random();
    ElementwiseArguments args = {.expression = expression};
    for (const expression::Tensor& input : expression.inputs()) args.tensors.push_back(input_of(input));
    for (const expression::Output& output : expression.outputs())
      args.tensors.push_back({output.tensor.name, output_view(output)});
    std::vector<Operand> in_place = put_in_place(args);
    if (in_place.empty() && dice_.one_in(16)) spoil(args);
    return {.arguments = args, .in_place = std::move(in_place), .text = described(args)};
  }

 private:
  double elements() const {
    return std::accumulate(extents_.begin(), extents_.end(), 1.0,
                           [](double all, std::int64_t extent) { return all * static_cast<double>(extent); });
  }

  /// What kernels compute; by chance anything, of more tensors or of types that they do not round to.
  Expression random() {
    const bool reduces = dice_.one_in(2);
    const ExpressionLimits limits = {.sum = DType::none,
                                     .depth = static_cast<int>(dice_.between(1, 4)),
                                     .inputs = 5,
                                     .more_outputs = 3,
                                     .reductions = reduces,
                                     .groups = reduces,
                                     .pairs = false};
    if (dice_.one_in(32)) return random_expression(dice_, limits);
    return random_kernel_expression(dice_, limits, DType::none, false);
  }

  ExpressionTensor input_of(const expression::Tensor& input) {
    const Shape shape = *input.shape;
    const bool may_be_value = bits_of(input.dtype) >= 8 && !is_fp8(input.dtype);
    if (shape == Shape::scalar && (may_be_value || dice_.one_in(32)) && dice_.one_in(2))
      return {input.name, {}, static_cast<double>(dice_.between(-300, 300)) / 64};
    std::vector<std::int64_t> extents = {1};
    if (shape == Shape::gathered) {
      const auto rank = static_cast<std::size_t>(dice_.between(2, 4));
      extents.assign(extents_.end() - static_cast<std::ptrdiff_t>(rank), extents_.end());
      extents[rank - 2] = dice_.between(0, 40);
    } else if (detail::is_matrix(shape)) {
      const std::size_t rank = dice_.one_in(4) ? static_cast<std::size_t>(dice_.between(1, 4)) : rank_;
      extents.assign(extents_.end() - static_cast<std::ptrdiff_t>(rank), extents_.end());
    } else if (shape != Shape::scalar) {
      extents = vector_extents(extents_, shape, static_cast<std::size_t>(dice_.between(0, 2)));
    }
    for (std::int64_t& extent : extents) {
      if (dice_.one_in(10)) extent = 1;
    }
    return {input.name, random_view(input.dtype, extents, shape, false, dice_)};
  }

  TensorView output_view(const expression::Output& output) {
    const Shape shape = *output.tensor.shape;
    const DType type = output.tensor.dtype == DType::none ? DType::bf16 : output.tensor.dtype;
    const Extents left = detail::extents_after(output.extent, extents_);
    std::vector<std::int64_t> extents = {1};
    if (detail::is_matrix(shape)) {
      extents.assign(left.end() - static_cast<std::ptrdiff_t>(rank_), left.end());
    } else if (shape != Shape::scalar) {
      extents = vector_extents(extents_, shape, rank_ > 2 ? rank_ - 2 : 0);
    }
    return random_view(type, extents, shape, true, dice_);
  }

  /// Lets an input be `out` itself, of some problems where one may.
  std::vector<Operand> put_in_place(ElementwiseArguments& args) {
    if (!dice_.one_in(6)) return {};
    const ExpressionTensor& out = *detail::find_tensor(args.tensors, "out");
    const auto inputs = args.expression.inputs();
    for (std::size_t i = 0; i < inputs.size() && i < tensor_operands; ++i) {
      const bool fits = detail::is_matrix(*inputs[i].shape) && inputs[i].dtype == out.view.dtype &&
                        detail::is_read_before_out(args.expression, inputs[i].name);
      if (!fits) continue;
      args.tensors[i].view = out.view;
      return {tensor_operand(static_cast<int>(i))};
    }
    return {};
  }

  /// Breaks a rule.
  void spoil(ElementwiseArguments& args) {
    const auto place = static_cast<std::size_t>(dice_.between(0, std::ssize(args.tensors) - 1));
    ExpressionTensor& tensor = args.tensors[place];
    const bool is_value = tensor.view.dtype == DType::none;
    switch (dice_.between(0, is_value ? 2 : 5)) {
      case 0: args.tensors.erase(args.tensors.begin() + static_cast<std::ptrdiff_t>(place)); break;
      case 1: args.tensors.push_back(tensor); break;
      case 2: tensor.name += "_"; break;
      case 3: tensor.view.dtype = tensor.view.dtype == DType::f16 ? DType::s32 : DType::f16; break;
      case 4: tensor.view.extents[tensor.view.rank - 1U] += 1; break;
      default: args.tensors.back().view.strides[0] = 0;
    }
  }

  static std::string described(const ElementwiseArguments& args) {
    std::string text =
        detail::quoted(args.expression.text()) + " with " + args.expression.declarations().text();
    for (const ExpressionTensor& tensor : args.tensors) {
      text += lab::described(tensor.name, tensor.view) + " of";
      for (std::size_t i = 0; i < tensor.view.rank; ++i)
        text += (i == 0 ? " " : "x") + std::to_string(tensor.view.extents[i]);
    }
    return text;
  }

  Dice& dice_;
  std::size_t rank_ = 1;
  Extents extents_ = {1, 1, 1, 1};
};

/// Random expressions of all types and shapes, over tensors of rank 1 to 4 with any strides, broadcast,
/// misaligned and in place. Some break a rule of the API.
class Source final : public CampaignSource {
 public:
  /// @param cost the most multiplications of a problem
  explicit Source(double cost) : most_elements_(std::min(cost / cost_of_element, 50000.0)) {}

  DrawnProblem draw(std::uint64_t seed) const override {
    Dice dice(seed);
    return Draw(most_elements_, dice).problem();
  }

  // Kernels differ in strides and alignment, not in types.
  std::string types_of(const KernelMetadata&) const override { return "any"; }
  std::vector<std::string> types_for(const Arguments&) const override { return {"any"}; }
  bool is_always_taken(const Arguments& arguments) const override { return rounds_to_bytes(of(arguments)); }

  std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const Arguments& arguments,
                               const DeviceModel&) const override {
    return elementwise::fault_of_refusal(status, kernel, of(arguments));
  }
  std::string fault_of_empty_answer(const Status& status, const Arguments& arguments) const override {
    return elementwise::fault_of_empty_answer(status, of(arguments));
  }

 private:
  double most_elements_;
};

}  // namespace

std::unique_ptr<CampaignSource> Lab::campaign(std::span<const Kernel>, double cost) {
  return std::make_unique<Source>(cost);
}

}  // namespace quarry::lab::elementwise
