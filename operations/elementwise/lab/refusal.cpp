#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "common/config_parts.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/elementwise/lab/campaign.hpp"

namespace quarry::lab::elementwise {
namespace {

using Args = ElementwiseArguments;
using expression::Shape;

/// A tensor that the expression declares, with what it is given.
struct Declared {
  const expression::Tensor& tensor;
  expression::Extent extent = expression::Extent::element;
  bool is_output = false;
  const ExpressionTensor* given = nullptr;

  bool is_value() const { return given != nullptr && given->view.dtype == DType::none; }
};

std::vector<Declared> declared(const Args& args) {
  std::vector<Declared> all;
  for (const expression::Tensor& input : args.expression.inputs())
    all.push_back({input, expression::Extent::element, false, detail::find_tensor(args.tensors, input.name)});
  for (const expression::Output& output : args.expression.outputs())
    all.push_back(
        {output.tensor, output.extent, true, detail::find_tensor(args.tensors, output.tensor.name)});
  return all;
}

bool some(const Args& args, bool (*is_at_fault)(const Declared& tensor)) {
  return std::ranges::any_of(declared(args), is_at_fault);
}

/// The place among four extents of an extent of a view; 4 for a scalar.
std::size_t place_of(const TensorView& view, Shape shape, std::size_t extent) {
  if (shape == Shape::scalar) return 4;
  if (detail::has_rows(shape)) return 4 - view.rank + extent;
  const bool is_last = extent + 1 == view.rank;
  if (is_last) return shape == Shape::per_row ? 2 : 3;
  return 3 - view.rank + extent;
}

/// Whether a view has other extents than the elements leave it.
bool fits_not(const Declared& tensor, const Extents& elements) {
  if (tensor.given == nullptr || tensor.is_value()) return false;
  const TensorView& view = tensor.given->view;
  const Extents left = detail::extents_after(tensor.extent, elements);
  Extents missing = left;
  for (std::size_t i = 0; i < view.rank; ++i) {
    const std::size_t place = place_of(view, *tensor.tensor.shape, i);
    if (place == 2 && *tensor.tensor.shape == Shape::gathered) continue;
    const std::int64_t wanted = place < 4 ? left[place] : 1;
    if (place < 4) missing[place] = 1;
    if (view.extents[i] != wanted && (tensor.is_output || view.extents[i] != 1)) return true;
  }
  const bool is_whole = *tensor.tensor.shape == Shape::scalar ||
                        std::ranges::all_of(missing, [](std::int64_t e) { return e == 1; });
  return tensor.is_output && detail::is_matrix(*tensor.tensor.shape) && !is_whole;
}

/// Whether a stride is odd that is not the one between neighbours.
bool has_odd_strides(const TensorView& view) {
  bool has_neighbours = false;
  for (std::size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] <= 1 || view.strides[i] % 2 == 0) continue;
    if (has_neighbours || view.strides[i] != 1) return true;
    has_neighbours = true;
  }
  return false;
}

bool overlaps(const TensorView& view) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] == 0) return false;
    if (view.extents[i] > 1) axes.push_back(i);
  }
  std::ranges::sort(axes, {}, [&](std::size_t axis) { return view.strides[axis]; });
  std::int64_t reached = 0;
  for (const std::size_t axis : axes) {
    if (view.strides[axis] <= reached) return true;
    reached += (view.extents[axis] - 1) * view.strides[axis];
  }
  return false;
}

/// A rule that a campaign's problems break now and then: what its message holds, and whether it is broken.
struct Rule {
  std::string_view words;
  bool (*is_broken)(const Args& args);
};

constexpr Rule rules[] = {
    {"at most 8 tensors",
     [](const Args& a) {
       const std::size_t needed = a.expression.inputs().size() + a.expression.outputs().size();
       return std::max(needed, a.tensors.size()) > 8;
     }},
    {"missing", [](const Args& a) { return some(a, [](const Declared& t) { return t.given == nullptr; }); }},
    {"is given twice",
     [](const Args& a) {
       return std::ranges::any_of(
           a.tensors, [&](const auto& t) { return detail::find_tensor(a.tensors, t.name) != &t; });
     }},
    {"is not in the expression",
     [](const Args& a) {
       const auto all = declared(a);
       return std::ranges::any_of(a.tensors, [&](const ExpressionTensor& given) {
         return std::ranges::none_of(all, [&](const Declared& t) { return t.tensor.name == given.name; });
       });
     }},
    {"take types of whole bytes",
     [](const Args& a) {
       return some(a, [](const Declared& t) {
         return t.given != nullptr && !t.is_value() && bytes_of(t.given->view.dtype) == 0;
       });
     }},
    {"two of which share a byte",
     [](const Args& a) {
       return some(a, [](const Declared& t) {
         return t.given != nullptr && bits_of(t.given->view.dtype) == 4 && has_odd_strides(t.given->view);
       });
     }},
    {"its pointer is not a multiple",
     [](const Args& a) {
       return some(a, [](const Declared& t) {
         return t.given != nullptr && !t.is_value() &&
                t.given->view.assumed_alignment % std::max(1, bytes_of(t.given->view.dtype)) != 0;
       });
     }},
    {"is declared",
     [](const Args& a) {
       return some(a, [](const Declared& t) {
         return t.given != nullptr && !t.is_value() && t.tensor.dtype != DType::none &&
                t.tensor.dtype != t.given->view.dtype;
       });
     }},
    {"such a scalar is given as a tensor",
     [](const Args& a) {
       return some(a, [](const Declared& t) {
         return t.is_value() && (bits_of(t.tensor.dtype) < 8 || is_fp8(t.tensor.dtype));
       });
     }},
    {"does not fit `out`",
     [](const Args& a) {
       const Extents elements = extents_of(a);
       return std::ranges::any_of(declared(a), [&](const Declared& t) { return fits_not(t, elements); });
     }},
    {"overlaps itself",
     [](const Args& a) {
       return some(
           a, [](const Declared& t) { return t.is_output && t.given != nullptr && overlaps(t.given->view); });
     }},
};

