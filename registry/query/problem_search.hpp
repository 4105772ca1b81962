/// The loop over the rows of a checked problem, made of the rules of its operation.
#pragma once

#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "operations/common/row_checks.hpp"
#include "registry/compile/store.hpp"
#include "registry/operation.hpp"
#include "registry/query/index.hpp"
#include "registry/query/offers.hpp"
#include "registry/query/optional_rules.hpp"
#include "registry/query/profiles.hpp"

namespace quarry::detail {

/// Where a check makes a problem. To clear it first takes a tenth of a question, so where it is made whole
/// nothing is written before.
template <class Rules>
struct ProblemRoom {
  typename Rules::Problem problem;
};
template <class Rules>
requires MakesProblem<Rules>
struct ProblemRoom<Rules> {
  static_assert(std::is_trivially_destructible_v<typename Rules::Problem>);
  ProblemRoom() {}
  union {
    typename Rules::Problem problem;
  };
};

/// A problem after all checks that do not depend on a kernel, for rows of either orientation.
template <class Rules>
struct CheckedProblem {
  using Problem = typename Rules::Problem;

  ProblemRoom<Rules> asked;
  /// For rows with exchanged operands. Only where the operation has such; made when a query needs both.
  ProblemRoom<Rules> exchanged;

  Problem& as_asked() { return asked.problem; }
  const Problem& as_asked() const { return asked.problem; }
  /// @pre exchange()
  Problem& as_exchanged() { return exchanged.problem; }

  /// Makes the exchanged one.
  void exchange() {
    if constexpr (Exchanges<Rules>) {
      static_assert(MakesProblem<Rules>);
      new (&exchanged.problem) Problem(Rules::exchanged(asked.problem));
    }
  }

  const Problem& of(const Row& row) const {
    if constexpr (Exchanges<Rules>) {
      return row.exchanged ? exchanged.problem : asked.problem;
    } else {
      return asked.problem;
    }
  }
};

/// The problem in the orientation of the row's entry.
template <class Rules>
void orient(const Row& row, typename Rules::Problem& problem) {
  if constexpr (Exchanges<Rules>) {
    if (row.exchanged) problem = Rules::exchanged(problem);
  }
}

/// Whether the row takes a problem of its types and layouts on a device. @param problem in the orientation of
/// the row's entry
template <class Rules, class... Profile>
Status check_row(const Row& row, const typename Rules::Problem& problem, const DeviceModel& device,
                 const Profile&... profile) {
  const KernelMetadata& kernel = row.metadata;
  if (device.cc < kernel.cc || (kernel.max_cc && device.cc > *kernel.max_cc))
    return check_compute_capability(kernel, device.cc);
  return Rules::check_constraints(row, profile..., problem, device);
}
/// Whether check_row has nothing to refuse, as far as that can be told at a glance. False says nothing.
template <class Rules, class... Profile>
bool surely_takes(const Row& row, const typename Rules::Problem& problem, const Profile&... profile) {
  if constexpr (TakesSurely<Rules>) {
    return Rules::surely_takes(row, profile..., problem);
  } else {
    return false;
  }
}
template <class Rules>
Status check_row_alone(const Row& row, const typename Rules::Problem& problem, const DeviceModel& device) {
  if constexpr (HasProfile<Rules>) {
    typename Rules::Profile computed;
    const typename Rules::Profile& profile = profile_of<Rules>(row, device, computed);
    if (surely_takes<Rules>(row, problem, profile)) return {};
    return check_row<Rules>(row, problem, device, profile);
  } else {
    return check_row<Rules>(row, problem, device);
  }
}

/// The expression of a problem, as machine code is looked up by it.
template <class Rules>
KnownExpression known_expression(const typename Rules::Problem& problem) {
  if constexpr (CompilesExpressions<Rules>) {
    (void)machine_code_epoch();  // reads the packs of QUARRY_PACKS, which bring expressions
    return Rules::known_expression(problem);
  } else {
    return std::nullopt;
  }
}

/// A checked query.
template <class Rules>
struct Search {
  const CheckedProblem<Rules>& problem;
  const DeviceModel& device;
  const Wishes& wishes;
  /// Null: profiles are computed one by one.
  const void* profiles = nullptr;
  /// Asked once, not for each row.
  bool takes_all = wants_all(wishes.filter, wishes.options);
  KnownExpression expression = wishes.options.availability == Availability::precompiled
                                   ? known_expression<Rules>(problem.as_asked())
                                   : std::nullopt;

