/// An operation as the registry knows it: one row of a constant table, made of the rules in its folder.
///
/// An operation's author writes a struct `Rules` (operations/<name>/operation.hpp) of static functions over
/// types of its own; info_of<Rules> (registry/query/operation_info.hpp) makes the row of it, with the whole
/// loop over candidates inside, so that a query costs one indirect call more than a function would. Rules has
///   Arguments, Problem           the public struct, and what a check makes of it
///   operands(arguments, list)    names each operand, once
///   check(arguments, list, problem)            all checks that do not depend on a kernel
///   describe(arguments, problem)               the problem of arguments that pass them, unchecked
///   keys(problem, add), no_kernel(problem)     which rows can do it, and what to say where none does
///   check_signature(row, problem)              whether it is one of these, operand by operand
///   check_constraints(row, [profile,] problem, device)    whether the row takes it
///   estimate(row, [profile,] problem, device, max_workspace)
///   account(row, [profile,] problem, device, max_workspace)    what the time of `estimate` is made of
/// and, where it has them,
///   Profile, profile(row, device)              what is known of a kernel on a device whatever the problem
///   makes_problem                              `check` and `describe` need no cleared problem: they make one
///   surely_takes(row, profile, problem)        tells of most rows at a glance that they take the problem
///   exchanged(problem)                         the same problem as rows with exchanged operands see it
///   weigh(problem)                             computes once what check_constraints and estimate need for
///                                              every row
///   Question, question(problem)                all that the best candidate depends on: answers are
///                                              remembered
///   expression_word(problem)                   what belongs to the question and lies outside of it: the
///                                              expression, as Question::expression. Where there are
///                                              expressions
///   settle(row, profile, of_kernel, device, problem)    controls
///   workspace_size(row, problem, controls)
/// and, where its kernels are tuned (registry/query/tuned.hpp),
///   TuningQuestion, tuning_question(problem, question)    all that a measured choice depends on, less M,
///                                              which it returns; 0 where there is no such extent
///   expression_hash(problem)                   of the expression with the types of its tensors; 0 where the
///                                              problem has none. Where there are expressions
///   command_text(arguments)                    the problem in the words of the command line, less the
///                                              operation; empty where flags cannot say it
///   no_tuning                                  a text: why there is nothing to choose, where problems are
///                                              only logged
///   check_controls(controls)                   the part of `check` that is about controls alone. Where
///                                              problems have controls
/// and at last
///   launch(row, problem, controls, launch), run_on_host(row, launch, image)
/// and, where the bits of a result may depend on the kernel and the problem's size,
///   required_class(arguments, filter, options)           the class of kernels where they do not
///   make_invariant(arguments, options, whole, filter)    narrows a query down to it
/// and, where expressions are compiled into its kernels,
///   expression_code(expression, name)          the struct that its kernels take as second template argument
///   known_expression(problem)                  the problem's expression, as machine code is looked up by it
/// and `recipe`, how kernels are exported for any shape (operations/common/export_recipe.hpp), or
/// `no_recipe`, a text that says why they are not
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "launch.hpp"
#include "operations/common/export_recipe.hpp"
#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "quarry/account.hpp"
#include "quarry/batch_invariant.hpp"
#include "quarry/expression.hpp"
#include "quarry/registry.hpp"
#include "registry/tuning/measurement.hpp"
#include "registry/tuning/query_options.hpp"

namespace quarry::detail {

/// Whether an answer may come from what this thread asked before, and is kept for later.
enum class Recall : bool { no, yes };

/// What the caller of a batch-invariant query asked, where the query goes on within one class.
struct CallersQuery {
  const void* arguments;
  const Filter& filter;
};

/// What a query asks for beside its problem. Refers to what the caller holds.
struct Wishes {
  const Filter& filter;
  const FindOptions& options;
  Recall recall = Recall::yes;
  /// Null unless `filter` also holds the class of a batch-invariant query.
  const CallersQuery* of_class = nullptr;

