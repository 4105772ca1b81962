#include "lab/campaign/refusal.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <string>

#include "common/config_parts.hpp"
#include "lab/problems/held_arguments.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::lab {
namespace {

bool is_s32(double value) { return std::isinf(value) || value == std::floor(value); }

/// A rule that a campaign's problems break now and then: what its message holds, and whether it is broken.
struct Rule {
  std::string_view words;
  bool (*is_broken)(const Epilogue& epilogue, DType compute);
};
constexpr Rule rules[] = {
    {"Operand `alpha` is", [](const Epilogue& e, DType) { return !is_s32(e.alpha.value); }},
    {"Operand `beta` is", [](const Epilogue& e, DType) { return !is_s32(e.beta.value); }},
    {"Activation `", [](const Epilogue& e, DType) { return e.activation > Activation::relu; }},
    {"Operand `scale` is unsupported",
     [](const Epilogue& e, DType compute) { return e.scale && compute == DType::s32; }},
    {"The clamp has no numbers", [](const Epilogue& e, DType) { return !(e.clamp.low <= e.clamp.high); }},
    {"A bound of the clamp is",
     [](const Epilogue& e, DType) { return !is_s32(e.clamp.low) || !is_s32(e.clamp.high); }},
};

}  // namespace

const TensorView* view_of(const Arguments& arguments, Operand operand) {
  detail::OperandList operands;
  list_operands(arguments, operands);
  const detail::OperandRef* const found = operands.find(operand);
  return found == nullptr ? nullptr : found->view;  // of the arguments
}

bool names(std::string_view message, Operand operand) {
  return message.find("`" + std::string(to_string(operand)) + "`") != message.npos;
}

bool is_badly_interleaved(const Status& status, const Arguments& arguments, LayoutTag out) {
  const TensorView* const view = view_of(arguments, status.operand());
  if (view == nullptr || !names(status.message(), status.operand())) return false;
  if (status.reason() == Reason::tag) return view->tag != out;
  const auto odd = [&](std::size_t extent) { return view->extents[view->rank - extent] % interleave != 0; };
  return status.reason() == Reason::interleaved_extent && view->tag != LayoutTag::strided &&
         (odd(1) || (view->rank < 4 && odd(2)));
}

bool has_no_order(const TensorView& view) {
  return view.tag != LayoutTag::strided && !detail::has_image_order(view) && !detail::has_filter_order(view);
}

std::optional<bool> breaks_rule(std::string_view message, const Epilogue& epilogue, DType compute) {
  const auto rule =
      std::ranges::find_if(rules, [&](const Rule& each) { return message.find(each.words) != message.npos; });
  if (rule == std::ranges::end(rules)) return std::nullopt;
  return rule->is_broken(epilogue, compute);
}

bool has_odd_swizzle(const Controls& controls) {
  const int swizzle = controls.swizzle.value_or(1);
  return swizzle != 1 && swizzle != 2 && swizzle != 4 && swizzle != 8;
}

bool promises_too_much(const Arguments& arguments) {
  detail::OperandList operands;
  list_operands(arguments, operands);
  return std::ranges::any_of(operands, [](const detail::OperandRef& operand) {
    const TensorView& view = *operand.view;
    return view.is_pointer_array &&
           (!std::has_single_bit(view.assumed_alignment) || view.assumed_alignment < unit_bytes(view.dtype));
  });
}

}  // namespace quarry::lab