  /// What becomes of a row of the problem's keys: fills the offer of one that is taken, and why another one
  /// does not support the problem. Of an offer, measured_seconds stays as it was.
  Verdict judge(const Row& row, Offer& offer, Status& why) const {
    if constexpr (HasProfile<Rules>) {
      if (profiles != nullptr)
        return judge_by(row, offer, why, static_cast<const Profiles<Rules>*>(profiles)->of(row));
      return judge_by(row, offer, why, Rules::profile(row, device));
    } else {
      return judge_by(row, offer, why);
    }
  }

  /// Fills the offer of a row that meets constraints and predicate; over_workspace where it needs more than
  /// FindOptions::max_workspace.
  template <class... Profile>
  Verdict estimate(const Row& row, Offer& offer, const Profile&... profile) const {
    const std::size_t most = wishes.options.max_workspace;
    offer.row = &row;
    new (&offer.estimate) Estimate(Rules::estimate(row, profile..., problem.of(row), device, most));
    return offer.estimate.workspace > most ? Verdict::over_workspace : Verdict::taken;
  }

  /// Each offer, in registry order: fills `place()`, and calls `take()` if the row was taken. So an offer is
  /// written where it stays: a copy of what was just written, in larger pieces, would wait for it.
  /// @param tally where not null, counts what became of every row: of an unsupported one, why
  template <class Place, class Take>
  void each(const RowRanges& ranges, Tally* tally, const Place& place, const Take& take) const {
    Status why;
    for (const KeyRange& range : ranges) {
      for (const Row& row : rows().subspan(range.begin, range.end - range.begin)) {
        const Verdict verdict = judge(row, place(), why);
        if (verdict == Verdict::taken) take();
        if (tally != nullptr) tally->count(verdict, why);
      }
    }
  }

 private:
  /// Not inlined: most rows are taken surely.
  template <class... Profile>
  [[gnu::noinline]] bool check(const Row& row, Status& why, const Profile&... profile) const {
    Status s = check_row<Rules>(row, problem.of(row), device, profile...);
    if (s) return true;
    why = std::move(s);
    return false;
  }

  template <class... Profile>
  Verdict judge_by(const Row& row, Offer& offer, Status& why, const Profile&... profile) const {
    if (!surely_takes<Rules>(row, problem.of(row), profile...) && !check(row, why, profile...))
      return Verdict::unsupported;
    if (!takes_all) {
      const Verdict verdict = check_predicate(row, expression, device, wishes.filter, wishes.options);
      if (verdict == Verdict::filtered && wishes.of_class != nullptr && wishes.of_class->filter(row.metadata))
        return Verdict::other_class;
      if (verdict != Verdict::taken) return verdict;
    }
    return estimate(row, offer, profile...);
  }
};

/// Calls `make` with what a candidate of an offer is made of: with its controls, where the operation has any.
/// A limit of multiprocessors is the caller's, not a choice.
template <class Rules, class Make>
decltype(auto) with_candidate_of(const Offer& offer, const Make& make) {
  if constexpr (HasControls<Rules>) {
    const ChosenControls& c = offer.estimate.controls;
    return make(*offer.row, c.mode, c.split_k_slices, c.swizzle, c.raster, offer.seconds(),
                offer.estimate.workspace, offer.measured_seconds);
  } else {
    return make(*offer.row, Controls(), offer.seconds(), offer.estimate.workspace, offer.measured_seconds);
  }
}
template <class Rules>
Candidate candidate_of(const Offer& offer) {
  return with_candidate_of<Rules>(offer, [](const auto&... parts) { return Candidate(parts...); });
}

/// The rows of the problem's keys.
template <class Rules>
RowRanges rows_of(const typename Rules::Problem& problem) {
  RowRanges result;
  Rules::keys(problem, [&result](std::uint64_t key) {
    if (const KeyRange* const range = find_key(key_ranges(), key)) result.add(*range);
  });
  return result;
}

}  // namespace quarry::detail
