#include "operations/common/expression/printer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace quarry::detail {
namespace {

/// Deeper values get a name, well in front of the parser's limit.
constexpr int deep = 50;

class Printer {
 public:
  Printer(std::vector<Spelled> values, const std::vector<SpelledOutput>& outputs,
          const std::vector<std::string_view>& taken)
      : values_(std::move(values)), nesting_(values_.size()), uses_(values_.size()) {
    const auto clashes = [this](std::string_view name) {
      return name.starts_with(prefix_) && name.find_first_not_of("0123456789", prefix_.size()) == name.npos;
    };
    while (std::any_of(taken.begin(), taken.end(), clashes)) prefix_ += "_";
    for (const Spelled& value : values_) {
      for (const std::size_t operand : value.operands) ++uses_[operand];
    }
    for (const SpelledOutput& output : outputs) ++uses_[output.value];
  }

  std::string all(const std::vector<SpelledOutput>& outputs) {
    std::size_t next = 0;
    for (const SpelledOutput& output : outputs) {
      for (; next <= output.value; ++next) {
        const bool is_root = next == output.value;
        compose(next);
        const bool shared = uses_[next] > 1 && !is_leaf_[next];
        const bool is_deep = nesting_[next] > deep && !is_root;
        if ((shared && !(is_root && output.can_be_named)) || is_deep)
          name(next, prefix_ + std::to_string(locals_++));
      }
      const bool was_leaf = is_leaf_[output.value];
      const std::string value = values_[output.value].text;
      assign(output.name, value);
      if (output.can_be_named && !was_leaf) become(output.value, output.name);
    }
    return std::move(text_);
  }

 private:
  void assign(const std::string& name, const std::string& value) {
    text_ += (text_.empty() ? "" : "; ") + name + " = " + value;
  }

  /// From here on a value is spelled as a name.
  void become(std::size_t at, const std::string& name) {
    values_[at] = {.text = name};
    nesting_[at] = 0;
  }

  void name(std::size_t at, const std::string& name) {
    assign(name, values_[at].text);
    become(at, name);
    is_leaf_[at] = true;
  }

  /// An operand, in parentheses if it binds less tightly than `least`; counts how deep it nests.
  std::string operand(std::size_t at, Binding least, int& nesting) {
    const Spelled& value = values_[at];
    const bool enclosed = value.binding < least;
    nesting = std::max(nesting, nesting_[at] + (enclosed ? 1 : 0));
    return enclosed ? "(" + value.text + ")" : value.text;
  }

  /// Replaces the text of an operator or a function by all that is read of it.
  void compose(std::size_t at) {
    is_leaf_.resize(std::max(is_leaf_.size(), at + 1));
    Spelled& value = values_[at];
    is_leaf_[at] = value.operands.empty();
    if (is_leaf_[at]) return;
    int nesting = 0;
    std::string text;
    if (value.is_gather) {
      text = value.text + "[" + operand(value.operands[0], Binding::disjunction, nesting) + "]";
    } else if (value.binding == Binding::tight) {
      for (const std::size_t id : value.operands) {
        text += (text.empty() ? "" : ", ") + operand(id, Binding::disjunction, nesting);
      }
      text = value.text + "(" + text + ")";
      ++nesting;
    } else if (value.operands.size() == 1) {
      text =
          value.text + (value.text == "not" ? " " : "") + operand(value.operands[0], value.binding, nesting);
      ++nesting;
    } else {
      const auto tighter = static_cast<Binding>(static_cast<int>(value.binding) + 1);
      const Binding left = value.binding == Binding::comparison ? tighter : value.binding;
      text = operand(value.operands[0], left, nesting) + " " + value.text + " ";
      text += operand(value.operands[1], tighter, nesting);
    }
    value.text = std::move(text);
    nesting_[at] = nesting;
  }

  std::vector<Spelled> values_;
  std::vector<int> nesting_;
  std::vector<int> uses_;
  std::vector<bool> is_leaf_;
  std::string prefix_ = "t";
  int locals_ = 0;
  std::string text_;
};

}  // namespace

std::string statements_of(std::vector<Spelled> values, const std::vector<SpelledOutput>& outputs,
                          const std::vector<std::string_view>& taken) {
  return Printer(std::move(values), outputs, taken).all(outputs);
}

std::string number_text(double value, bool as_f32) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[32];
  const auto end = as_f32 ? std::to_chars(text, text + sizeof text, static_cast<float>(value)).ptr
                          : std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

}  // namespace quarry::detail
