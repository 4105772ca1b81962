#include <algorithm>
#include <array>

#include "common/config_parts.hpp"
#include "lab/campaign/draw_tensor.hpp"
#include "lab/campaign/refusal.hpp"
#include "lab/campaign/source.hpp"
#include "operations/reorder/lab/operation.hpp"
#include "quarry/conv2d.hpp"

namespace quarry::lab::reorder {
namespace {

/// Copying an element and comparing it takes as long as so many multiplications.
constexpr double cost_of_element = 256;

constexpr LayoutTag tags[] = {LayoutTag::strided, LayoutTag::row_interleaved32,
                              LayoutTag::column_interleaved32};

const ReorderArguments& of(const Arguments& arguments) { return *arguments.as<ReorderArguments>(); }

/// How a matrix of a type is stored: mostly as it may be. One in 16 is interleaved where its type never is.
Storage random_storage(DType type, Dice& dice) {
  const bool may_interleave = takes_integer_sums(type) ? dice.one_in(2) : dice.one_in(16);
  return {.plain = dice.one_in(4),
          .may_be_array = dice.one_in(16),
          .tag = may_interleave ? dice.one_of(tags) : LayoutTag::strided};
}

using Extents = std::array<std::int64_t, 4>;

/// Images or filters: with neighbouring channels, packed or with gaps, or with channels in groups of 32.
TensorView random_tensor(DType type, const Extents& e, Dice& dice) {
  TensorView view = TensorView::row_major(nullptr, type, {e[0], e[1], e[2], e[3]});
  if (takes_integer_sums(type) && dice.one_in(2)) {
    view = dice.one_in(2) ? nc32hw32(nullptr, type, e) : c32rsk32(nullptr, type, e);
    if (dice.one_in(16)) view.strides[1] += interleave;  // to be refused
  } else if (dice.one_in(4)) {
    view.strides[1] += dice.between(1, 40);
    view.strides[0] = e[1] * view.strides[1];
  } else if (dice.one_in(4)) {
    view.strides[0] += dice.between(1, 40);
  }
  view.assumed_alignment = static_cast<std::uint16_t>(dice.one_in(2) ? bytes_of(type) : 16);
  return view;
}

/// Whether an extent and the next are one, at even distances.
bool is_even(const TensorView& view, std::size_t first) {
  return view.extents[first] <= 1 || view.extents[first + 1] <= 1 ||
         view.strides[first] == view.extents[first + 1] * view.strides[first + 1];
}

/// Whether the rule that a refusal names is broken; nothing where it names none.
std::optional<bool> breaks_rule(const Status& status, const ReorderArguments& args) {
  const std::string message = status.message();
  const auto holds = [&](std::string_view words) { return message.find(words) != message.npos; };
  if (holds("Tensors of four extents")) {
    return std::ranges::none_of(std::array<std::size_t, 2>{0, 1}, [&](std::size_t first) {
      return is_even(args.from, first) && is_even(args.to, first);
    });
  }
  const bool of_from = names(message, Operand::from);
  if (!of_from && !names(message, Operand::to)) return std::nullopt;
  const TensorView& view = of_from ? args.from : args.to;
  if (holds("promises an alignment of")) return promises_too_much(args);
  if (holds("an array of pointers, which a reorder does not take")) return view.is_pointer_array;
  if (holds("an array of pointers to interleaved"))
    return view.is_pointer_array && view.tag != LayoutTag::strided;
  if (holds("which is for operands of"))
    return view.tag != LayoutTag::strided && !takes_integer_sums(view.dtype);
  if (holds("its strides fit neither")) return has_no_order(view);
  if (status.reason() == Reason::interleaved_extent) return is_badly_interleaved(status, args, view.tag);
  if (status.reason() == Reason::dtype) return args.from.dtype != args.to.dtype;
  return std::nullopt;
}

std::string fault_of_invalid(const Status& status, const ReorderArguments& args) {
  const std::optional<bool> broken = breaks_rule(status, args);
  if (!broken) return "the message names no rule: " + status.message();
  return *broken ? "" : "no rule is broken: " + status.message();
}

class Source final : public CampaignSource {
 public:
  Source(std::span<const Kernel> kernels, double cost) : most_elements_(cost / cost_of_element) {
    for (const Kernel& kernel : kernels) types_.push_back(kernel.metadata().operands.out.dtype);
  }

