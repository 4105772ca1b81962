#include "lab/expression/reference.hpp"

#include <numeric>

#include "lab/problems/matrices.hpp"

namespace quarry::lab {
namespace {

std::int64_t groups_of(std::int64_t columns) {
  return (columns + expression::group_columns - 1) / expression::group_columns;
}

host::Extents4 extents_after(expression::Extent extent, host::Extents4 extents) {
  using expression::Extent;
  switch (extent) {
    case Extent::element: return extents;
    case Extent::group: return {extents[0], extents[1], extents[2], groups_of(extents[3])};
    case Extent::row: return {extents[0], extents[1], extents[2], 1};
    case Extent::column: return {extents[0], extents[1], 1, extents[3]};
    default: return {1, 1, 1, 1};
  }
}

struct KeepExpected {
  std::vector<ExpectedOutput>& outputs;

  void operator()(std::size_t output, const host::ElementPlace& place, const Bounded& value) const {
    outputs[output].values[outputs[output].index(place)] = value;
  }
};

using Reduction = host::Interpreter<BoundedArithmetic, KeepExpected>;

std::vector<ExpectedOutput> empty_outputs(const Expression& expression, const host::Extents4& extents) {
  std::vector<ExpectedOutput> outputs;
  for (const expression::Output& output : expression.outputs()) {
    const host::Extents4 after = extents_after(output.extent, extents);
    const std::int64_t count = after[0] * after[1] * after[2] * after[3];
    outputs.push_back({after, std::vector<Bounded>(static_cast<std::size_t>(count))});
  }
  return outputs;
}

/// What a reduction adds up one after another: a part's values, and then the parts' sums.
double terms_of(const host::Extents4& extents) {
  const std::int64_t parts = extents[0] * extents[1] * extents[2] * groups_of(extents[3]);
  return static_cast<double>(expression::group_columns + parts);
}

}  // namespace

std::vector<ExpectedOutput> expression_reference(const Expression& expression, const host::Extents4& extents,
                                                 std::span<const host::HostOperand> inputs, SumsAt sums,
                                                 const void* context, const std::vector<bool>& rough) {
  std::vector<ExpectedOutput> outputs = empty_outputs(expression, extents);
  Reduction interpreter(expression.graph(), extents, inputs, BoundedArithmetic(terms_of(extents)), {outputs},
                        rough);
  interpreter.run([&](const host::ElementPlace& place) {
    return sums == nullptr ? host::PartSums() : sums(context, place);
  });
  return outputs;
}

ReferenceOfParts expression_reference_of(const Expression& expression, std::span<const ReferencePart> parts,
                                         std::span<const host::HostOperand> inputs, SumsAt sums,
                                         const std::vector<bool>& rough) {
  double terms = 0;
  for (const ReferencePart& part : parts) terms += terms_of(part.extents);
  const BoundedArithmetic arithmetic(terms);
  ReferenceOfParts reference = {{}, empty_outputs(expression, {})};
  Reduction all(expression.graph(), {}, inputs, arithmetic, {reference.all}, rough);
  for (const ReferencePart& part : parts) {
    reference.parts.push_back(empty_outputs(expression, part.extents));
    Reduction own(expression.graph(), part.extents, part.inputs, arithmetic, {reference.parts.back()}, rough);
    own.run_elements([&](const host::ElementPlace& place) { return sums(part.context, place); });
    own.finish_lines();
    all.add_all(own);
  }
  all.finish_all();
  return reference;
}

Expected bounded_output(Operand name, const TensorView& view, const std::vector<std::int64_t>& rows) {
  Expected expected = expected_output(name, view, rows);
  expected.radii.resize(expected.values.size());
  return expected;
}

std::vector<std::int64_t> all_rows(const TensorView& view) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(Matrices(view).rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return rows;
}

void put_line(const ExpectedOutput& values, std::int64_t line, Expected& expected) {
  std::size_t at = static_cast<std::size_t>(line) * values.values.size();
  for (const Bounded& value : values.values) {
    expected.values[at] = value.value;
    expected.radii[at++] = value.radius;
  }
}

std::int64_t wrong_elements(const ExpectedOutput& expected, const host::HostOperand& output,
                            std::int64_t& unknown) {
  std::int64_t wrong = 0;
  host::ElementPlace place = {};
  const auto all = [&](std::size_t along, const auto& inner) {
    for (place[along] = 0; place[along] < expected.extents[along]; ++place[along]) inner();
  };
  const auto element = [&] {
    const Bounded& value = expected.values[expected.index(place)];
    const double got = host::read_element(output.type, output.data, output.index(place));
    if (!value.is_known()) ++unknown;
    if (!could_be_stored(value, output.type, got)) ++wrong;
  };
  all(0, [&] { all(1, [&] { all(2, [&] { all(3, element); }); }); });
  return wrong;
}

}  // namespace quarry::lab
