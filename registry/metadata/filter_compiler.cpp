#include "registry/metadata/filter_compiler.hpp"

#include <optional>

#include "registry/metadata/filter_parser.hpp"

namespace quarry::detail {
namespace {

// Parentheses or a sign nest at most a comparison, a sum and a product, each with a value that waits in a
// register.
static_assert(std::size_t{4} * (max_nesting + 1) + 2 < Program::registers);

/// Writes the program backwards: a function is told where to go on afterwards, and gives the place where its
/// own part begins. It recurses where expressions nest on the right, which the parser bounds, and loops along
/// chains on the left.
class Compiler {
 public:
  explicit Compiler(const Tree& tree) : tree_(tree) {}

  Program program() {
    program_.begin_at(condition(tree_.root, 0, Program::accept, Program::reject));
    return std::move(program_);
  }

 private:
  using InstructionIndex = std::uint32_t;
  using Register = std::uint16_t;

  static Register after(Register target) { return static_cast<Register>(target + 1); }

  /// Goes to `then` where the condition holds, to `otherwise` where it does not; may use registers from
  /// `free` on.
  InstructionIndex condition(NodeId id, Register free, InstructionIndex then, InstructionIndex otherwise) {
    for (;;) {
      const Node& node = tree_[id];
      switch (node.kind) {
        case NodeKind::conjunction: then = condition(node.right, free, then, otherwise); break;
        case NodeKind::disjunction: otherwise = condition(node.right, free, then, otherwise); break;
        case NodeKind::negation: std::swap(then, otherwise); break;
        case NodeKind::constant: return node.integer != 0 ? then : otherwise;
        case NodeKind::field: return field_in_range(node, range_of(Comparison::equal, 1), then, otherwise);
        case NodeKind::has: return has(node, then, otherwise);
        case NodeKind::in: return in(node, free, then, otherwise);
        default: return comparison(node, free, then, otherwise);
      }
      id = node.left;
    }
  }

  InstructionIndex field_in_range(const Node& field, const Range& range, InstructionIndex then,
                                  InstructionIndex otherwise) {
    return program_.add({.opcode = Opcode::field_in_range,
                         .then = then,
                         .otherwise = otherwise,
                         .number = field.field->number,
                         .range = range});
  }

  InstructionIndex field_in_set(const Node& field, std::uint64_t set, InstructionIndex then,
                                InstructionIndex otherwise) {
    return program_.add({.opcode = Opcode::field_in_set,
                         .then = then,
                         .otherwise = otherwise,
                         .number = field.field->number,
                         .set = set});
  }

  InstructionIndex has(const Node& node, InstructionIndex then, InstructionIndex otherwise) {
    if (node.field->number == nullptr) return then;
    return program_.add({.opcode = Opcode::field_present,
                         .then = then,
                         .otherwise = otherwise,
                         .number = node.field->number});
  }

  InstructionIndex comparison(const Node& node, Register free, InstructionIndex then,
                              InstructionIndex otherwise) {
    const Node& left = tree_[node.left];
    const Node& right = tree_[node.right];
    if (left.type == ValueType::text) return texts(node.comparison, left, right, then, otherwise);
    if (node.comparison == Comparison::contains) {
      return field_in_set(left, words_with(*left.field, right.text), then, otherwise);
    }
    const bool constant = right.kind == NodeKind::constant && right.type != ValueType::decimal;
    if (constant && left.kind == NodeKind::field) {
      return field_in_range(left, range_of(node.comparison, right.integer), then, otherwise);
    }
    const InstructionIndex test = compare_with(node.comparison, node.right, free, then, otherwise, otherwise);
    return value(node.left, free, test, otherwise);
  }

  /// The words of a field that contain the text, as a set.
  static std::uint64_t words_with(const Field& field, std::string_view text) {
    std::uint64_t set = 0;
    for (std::size_t i = 0; i < field.words.size(); ++i) {
      if (field.words[i].find(text) != text.npos) set |= std::uint64_t{1} << i;
    }
    return set;
  }

  InstructionIndex texts(Comparison op, const Node& left, const Node& right, InstructionIndex then,
                         InstructionIndex otherwise) {
    return program_.add({.opcode = Opcode::compare_texts,
                         .comparison = op,
                         .then = then,
                         .otherwise = otherwise,
                         .texts = {text(left), text(right)}});
  }

  TextOperand text(const Node& node) {
    if (node.kind == NodeKind::field) return {.field = node.field->text};
    return {.constant = program_.keep(node.text)};
  }