/// Strides along four extents, 0 where one element stands for all.
Extents strides_of(const Declared& tensor) {
  Extents strides = {};
  const TensorView& view = tensor.given->view;
  for (std::size_t i = 0; i < view.rank; ++i) {
    const std::size_t place = place_of(view, *tensor.tensor.shape, i);
    if (place < 4 && view.extents[i] != 1) strides[place] = view.strides[i];
  }
  return strides;
}

/// The extent along which a thread's elements lie: the first output's fastest one, or where there are
/// reductions or no elements the last one.
std::size_t innermost(const Args& args, const Extents& elements) {
  const bool is_empty = std::ranges::find(elements, 0) != elements.end();
  if (is_empty || detail::has_reductions(args.expression) || detail::gathers(args.expression)) return 3;
  const auto all = declared(args);
  const auto output = std::ranges::find_if(all, &Declared::is_output);
  const Extents strides = strides_of(*output);
  std::size_t fastest = 3;
  bool is_found = false;
  for (std::size_t i = 0; i < 4; ++i) {
    if (elements[i] <= 1 || (is_found && strides[i] >= strides[fastest])) continue;
    fastest = i;
    is_found = true;
  }
  return fastest;
}

/// Whether a kernel of several elements a thread cannot take a tensor for this reason.
bool has_fault(Reason reason, const KernelMetadata& kernel, const Args& args, const Declared& tensor) {
  Extents elements = extents_of(args);
  const Extents strides = strides_of(tensor);
  const std::size_t inner = innermost(args, elements);
  if (tensor.tensor.shape == Shape::gathered) elements[2] = 2;  // any of them
  const TensorView& view = tensor.given->view;
  const int bytes = std::min(16, kernel.operands.out.alignment * bytes_of(view.dtype));
  switch (reason) {
    case Reason::layout: return elements[inner] > 1 && strides[inner] > 1;
    case Reason::pointer_alignment: return view.assumed_alignment % bytes != 0;
    case Reason::leading_alignment:
      for (std::size_t i = 0; i < 4; ++i) {
        if (i != inner && elements[i] > 1 && strides[i] * bytes_of(view.dtype) % bytes != 0) return true;
      }
      return false;
    default: return false;
  }
}

std::string fault_of_invalid(const std::string& message, const Args& args) {
  for (const Rule& rule : rules) {
    if (message.find(rule.words) == message.npos) continue;
    return rule.is_broken(args) ? "" : "no rule is broken: " + message;
  }
  return "the message names no rule: " + message;
}

}  // namespace

Extents extents_of(const Args& args) {
  Extents extents = {1, 1, 1, 1};
  const expression::Output* chosen = nullptr;
  for (const expression::Output& output : args.expression.outputs()) {
    if (output.extent != expression::Extent::element) continue;
    if (chosen == nullptr || output.tensor.name == "out") chosen = &output;
  }
  if (chosen == nullptr) return extents;
  const ExpressionTensor* const given = detail::find_tensor(args.tensors, chosen->tensor.name);
  if (given == nullptr) return extents;
  std::copy_n(given->view.extents.begin(), given->view.rank, extents.end() - given->view.rank);
  return extents;
}

bool rounds_to_bytes(const Args& args) {
  return std::ranges::none_of(args.expression.graph().nodes, [](const detail::Node& node) {
    return node.kind == detail::NodeKind::convert && bytes_of(static_cast<DType>(node.which)) == 0;
  });
}

std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const Args& args) {
  const std::string message = status.message();
  if (status.code() == StatusCode::invalid_arguments) return fault_of_invalid(message, args);
  if (status.code() != StatusCode::unsupported) return "refused with another code: " + message;
  const auto fault = [&](bool is_true) { return is_true ? "" : "the cause is not true: " + message; };
  if (message.starts_with("Values are not rounded to")) return fault(!rounds_to_bytes(args));
  for (const Declared& tensor : declared(args)) {
    if (tensor.given == nullptr || tensor.is_value()) continue;
    const auto place = static_cast<int>(tensor.given - args.tensors.data());
    const Operand name = tensor.tensor.name == "out" ? Operand::out : tensor_operand(place);
    if (name == status.operand()) return fault(has_fault(status.reason(), kernel, args, tensor));
  }
  return "the message names no tensor: " + message;
}

std::string fault_of_empty_answer(const Status& status, const Args& args) {
  const std::string message = status.message();
  if (status.code() == StatusCode::invalid_arguments) return fault_of_invalid(message, args);
  const auto holds = [&](std::string_view words) { return message.find(words) != message.npos; };
  const bool is_named = holds("The filter") || holds("machine code") || holds("Operand `") ||
                        (holds("Values are not rounded to") && !rounds_to_bytes(args));
  return is_named ? "" : "the message names no cause: " + message;
}

}  // namespace quarry::lab::elementwise
