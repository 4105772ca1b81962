#include "operations/reduce_split_k/query.hpp"

#include <string>

namespace quarry::detail {

RowRanges compatible_rows(const ReduceProblem& problem) {
  RowRanges result;
  const Types types = {DType::none, DType::none, problem.partials, problem.out};
  const Layouts layouts = {Layout::row, Layout::row, problem.layout};
  const KeyRange* const range =
      find_key(key_ranges(), functional_key(Operation::reduce_split_k, Math::exact, types, layouts));
  if (range != nullptr) result.add(*range);
  return result;
}

Status no_kernel(const ReduceProblem& problem) {
  return {StatusCode::no_kernel,
          "No kernel is registered for partials " + std::string(to_string(problem.partials)) + ", out " +
              std::string(to_string(problem.out)) + " " + std::string(to_string(problem.layout)) +
              ": partial sums are f32 or f64 for a floating-point output, s32 for s32, s8, u8 or f32, "
              "which may be column_interleaved32"};
}

Verdict judge(const Row& row, const ReduceRequest& request, Offer& offer, Status& why) {
  const Wishes& wishes = request.wishes;
  why = check_constraints(row, request.reduction, wishes.device);
  if (!why) return Verdict::unsupported;
  offer = {};
  offer.row = &row;
  offer.seconds =
      static_cast<float>(reduce_family(row).estimate(row.entry_config, request.reduction, wishes.device));
  return check_predicate(row, wishes);
}

}  // namespace quarry::detail
