/// Which kernels can solve a problem, best first. A query reads as its sentence:
/// key -> rows (compatible_rows) -> constraints -> predicate -> rank -> limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "operations/common/row.hpp"
#include "quarry/registry.hpp"
#include "registry/query/explain.hpp"
#include "registry/query/index.hpp"
#include "registry/query/profiles.hpp"

namespace quarry::detail {

/// What a query asks for beside its problem. Refers to what the caller holds.
struct Wishes {
  const DeviceModel& device;
  const Filter& filter;
  const FindOptions& options;
};

/// A checked query for a GEMM.
struct Request {
  /// The problem in both orientations, by Row::exchanged.
  GemmProblem problems[2];
  /// Null: profiles are computed one by one.
  const DeviceProfiles* profiles;
  Wishes wishes;

  const GemmProblem& problem() const { return problems[0]; }
};

/// A row that can solve the problem, with the controls chosen for it.
struct Offer {
  const Row* row = nullptr;
  ChosenControls controls;
  /// Predicted; in the precision that offers are ordered by.
  float seconds = 0;
  std::size_t workspace = 0;
};

/// Whether a row is one that the caller wants: the filter and FindOptions::availability.
Verdict check_predicate(const Row& row, const Wishes& wishes);

/// Fills the offer of a row that meets constraints and predicate; over_workspace where it needs more than
/// FindOptions::max_workspace.
Verdict estimate(const Row& row, const GemmProfile& profile, const Request& request, Offer& offer);

/// What becomes of a row of the problem's key: fills the offer of one that is taken, and why another one does
/// not support the problem.
Verdict judge(const Row& row, const Request& request, Offer& offer, Status& why);

/// All rows of the ranges that meet constraints and predicate and keep to FindOptions::max_workspace, in
/// registry order.
/// @param request of any operation: what `judge` takes
/// @param tally where not null, counts what became of every row
template <class AnyRequest>
std::vector<Offer> offers(const AnyRequest& request, const RowRanges& ranges, Tally* tally) {
  std::vector<Offer> result(ranges.rows());
  std::size_t count = 0;
  for (const KeyRange& range : ranges) {
    for (const Row& row : rows().subspan(range.begin, range.end - range.begin)) {
      Status why;
      const Verdict verdict = judge(row, request, result[count], why);
      if (verdict == Verdict::taken) ++count;
      if (tally != nullptr) tally->count(verdict, why);
    }
  }
  result.resize(count);
  return result;
}

/// The order in which offers are answered, as indexes: by predicted time, then as registered.
std::vector<std::uint32_t> ranked(std::span<const Offer> offers, Order order);

/// The index of the offer that comes first in `ranked`. @pre there is one
std::size_t best(std::span<const Offer> offers, Order order);

}  // namespace quarry::detail

namespace quarry {

/// Whether an answer may come from what this thread asked before, and is kept for later.
enum class Recall : bool { no, yes };

/// Fills answers.
class Query {
 public:
  /// The whole sentence, as get_kernels() speaks it.
  static CandidateList answer(const GemmArguments& arguments, const Filter& filter,
                              const FindOptions& options, Recall recall = Recall::yes);

  /// One kernel, registered or not, as the answer to a problem: with controls chosen for it. Fails as
  /// Kernel::supports does, by the options' device; with filtered_out where it needs more workspace than they
  /// allow. Nothing else of them counts.
  static Result<Candidate> candidate_of(const Kernel& kernel, const GemmArguments& arguments,
                                        const FindOptions& options = {});

  /// The same for a reduction. Nothing of it is kept: there are few kernels to ask.
  static CandidateList answer(const ReduceSplitKArguments& arguments, const Filter& filter,
                              const FindOptions& options);
  static Result<Candidate> candidate_of(const Kernel& kernel, const ReduceSplitKArguments& arguments,
                                        const FindOptions& options = {});

 private:
  static CandidateList only(const detail::Row& row, const ChosenControls& controls, double seconds,
                            std::size_t workspace, std::size_t matched);
  static CandidateList one(std::span<const detail::Offer> offers, const FindOptions& options);
  static CandidateList many(std::span<const detail::Offer> offers, const FindOptions& options);
  template <class AnyRequest>
  static CandidateList none(const AnyRequest& request, const detail::RowRanges& ranges);
  template <class AnyRequest>
  static CandidateList afresh(const AnyRequest& request);
};

}  // namespace quarry