  DrawnProblem draw(std::uint64_t seed) const override {
    Dice dice(seed);
    const DType type = random_type(dice);
    const DType other = dice.one_in(32) ? random_type(dice) : type;
    if (dice.one_in(4)) return draw_tensor(type, other, dice);
    const Storage from = random_storage(other, dice);
    Storage to = random_storage(type, dice);
    to.is_output = true;
    const bool interleaved = from.tag != LayoutTag::strided || to.tag != LayoutTag::strided;
    const std::int64_t unit = interleaved && !dice.one_in(16) ? interleave : 1;
    const std::int64_t batch = dice.one_in(3) ? dice.between(1, 5) : 0;
    std::int64_t m = 0;
    std::int64_t n = 0;
    do {
      m = rounded_up(log_uniform(most_extent, dice), unit);
      n = rounded_up(log_uniform(most_extent, dice), unit);
    } while (static_cast<double>(m) * static_cast<double>(n * std::max<std::int64_t>(batch, 1)) >
             most_elements_);
    const ReorderArguments args = {.from = random_matrix(other, from, batch, m, n, dice),
                                   .to = random_matrix(type, to, batch, m, n, dice)};
    return {.arguments = args,
            .text = "reorder " + std::to_string(m) + "x" + std::to_string(n) +
                    (batch > 0 ? " batch " + std::to_string(batch) : "") + described("from", args.from) +
                    described("to", args.to)};
  }

  std::string types_of(const KernelMetadata& kernel) const override {
    return std::string(to_string(kernel.operands.out.dtype));
  }
  std::vector<std::string> types_for(const Arguments& arguments) const override {
    return {std::string(to_string(of(arguments).to.dtype))};
  }
  bool is_always_taken(const Arguments&) const override { return true; }

  std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const Arguments& arguments,
                               const DeviceModel&) const override {
    if (status.code() == StatusCode::invalid_arguments) return fault_of_invalid(status, of(arguments));
    const bool is_true = status.code() == StatusCode::unsupported && status.reason() == Reason::dtype &&
                         names(status.message(), Operand::to) &&
                         of(arguments).to.dtype != kernel.operands.out.dtype;
    return is_true ? "" : "the cause is not true: " + status.message();
  }

  std::string fault_of_empty_answer(const Status& status, const Arguments& arguments) const override {
    if (status.code() == StatusCode::invalid_arguments) return fault_of_invalid(status, of(arguments));
    const std::string message = status.message();
    const bool left_out =
        message.find("The filter") != message.npos || message.find("machine code") != message.npos;
    return left_out ? "" : "the message names no cause: " + message;
  }

 private:
  static constexpr std::int64_t most_extent = 2000;

  /// Tensors of four extents; of a few, channels are no multiple of 32.
  DrawnProblem draw_tensor(DType type, DType other, Dice& dice) const {
    Extents e = {};
    do {
      for (std::int64_t& extent : e) extent = log_uniform(most_extent, dice);
      if (!dice.one_in(16)) e[3] = rounded_up(e[3], interleave);
    } while (static_cast<double>(e[0]) * static_cast<double>(e[1]) * static_cast<double>(e[2]) *
                 static_cast<double>(e[3]) >
             most_elements_);
    const ReorderArguments args = {.from = random_tensor(other, e, dice), .to = random_tensor(type, e, dice)};
    std::string text = "reorder";
    for (const std::int64_t extent : e) text += " " + std::to_string(extent);
    return {.arguments = args, .text = text + described("from", args.from) + described("to", args.to)};
  }

  DType random_type(Dice& dice) const {
    return types_[static_cast<std::size_t>(dice.between(0, std::ssize(types_) - 1))];
  }

  std::vector<DType> types_;
  double most_elements_;
};

}  // namespace

std::unique_ptr<CampaignSource> Lab::campaign(std::span<const Kernel> kernels, double cost) {
  return std::make_unique<Source>(kernels, cost);
}

}  // namespace quarry::lab::reorder
