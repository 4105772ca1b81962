/// What an expression gives, in float64.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lab/expression/bounded.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/expression/interpreter.hpp"
#include "quarry/expression.hpp"

namespace quarry::lab {

/// What a node of an expression costs for one element, in multiplications of a sum (see ReferenceOptions):
/// each value comes with an interval, and the interpreter goes from node to node.
inline constexpr std::int64_t node_cost = 50;

/// The values of an output, by outer extents, rows and columns, of which a reduction leaves 1, or one for
/// each group of columns.
struct ExpectedOutput {
  host::Extents4 extents = {};
  std::vector<Bounded> values;

  std::size_t index(const host::ElementPlace& place) const {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < 4; ++i) at = at * extents[i] + place[i];
    return static_cast<std::size_t>(at);
  }
};

/// The sums of the part of a row that begins at a place, as an operation computes them; null for those that
/// there are not.
using SumsAt = host::PartSums (*)(const void* context, const host::ElementPlace& place);

/// All outputs of an expression, in its order.
/// @param inputs in its order
/// @param rough of each node whether kernels compute it roughly (detail::rough_nodes); empty: none
std::vector<ExpectedOutput> expression_reference(const Expression& expression, const host::Extents4& extents,
                                                 std::span<const host::HostOperand> inputs,
                                                 SumsAt sums = nullptr, const void* context = nullptr,
                                                 const std::vector<bool>& rough = {});

/// One of several problems with the same expression.
struct ReferencePart {
  host::Extents4 extents = {};
  std::vector<host::HostOperand> inputs;
  const void* context = nullptr;  ///< of its sums
};

/// What an expression gives of several problems.
struct ReferenceOfParts {
  /// All outputs of each problem; nothing is said of reductions of all elements.
  std::vector<std::vector<ExpectedOutput>> parts;
  /// All outputs, of which only those are known that are reductions of all elements of all problems.
  std::vector<ExpectedOutput> all;
};

/// The same of several problems, whose elements are reduced together where all are.
/// @param inputs of what is made of all elements
ReferenceOfParts expression_reference_of(const Expression& expression, std::span<const ReferencePart> parts,
                                         std::span<const host::HostOperand> inputs, SumsAt sums,
                                         const std::vector<bool>& rough);

/// The output of an operation, as expected_output() makes it, of which it will be known how far off each
/// value may be.
Expected bounded_output(Operand name, const TensorView& view, const std::vector<std::int64_t>& rows);

/// The rows of all matrices of a view, as Expected has them.
std::vector<std::int64_t> all_rows(const TensorView& view);

/// Puts an output's values for one line of elements where they belong in all that is expected.
/// @param line its number there
void put_line(const ExpectedOutput& values, std::int64_t line, Expected& expected);

/// How many of an output's elements in host memory cannot be the values of the reference.
/// @param unknown counts the elements of which the reference says nothing
std::int64_t wrong_elements(const ExpectedOutput& expected, const host::HostOperand& output,
                            std::int64_t& unknown);

}  // namespace quarry::lab
