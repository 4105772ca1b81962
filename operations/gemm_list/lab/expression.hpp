/// Expressions of lists of GEMMs in the lab: their tensors, random ones, and a problem's part of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/problems/dice.hpp"
#include "lab/problems/settings.hpp"
#include "operations/gemm/lab/part_expression.hpp"
#include "operations/gemm_list/lab/problem.hpp"
#include "quarry/gemm_list.hpp"
#include "quarry/metadata.hpp"

namespace quarry::lab::gemm_list {

/// Reads the expression's settings.
void read_expression(SettingReader& reader, Problem& problem);

/// The same as text; empty where there is no expression.
std::string expression_text(const Problem& problem);

/// Gives the arguments the problem's expression, with fake tensors. Matrices are as aligned as the output.
void add_expression(const Problem& problem, GemmListArguments& arguments);

/// Whether a kernel takes expressions with such parts.
bool takes_expression(const KernelMetadata& kernel, const gemm::WideParts& parts = {});

/// Gives the problem an expression in the place of its epilogue: one with these parts and a tensor of each
/// shape, of which some have values for each problem. With gated pairs, the bound of N becomes a multiple of
/// 32. @pre bounds and types are there
void make_expression(Problem& problem, const gemm::WideParts& parts);

/// The same with rows of tables, of which some are of each problem.
void make_gathered_expression(Problem& problem);

/// As make_expression, or a random expression.
void draw_expression(Problem& problem, const gemm::WideParts& parts, Dice& dice);

/// Makes N of problems with gated pairs whole units of a kernel. Where sizes make no sense, it is more than
/// these by a column, or of pairs in blocks by a block and a column.
void fit_pairs(Problem& problem, const KernelMetadata& kernel, bool is_spoiled);

/// Gives arguments without an epilogue a random expression, with tensors that are stored in any way, of which
/// some have values for each problem. @pre `out` is there, of half as many columns as B for pairs
void add_random_expression(GemmListArguments& arguments, const gemm::WideParts& parts, Dice& dice);

/// What tensors have for some rows of a problem: a GEMM's tensors, in the same order.
/// @param rows from this one on, and how many @param columns that the problem's output has
std::vector<ExpressionTensor> tensors_of(const GemmListArguments& arguments, int problem, std::int64_t row,
                                         std::int64_t rows, std::int64_t columns);

}  // namespace quarry::lab::gemm_list
