/// What a GEMM is: the rules by which the registry treats it. See registry/operation.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/config_parts.hpp"
#include "gemm/family.hpp"
#include "gemm/problem.hpp"
#include "gemm/profile.hpp"
#include "operations/common/export_recipe.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "quarry/batch_invariant.hpp"
#include "quarry/device_model.hpp"
#include "quarry/gemm.hpp"
#include "quarry/registry.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::gemm {

/// Everything that the best candidate for a problem depends on, predicted or measured, and nothing else: no
/// pointers and no strides, but which layouts and alignments they give. Without padding: compared and hashed
/// as bytes.
struct Question {
  /// Of one operand, in each layout: whether it fits, how it is aligned, whether its lines overlap or all lie
  /// at one place or begin at multiples of which power of two, whether a stride is longer than tensor maps
  /// can have.
  struct Access {
    std::uint16_t row = 0;
    std::uint16_t column = 0;
  };

  int m = 0;
  int n = 0;
  int k = 0;
  int batch = 0;
  Access a;
  Access b;
  Access out;
  int slices = 0;           ///< 0: open
  int multiprocessors = 0;  ///< 0: open
  /// Activation and operands of the epilogue, and the alignment of C: what a measured choice depends on.
  std::uint32_t epilogue = 0;
  Types types = {};
  Math math = Math::exact;
  std::uint8_t epilogue_matrices = 1;  ///< 128 more with an expression, which not all modes take
  std::uint8_t mode = 0;               ///< 0: open
  std::uint8_t swizzle = 0;            ///< 0: open
  std::uint8_t raster = 0;             ///< 0: open
  std::uint8_t has_arrays = 0;         ///< 2 more where sums must be promoted
  std::uint8_t a_scale = 0;            ///< 0: none
  std::uint8_t b_scale = 0;            ///< 0: none
};

/// The family of a row that computes GEMMs. @pre its operation is gemm
const GemmFamily& family_of(const Row& row);

struct Rules {
  using Arguments = GemmArguments;
  using Problem = GemmProblem;
  using Profile = GemmProfile;
  using Question = gemm::Question;
  using TuningQuestion = gemm::Question;

  static void operands(const GemmArguments& arguments, OperandList& list);
  static Status check(const GemmArguments& arguments, const OperandList& operands, GemmProblem& problem);
  static void describe(const GemmArguments& arguments, GemmProblem& problem);
  static constexpr bool makes_problem = true;
  /// The part of check that is about controls alone.
  static Status check_controls(const Controls& controls);

  /// Calls `add` for each functional key whose kernels compute the problem's types in layouts that its
  /// operands fit: of a, b and out two each may fit, and f32 operands may be multiplied as they are, or
  /// faster.
  template <class Add>
  static void keys(const GemmProblem& problem, const Add& add);
  static Status no_kernel(const GemmProblem& problem);
  static Question question(const GemmProblem& problem);
  /// The same less M, and less where lines begin, so that one measurement stands for all problems that
  /// kernels treat alike. @return M
  static std::int64_t tuning_question(const GemmProblem& problem, Question& question);
  /// Digest of the expression and the types of its outputs; 0 for a problem without an expression.
  static std::uint64_t expression_hash(const GemmProblem& problem) {
    return problem.expressed ? expression_hash_of(problem.expressed) : 0;
  }
  /// Question::expression of the memo.
  static std::uint64_t expression_word(const GemmProblem& problem) {
    return problem.expressed ? expression_word_of(problem.expressed) : 0;
  }
  /// The problem in the words of the command line, less the operation; empty where flags cannot say it, for
  /// strides of any kind. @pre check(arguments)
  static std::string command_text(const GemmArguments& arguments);

  /// FindOptions::batch_invariant: the class, as quarry::invariant_class chooses it.
  static Result<InvariantClass> required_class(const GemmArguments& arguments, const Filter& filter,
                                               const FindOptions& options);
  /// The same as a query: the arguments with K in one piece, and the filter with the class added.
  static Status make_invariant(const GemmArguments& arguments, const FindOptions& options,
                               GemmArguments& whole, Filter& filter);

