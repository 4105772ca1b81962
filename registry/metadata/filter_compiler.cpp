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
      const FilterNode& node = tree_[id];
      switch (node.kind) {
        case FilterNodeKind::conjunction: then = condition(node.right, free, then, otherwise); break;
        case FilterNodeKind::disjunction: otherwise = condition(node.right, free, then, otherwise); break;
        case FilterNodeKind::negation: std::swap(then, otherwise); break;
        case FilterNodeKind::constant: return node.integer != 0 ? then : otherwise;
        case FilterNodeKind::field:
          return field_in_range(node, range_of(Comparison::equal, 1), then, otherwise);
        case FilterNodeKind::has: return has(node, then, otherwise);
        case FilterNodeKind::in: return in(node, free, then, otherwise);
        default: return comparison(node, free, then, otherwise);
      }
      id = node.left;
    }
  }

  InstructionIndex field_in_range(const FilterNode& field, const Range& range, InstructionIndex then,
                                  InstructionIndex otherwise) {
    return program_.add({.opcode = Opcode::field_in_range,
                         .then = then,
                         .otherwise = otherwise,
                         .number = field.field->number,
                         .range = range});
  }

  InstructionIndex field_in_set(const FilterNode& field, std::uint64_t set, InstructionIndex then,
                                InstructionIndex otherwise) {
    return program_.add({.opcode = Opcode::field_in_set,
                         .then = then,
                         .otherwise = otherwise,
                         .number = field.field->number,
                         .set = set});
  }

  InstructionIndex has(const FilterNode& node, InstructionIndex then, InstructionIndex otherwise) {
    if (node.field->number == nullptr) return then;
    return program_.add({.opcode = Opcode::field_present,
                         .then = then,
                         .otherwise = otherwise,
                         .number = node.field->number});
  }

  InstructionIndex comparison(const FilterNode& node, Register free, InstructionIndex then,
                              InstructionIndex otherwise) {
    const FilterNode& left = tree_[node.left];
    const FilterNode& right = tree_[node.right];
    if (left.type == FilterValueType::text) return texts(node.comparison, left, right, then, otherwise);
    if (node.comparison == Comparison::contains) {
      return field_in_set(left, words_with(*left.field, right.text), then, otherwise);
    }
    const bool constant = right.kind == FilterNodeKind::constant && right.type != FilterValueType::decimal;
    if (constant && left.kind == FilterNodeKind::field) {
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

  InstructionIndex texts(Comparison op, const FilterNode& left, const FilterNode& right,
                         InstructionIndex then, InstructionIndex otherwise) {
    return program_.add({.opcode = Opcode::compare_texts,
                         .comparison = op,
                         .then = then,
                         .otherwise = otherwise,
                         .texts = {text(left), text(right)}});
  }

  TextOperand text(const FilterNode& node) {
    if (node.kind == FilterNodeKind::field) return {.field = node.field->text};
    return {.constant = program_.keep(node.text)};
  }

  /// Compares the register `target` with the value of an expression; goes to `failed` where that has none.
  InstructionIndex compare_with(Comparison op, NodeId right, Register target, InstructionIndex then,
                                InstructionIndex otherwise, InstructionIndex failed) {
    const FilterNode& node = tree_[right];
    const bool decimal = node.type == FilterValueType::decimal;
    if (node.kind == FilterNodeKind::constant && !decimal) {
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

  InstructionIndex in(const FilterNode& node, Register free, InstructionIndex then,
                      InstructionIndex otherwise) {
    const FilterNode& left = tree_[node.left];
    if (left.kind == FilterNodeKind::field && left.type == FilterValueType::word) {
      if (const auto set = constant_words(node.right)) return field_in_set(left, *set, then, otherwise);
    }
    InstructionIndex next = otherwise;
    for (NodeId id = node.right; id != no_node; id = tree_[id].left) {
      const NodeId item = tree_[id].right;
      next = left.type == FilterValueType::text
                 ? texts(Comparison::equal, left, tree_[item], then, next)
                 : compare_with(Comparison::equal, item, free, then, next, next);
    }
    return left.type == FilterValueType::text ? next : value(node.left, free, next, otherwise);
  }

  /// The set of the items' words, if all of them are constants.
  std::optional<std::uint64_t> constant_words(NodeId id) const {
    std::uint64_t set = 0;
    for (; id != no_node; id = tree_[id].left) {
      const FilterNode& item = tree_[tree_[id].right];
      if (item.kind != FilterNodeKind::constant) return std::nullopt;
      set |= std::uint64_t{1} << item.integer;
    }
    return set;
  }

  /// Computes an expression into the register `target`, using those behind it, and goes to `then`; to
  /// `failed` where it has no value.
  InstructionIndex value(NodeId id, Register target, InstructionIndex then, InstructionIndex failed) {
    for (;;) {
      const FilterNode& node = tree_[id];
      switch (node.kind) {
        case FilterNodeKind::arithmetic: then = compute(node, target, then, failed); break;
        case FilterNodeKind::widen:
          then = program_.add({.opcode = Opcode::widen, .target = target, .then = then});
          break;
        case FilterNodeKind::field: return load_field(node, target, then, failed);
        case FilterNodeKind::constant: return load_constant(constant_of(node), target, then);
        default: return truth(id, target, then);
      }
      id = node.left;
    }
  }

  /// The right operand and the operation; the left operand comes before both.
  InstructionIndex compute(const FilterNode& node, Register target, InstructionIndex then,
                           InstructionIndex failed) {
    const bool decimal = node.type == FilterValueType::decimal;
    const InstructionIndex operation =
        program_.add({.opcode = decimal ? Opcode::compute_decimals : Opcode::compute_integers,
                      .arithmetic = node.arithmetic,
                      .target = target,
                      .then = then,
                      .otherwise = failed});
    return value(node.right, after(target), operation, failed);
  }

  InstructionIndex load_field(const FilterNode& node, Register target, InstructionIndex then,
                              InstructionIndex failed) {
    return program_.add({.opcode = Opcode::load_field,
                         .target = target,
                         .then = then,
                         .otherwise = failed,
                         .number = node.field->number});
  }

  static Value constant_of(const FilterNode& node) {
    if (node.type == FilterValueType::decimal) return {.decimal = node.decimal};
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
