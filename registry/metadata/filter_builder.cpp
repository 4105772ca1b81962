#include "registry/metadata/filter_builder.hpp"

#include <algorithm>
#include <utility>

#include "basic/text.hpp"
#include "basic/words.hpp"

namespace quarry::detail {
namespace {

/// The type as messages call it.
std::string_view title(FilterValueType type) {
  switch (type) {
    case FilterValueType::boolean: return "a condition";
    case FilterValueType::integer:
    case FilterValueType::decimal: return "a number";
    case FilterValueType::word: return "a word";
    default: return "a text";
  }
}

FilterValueType type_of(const Field& field) {
  switch (field.type) {
    case FieldType::integer: return FilterValueType::integer;
    case FieldType::boolean: return FilterValueType::boolean;
    case FieldType::word: return FilterValueType::word;
    case FieldType::text: break;
  }
  return FilterValueType::text;
}

bool is_number(FilterValueType type) {
  return type == FilterValueType::integer || type == FilterValueType::decimal;
}

}  // namespace

NodeId TreeBuilder::add(const FilterNode& node) {
  tree_.nodes.push_back(node);
  return static_cast<NodeId>(tree_.nodes.size() - 1);
}

NodeId TreeBuilder::fail(std::size_t offset, const std::string& what, StatusCode code) {
  if (status_) status_ = error_at(code, what, text_, offset);
  return add({.kind = FilterNodeKind::constant, .type = FilterValueType::invalid, .offset = offset});
}

Result<Tree> TreeBuilder::finish(NodeId root) {
  if (failed()) return status_;
  tree_.root = root;
  return std::move(tree_);
}

NodeId TreeBuilder::integer(std::int64_t value, std::size_t offset) {
  return add({.type = FilterValueType::integer, .offset = offset, .integer = value});
}

NodeId TreeBuilder::decimal(double value, std::size_t offset) {
  return add({.type = FilterValueType::decimal, .offset = offset, .decimal = value});
}

NodeId TreeBuilder::boolean(bool value, std::size_t offset) {
  return add({.type = FilterValueType::boolean, .offset = offset, .integer = value ? 1 : 0});
}

NodeId TreeBuilder::text(std::string_view value, std::size_t offset) {
  return add({.type = FilterValueType::text, .offset = offset, .text = value});
}

NodeId TreeBuilder::name(std::string_view name, std::size_t offset) {
  return add({.kind = FilterNodeKind::name, .type = FilterValueType::name, .offset = offset, .text = name});
}

/// A name becomes the field that it must be.
void TreeBuilder::settle(NodeId node) {
  if (at(node).kind != FilterNodeKind::name) return;
  const auto field = find_field(at(node).text);
  if (!field) {
    fail(at(node).offset, field.status().message(), field.status().code());
    at(node).type = FilterValueType::invalid;
    return;
  }
  at(node).kind = FilterNodeKind::field;
  at(node).type = type_of(**field);
  at(node).field = *field;
}

/// A name or a text becomes a word of the field.
void TreeBuilder::become_word(NodeId node, const Field& field) {
  FilterNode& word = at(node);
  const auto value = value_of(field.words, word.text);
  word.kind = FilterNodeKind::constant;
  word.type = value ? FilterValueType::word : FilterValueType::invalid;
  word.field = &field;
  word.integer = static_cast<std::int64_t>(value.value_or(0));
  if (value) return;
  const std::string what = "word of " + std::string(shortest_path(field));
  fail(word.offset, unknown_word(what, word.text, field.words));
}

/// A name becomes what the expression beside it makes of it: a word or a text, or else a field.
void TreeBuilder::settle_beside(NodeId node, NodeId other) {
  FilterNode& self = at(node);
  const FilterNode& beside = at(other);
  const bool bare = self.kind == FilterNodeKind::name;
  const bool quote = self.kind == FilterNodeKind::constant && self.type == FilterValueType::text;
  const bool field = bare && names_field(self.text);
  if (beside.type == FilterValueType::word && (bare || quote) &&
      (!field || value_of(beside.field->words, self.text))) {
    become_word(node, *beside.field);
  } else if (bare && !field && beside.type == FilterValueType::text) {
    self.kind = FilterNodeKind::constant;
    self.type = FilterValueType::text;
  } else {
    settle(node);
  }
}

/// Settles what is open in two expressions that should have one type. Whether both are valid then.
bool TreeBuilder::settle_both(NodeId left, NodeId right) {
  const auto is_field = [this](NodeId node) {
    return at(node).kind != FilterNodeKind::name || names_field(at(node).text);
  };
  // The side that is surely a field goes first: it says what a bare word on the other side means.
  if (is_field(left) || !is_field(right)) settle(left);
  settle_beside(right, left);
  settle_beside(left, right);
  return at(left).type != FilterValueType::invalid && at(right).type != FilterValueType::invalid;
}

/// Whether two expressions can be compared; reports it where they cannot.
bool TreeBuilder::unify(NodeId left, NodeId right) {
  if (!settle_both(left, right)) return false;
  const FilterNode& l = at(left);
  const FilterNode& r = at(right);
  if (is_number(l.type) && is_number(r.type)) return true;
  if (l.type == r.type) {
    if (l.type != FilterValueType::word || l.field->words.data() == r.field->words.data()) return true;
    fail(r.offset, "cannot compare " + std::string(shortest_path(*l.field)) + " with " +
                       std::string(shortest_path(*r.field)) + ": their words differ");
    return false;
  }
  fail(r.offset, "cannot compare " + std::string(title(l.type)) + " with " + std::string(title(r.type)));
  return false;
}

NodeId TreeBuilder::widen(NodeId node) {
  const FilterNode inner = at(node);
  if (inner.type != FilterValueType::integer) return node;
  if (inner.kind == FilterNodeKind::constant)
    return decimal(static_cast<double>(inner.integer), inner.offset);
  return add({.kind = FilterNodeKind::widen,
              .type = FilterValueType::decimal,
              .left = node,
              .offset = inner.offset});
}

NodeId TreeBuilder::number(NodeId node) {
  settle(node);
  const FilterValueType type = at(node).type;
  if (is_number(type) || type == FilterValueType::invalid) return node;
  return fail(at(node).offset, "expected a number, got " + std::string(title(type)));
}

NodeId TreeBuilder::arithmetic(Arithmetic op, NodeId left, NodeId right) {
  left = number(left);
  right = number(right);
  if (at(left).type == FilterValueType::invalid || at(right).type == FilterValueType::invalid) return add({});
  if (at(left).type != at(right).type) {
    left = widen(left);
    right = widen(right);
  }
  const FilterNode l = at(left);
  const FilterNode r = at(right);
  if (op == Arithmetic::modulo && l.type == FilterValueType::decimal) {
    return fail(l.offset, "`%` takes integers only");
  }
  FilterNode result = {.kind = FilterNodeKind::constant, .type = l.type, .offset = l.offset};
  if (l.kind == FilterNodeKind::constant && r.kind == FilterNodeKind::constant) {
    if (l.type == FilterValueType::integer && compute(op, l.integer, r.integer, result.integer))
      return add(result);
    if (l.type == FilterValueType::decimal && compute(op, l.decimal, r.decimal, result.decimal))
      return add(result);
  }
  return add({.kind = FilterNodeKind::arithmetic,
              .type = l.type,
              .arithmetic = op,
              .left = left,
              .right = right,
              .offset = l.offset});
}

NodeId TreeBuilder::compare(Comparison op, NodeId left, NodeId right, std::size_t offset) {
  if (!unify(left, right)) return add({});
  const FilterValueType type = at(left).type;
  const bool ordered = op != Comparison::equal && op != Comparison::not_equal;
  if (ordered && (type == FilterValueType::word || type == FilterValueType::boolean)) {
    const std::string_view what = type == FilterValueType::word ? "words" : "conditions";
    return fail(offset, std::string(what) + " have no order; expected `==` or `!=`");
  }
  if (at(left).type != at(right).type) {
    left = widen(left);
    right = widen(right);
  }
  FilterNode node = {.kind = FilterNodeKind::compare,
                     .type = FilterValueType::boolean,
                     .comparison = op,
                     .left = left,
                     .right = right,
                     .offset = at(left).offset};
  if (at(left).kind == FilterNodeKind::constant && at(right).kind != FilterNodeKind::constant) {
    std::swap(node.left, node.right);
    node.comparison = mirrored(op);
  }
  return add(node);
}

NodeId TreeBuilder::contains(NodeId left, NodeId right) {
  settle(left);
  if (at(right).kind == FilterNodeKind::name && !names_field(at(right).text)) {
    at(right).kind = FilterNodeKind::constant;
    at(right).type = FilterValueType::text;
  }
  settle(right);
  const FilterNode l = at(left);
  const FilterNode r = at(right);
  if (l.type == FilterValueType::invalid || r.type == FilterValueType::invalid) return add({});
  if (l.type != FilterValueType::text && l.type != FilterValueType::word) {
    return fail(l.offset, "expected a text or a word in front of `~`, got " + std::string(title(l.type)));
  }
  if (r.type != FilterValueType::text) {
    return fail(r.offset,
                "expected a text behind `~`, got " + std::string(title(r.type)) + "; a text may need quotes");
  }
  if (l.type == FilterValueType::word && r.kind != FilterNodeKind::constant) {
    return fail(r.offset, "expected a text in quotes behind `~`, got a field");
  }
  return add({.kind = FilterNodeKind::compare,
              .type = FilterValueType::boolean,
              .comparison = Comparison::contains,
              .left = left,
              .right = right,
              .offset = l.offset});
}

NodeId TreeBuilder::in(NodeId left, std::vector<NodeId> items) {
  const std::size_t offset = at(left).offset;
  for (const NodeId item : items) {
    if (!unify(left, item)) return add({});
  }
  const auto is_decimal = [this](NodeId node) { return at(node).type == FilterValueType::decimal; };
  if (is_decimal(left) || std::any_of(items.begin(), items.end(), is_decimal)) {
    left = widen(left);
    for (NodeId& item : items) item = widen(item);
  }
  NodeId last = no_node;
  for (const NodeId item : items) {
    last = add({.kind = FilterNodeKind::item, .type = at(item).type, .left = last, .right = item});
  }
  return add({.kind = FilterNodeKind::in,
              .type = FilterValueType::boolean,
              .left = left,
              .right = last,
              .offset = offset});
}

NodeId TreeBuilder::has(std::string_view path, std::size_t offset) {
  const auto field = find_field(path);
  std::vector<const Field*> fields;
  if (field) fields = {*field};
  if (fields.empty()) fields = find_fields_of(path);
  if (fields.empty()) return fail(offset, field.status().message(), field.status().code());
  NodeId any = no_node;
  for (const Field* each : fields) {
    const NodeId one =
        add({.kind = FilterNodeKind::has, .type = FilterValueType::boolean, .offset = offset, .field = each});
    any = any == no_node ? one : disjunction(any, one);
  }
  return any;
}

NodeId TreeBuilder::condition(NodeId node) {
  settle(node);
  const FilterValueType type = at(node).type;
  if (type == FilterValueType::boolean || type == FilterValueType::invalid) return node;
  return fail(at(node).offset, "expected a condition, got " + std::string(title(type)));
}

NodeId TreeBuilder::join(FilterNodeKind kind, NodeId left, NodeId right) {
  left = condition(left);
  right = condition(right);
  if (at(left).type == FilterValueType::invalid || at(right).type == FilterValueType::invalid) return add({});
  return add({.kind = kind,
              .type = FilterValueType::boolean,
              .left = left,
              .right = right,
              .offset = at(left).offset});
}

NodeId TreeBuilder::negation(NodeId inner, std::size_t offset) {
  inner = condition(inner);
  if (at(inner).type == FilterValueType::invalid) return inner;
  return add(
      {.kind = FilterNodeKind::negation, .type = FilterValueType::boolean, .left = inner, .offset = offset});
}

}  // namespace quarry::detail
