/// Expressions of grouped GEMMs in the lab: their tensors, random ones, what they should give.
#pragma once

#include <string>
#include <vector>

#include "lab/problems/dice.hpp"
#include "lab/problems/settings.hpp"
#include "lab/reference/reference.hpp"
#include "operations/gemm/lab/part_expression.hpp"
#include "operations/grouped_gemm/lab/problem.hpp"
#include "quarry/grouped_gemm.hpp"
#include "quarry/metadata.hpp"

namespace quarry::lab::grouped_gemm {

/// Reads the expression's settings.
void read_expression(SettingReader& reader, Problem& problem);

/// The same as text; empty where there is no expression.
std::string expression_text(const Problem& problem);

/// Gives the arguments the problem's expression, with fake tensors. Matrices lie as the output does.
void add_expression(const Problem& problem, GroupedGemmArguments& arguments);

/// Whether a kernel takes expressions with such parts.
bool takes_expression(const KernelMetadata& kernel, const gemm::WideParts& parts = {});

/// Gives the problem an expression with such parts in the place of its epilogue: one with a tensor of each
/// shape, of which some have values for each group. @pre sizes and types are there
void make_expression(Problem& problem, const gemm::WideParts& parts);

/// One that reads rows of tables, of which some are of each group.
void make_gathered_expression(Problem& problem);

/// As make_expression without parts or with lines, or a random expression.
void draw_expression(Problem& problem, Dice& dice);

/// Gives arguments without an epilogue a random expression, with tensors that are stored in any way, of which
/// some have values for each group. @pre A, B and `out` are there, of half as many columns as B for pairs
void add_random_expression(GroupedGemmArguments& arguments, const gemm::WideParts& parts, Dice& dice);

/// All outputs, each value with what a right result may be off by, as of a GEMM; nothing is said of rows
/// outside of all groups. @pre the arguments have an expression, and some kernel takes them
Reference reference_with_expression(const GroupedGemmArguments& arguments, const ReferenceOptions& options);

}  // namespace quarry::lab::grouped_gemm