  QueryOptions query_options() const { return QueryOptions::of(of_class != nullptr, options.max_workspace); }
};

/// `arguments` are of the operation's own struct, here and below.
struct OperationInfo {
  std::string_view name;
  /// Size of the struct, by which stale headers of a caller are noticed.
  std::uint32_t argument_bytes;
  void (*operands)(const void* arguments, OperandList& list);
  /// Calls `use` with a copy of the arguments, which it may change, and returns what that returns.
  Status (*with_copy)(const void* arguments, void* context,
                      Status (*use)(void* context, const Arguments& copy));
  /// The problem of a plain query as tuning tables and logs know it. Fails as the operation's check does.
  /// Null: they know none.
  Result<TuningKey> (*tuning_key)(const void* arguments);
  /// The problem in the words of the command line, less the operation, such that parsing them gives a problem
  /// of the same key; empty where flags cannot say it. Null as tuning_key. @pre the operation's check
  std::string (*command_text)(const void* arguments);
  /// Why its kernels are not tuned; empty where they are.
  std::string_view no_tuning;
  /// The class that a batch-invariant query requires. Null: it requires none, as each element is computed
  /// alone. Fails as the query does where there is no such class.
  Result<InvariantClass> (*required_class)(const void* arguments, const Filter& filter,
                                           const FindOptions& options);
  /// As get_kernels().
  CandidateList (*find)(const void* arguments, const Wishes& wishes);
  /// As find_best().
  Result<Candidate> (*best)(const void* arguments, const Wishes& wishes);
  /// As quarry::candidate_of(). @pre the row is of this operation, here and below
  Result<Candidate> (*candidate)(const Row& row, const void* arguments, const FindOptions& options);
  /// As quarry::account_of().
  Result<Account> (*account)(const Row& row, const void* arguments, const FindOptions& options);
  /// As Kernel::precompiled of a problem, less the kernel's compute capability.
  bool (*has_code)(const Row& row, const void* arguments, int cc);
  /// As Kernel::supports.
  Status (*supports)(const Row& row, const void* arguments);
  /// Checks the arguments as Kernel::supports does, settles the open controls and makes the launch.
  /// @param operands the list of these arguments
  /// @param device where they lie; null: on none, or nothing says where
  Status (*prepare)(const Row& row, const Controls& controls, const void* arguments,
                    const OperandList& operands, const DeviceModel* device, Launch& launch);
  /// The same without a check. @pre Kernel::supports accepts the arguments, on `device` too
  void (*prepare_unchecked)(const Row& row, const Controls& controls, const void* arguments,
                            const OperandList& operands, Launch& launch);
  /// Computes a launch on the host. @param image of the launch, with the pointers of this run
  Status (*run_on_host)(const Row& row, const Launch& launch, const std::byte* image);
  /// How its kernels are exported for any shape; null where they are not, and then why.
  const ExportRecipe* recipe;
  std::string_view no_recipe;
  /// Device code of an expression, as a struct of this name in namespace quarry, whose `Parameters<Params>`
  /// a kernel takes that has `Params` without it; null: its kernels take none. Kernels that follow
  /// another operation's take its expressions.
  Result<std::string> (*expression_code)(const Expression& expression, std::string_view name);
  /// As Kernel::workspace_size.
  Result<std::size_t> (*workspace_size)(const Row& row, const Controls& controls, const void* arguments);
};

/// All of them, by Operation. Defined by a source that the build writes from the list of operations
/// (cmake/operations.cmake).
std::span<const OperationInfo> operations();

inline const OperationInfo& info_of(Operation operation) {
  return operations()[static_cast<std::size_t>(operation)];
}

/// Whether a call's arguments are what this library takes them for: invalid_arguments for an operation that
/// there is not, and for a struct of another size.
Status check_arguments(const Arguments& arguments);

/// The same of arguments for a row: unsupported for another operation than the row's, too.
Status check_arguments(const Row& row, const Arguments& arguments);

/// As get_kernels().
CandidateList find(Arguments arguments, const Wishes& wishes);

/// The row behind a kernel.
const Row& row_of(const Kernel& kernel);

}  // namespace quarry::detail