  /// Compares the register `target` with the value of an expression; goes to `failed` where that has none.
  InstructionIndex compare_with(Comparison op, NodeId right, Register target, InstructionIndex then,
                                InstructionIndex otherwise, InstructionIndex failed) {
    const Node& node = tree_[right];
    const bool decimal = node.type == ValueType::decimal;
    if (node.kind == NodeKind::constant && !decimal) {
      return program_.add({.opcode = Opcode::register_in_range,
                           .target = target,
                           .then = then,
                           .otherwise = otherwise,
                           .range = range_of(op, node.integer)});
    }
    const InstructionIndex test =
        program_.add({.opcode = decimal ? Opcode::compare_decimals : Opcode::compare_integers,
                      .comparison = op,
                      .target = target,
                      .then = then,
                      .otherwise = otherwise});
    return value(right, after(target), test, failed);
  }

  InstructionIndex in(const Node& node, Register free, InstructionIndex then, InstructionIndex otherwise) {
    const Node& left = tree_[node.left];
    if (left.kind == NodeKind::field && left.type == ValueType::word) {
      if (const auto set = constant_words(node.right)) return field_in_set(left, *set, then, otherwise);
    }
    InstructionIndex next = otherwise;
    for (NodeId id = node.right; id != no_node; id = tree_[id].left) {
      const NodeId item = tree_[id].right;
      next = left.type == ValueType::text ? texts(Comparison::equal, left, tree_[item], then, next)
                                          : compare_with(Comparison::equal, item, free, then, next, next);
    }
    return left.type == ValueType::text ? next : value(node.left, free, next, otherwise);
  }

  /// The set of the items' words, if all of them are constants.
  std::optional<std::uint64_t> constant_words(NodeId id) const {
    std::uint64_t set = 0;
    for (; id != no_node; id = tree_[id].left) {
      const Node& item = tree_[tree_[id].right];
      if (item.kind != NodeKind::constant) return std::nullopt;
      set |= std::uint64_t{1} << item.integer;
    }
    return set;
  }

  /// Computes an expression into the register `target`, using those behind it, and goes to `then`; to
  /// `failed` where it has no value.
  InstructionIndex value(NodeId id, Register target, InstructionIndex then, InstructionIndex failed) {
    for (;;) {
      const Node& node = tree_[id];
      switch (node.kind) {
        case NodeKind::arithmetic: then = compute(node, target, then, failed); break;
        case NodeKind::widen:
          then = program_.add({.opcode = Opcode::widen, .target = target, .then = then});
          break;
        case NodeKind::field: return load_field(node, target, then, failed);
        case NodeKind::constant: return load_constant(constant_of(node), target, then);
        default: return truth(id, target, then);
      }
      id = node.left;
    }
  }

  /// The right operand and the operation; the left operand comes before both.
  InstructionIndex compute(const Node& node, Register target, InstructionIndex then,
                           InstructionIndex failed) {
    const bool decimal = node.type == ValueType::decimal;
    const InstructionIndex operation =
        program_.add({.opcode = decimal ? Opcode::compute_decimals : Opcode::compute_integers,
                      .arithmetic = node.arithmetic,
                      .target = target,
                      .then = then,
                      .otherwise = failed});
    return value(node.right, after(target), operation, failed);
  }

  InstructionIndex load_field(const Node& node, Register target, InstructionIndex then,
                              InstructionIndex failed) {
    return program_.add({.opcode = Opcode::load_field,
                         .target = target,
                         .then = then,
                         .otherwise = failed,
                         .number = node.field->number});
  }

  static Value constant_of(const Node& node) {
    if (node.type == ValueType::decimal) return {.decimal = node.decimal};
    return {.integer = node.integer};
  }

  InstructionIndex load_constant(Value constant, Register target, InstructionIndex then) {
    return program_.add(
        {.opcode = Opcode::load_constant, .target = target, .then = then, .constant = constant});
  }

  /// A condition as a value, 0 or 1.
  InstructionIndex truth(NodeId id, Register target, InstructionIndex then) {
    const InstructionIndex yes = load_constant({.integer = 1}, target, then);
    const InstructionIndex no = load_constant({.integer = 0}, target, then);
    return condition(id, target, yes, no);
  }

  const Tree& tree_;
  Program program_;
};

}  // namespace

Program compile_filter(const Tree& tree) { return Compiler(tree).program(); }

}  // namespace quarry::detail