  static Status check_signature(const Row& row, const GemmProblem& problem);
  static GemmProblem exchanged(const GemmProblem& problem);
  static void weigh(GemmProblem& problem);
  static GemmProfile profile(const Row& row, const DeviceModel& device);
  /// Whether check_constraints and the device's compute capability have nothing to refuse. False says
  /// nothing.
  static bool surely_takes(const Row& row, const GemmProfile& profile, const GemmProblem& problem);
  static Status check_constraints(const Row& row, const GemmProfile& profile, const GemmProblem& problem,
                                  const DeviceModel& device);
  static Estimate estimate(const Row& row, const GemmProfile& profile, const GemmProblem& problem,
                           const DeviceModel& device, std::size_t max_workspace);
  static Account account(const Row& row, const GemmProfile& profile, const GemmProblem& problem,
                         const DeviceModel& device, std::size_t max_workspace);

  /// Controls of the arguments win; then the kernel's (which a query chose), unless they do not go
  /// with the arguments; the rest is the family's choice by its estimate.
  static ChosenControls settle(const Row& row, const GemmProfile& profile, const Controls& of_kernel,
                               const DeviceModel& device, GemmProblem& problem);
  static std::size_t workspace_size(const Row& row, const GemmProblem& problem,
                                    const ChosenControls& controls);
  static void launch(const Row& row, const GemmProblem& problem, const ChosenControls& controls,
                     Launch& launch);
  static Status run_on_host(const Row& row, const Launch& launch, const std::byte* image);
  static KnownExpression known_expression(const GemmProblem& problem);
  static Result<std::string> expression_code(const Expression& expression, std::string_view name);

  static const ExportRecipe recipe;

 private:
  static std::uint64_t expression_hash_of(const GivenExpression& expressed);
  static std::uint64_t expression_word_of(const GivenExpression& expressed);
  /// estimate of a problem that asks for more than a plain one. Apart, as most do not.
  static Estimate estimate_reduced(const Row& row, const GemmProfile& profile, const GemmProblem& problem,
                                   std::size_t max_workspace);
};

inline bool Rules::surely_takes(const Row& row, const GemmProfile& profile, const GemmProblem& problem) {
  const GemmTraits& kernel = profile.traits;
  const bool is_aligned = problem.a.alignment[static_cast<int>(kernel.layouts.a)] >= kernel.alignment.a &&
                          problem.b.alignment[static_cast<int>(kernel.layouts.b)] >= kernel.alignment.b;
  return profile.takes_plain && is_aligned && !row.metadata.design.reorders &&
         (kernel.most_k == 0 || problem.k <= kernel.most_k) &&
         (problem.traffic ? problem.traffic->is_plain : is_plain(problem));
}

inline Estimate Rules::estimate(const Row& row, const GemmProfile& profile, const GemmProblem& problem,
                                const DeviceModel&, std::size_t max_workspace) {
  if (problem.traffic && problem.traffic->is_plain && !row.metadata.design.reorders)
    return profile.family->estimate(profile, problem, max_workspace);
  return estimate_reduced(row, profile, problem, max_workspace);
}

template <class Add>
void Rules::keys(const GemmProblem& problem, const Add& add) {
  // Kernels without scales are asked about scales, too: the answer to why none is left counts them.
  // Those with scales also compute problems without, where they promote sums or convert weights.
  const bool may_have_scales = problem.scales.a.is_given || problem.scales.b.is_given ||
                               problem.must_promote || problem.k == 0 || has_weight_types(problem.types);
  const auto add_both = [&](Math math, const Layouts& layouts) {
    add(functional_key(Operation::gemm, math, problem.types, layouts));
    if (may_have_scales) add(functional_key(Operation::gemm, math, problem.types, layouts, true));
  };
  for (int a = 0; a < layout_count; ++a) {
    if (!problem.a.fits[a]) continue;
    for (int b = 0; b < layout_count; ++b) {
      if (!problem.b.fits[b]) continue;
      for (int out = 0; out < layout_count; ++out) {
        if (!problem.out.fits[out]) continue;
        const Layouts layouts = {static_cast<Layout>(a), static_cast<Layout>(b), static_cast<Layout>(out)};
        add_both(Math::exact, layouts);
        if (problem.math != Math::exact) add_both(problem.math, layouts);
      }
    }
  }
}

}  // namespace quarry::detail::gemm
