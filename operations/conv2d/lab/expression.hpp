/// Expressions of convolutions in the lab: their tensors, random ones, what they should give.
#pragma once

#include "lab/problems/dice.hpp"
#include "lab/reference/reference.hpp"
#include "operations/conv2d/lab/operation.hpp"
#include "quarry/conv2d.hpp"
#include "quarry/metadata.hpp"

namespace quarry::lab::conv2d {

/// Gives the arguments the problem's expression, with fake tensors. A tensor with the output's
/// extents lies as the output does.
void add_expression(const Problem& problem, Conv2dArguments& arguments);

/// Whether a kernel takes expressions.
bool takes_expressions(const KernelMetadata& kernel);

/// Gives the problem an expression with a tensor of each shape in the place of its epilogue. Each output
/// depends on its own sum. @pre sizes and types are there
void make_expression(Problem& problem);

/// The same, or a random expression.
void draw_expression(Problem& problem, Dice& dice);

/// Gives arguments without an epilogue a random expression, with tensors that are stored in several ways.
/// @pre A, B and `out` are there
void add_random_expression(Conv2dArguments& arguments, Dice& dice);

/// All outputs, each value with what a right result may be off by, as of a GEMM.
/// @pre the arguments have an expression, and some kernel takes them
Reference reference_with_expression(const Conv2dArguments& arguments, const ReferenceOptions& options);

}  // namespace quarry::lab::conv2d
