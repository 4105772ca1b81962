/// The row of an operation in the registry's table, made of its rules: see registry/operation.hpp.
///
/// A query reads as its sentence: key -> rows -> constraints -> predicate -> rank -> limit.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "operations/common/row_checks.hpp"
#include "registry/operation.hpp"
#include "registry/query/index.hpp"
#include "registry/query/memo.hpp"
#include "registry/query/offers.hpp"
#include "registry/query/optional_rules.hpp"
#include "registry/query/own_kernels.hpp"
#include "registry/query/problem_search.hpp"
#include "registry/query/profiles.hpp"
#include "registry/query/tuned.hpp"

namespace quarry::detail {

/// A problem and all that a query knows before it looks at rows.
template <class Rules>
struct Prepared {
  CheckedProblem<Rules> problem;
  const DeviceModel* device = nullptr;
  const void* profiles = nullptr;
  /// Null: nothing was measured.
  const Tuning* tuning = nullptr;
  /// Absent: the answer is not to be remembered.
  std::optional<Question> question;

  Status prepare(const typename Rules::Arguments& arguments, const Wishes& wishes, bool one) {
    OperandList operands;
    Rules::operands(arguments, operands);
    if (Status s = Rules::check(arguments, operands, problem.as_asked()); !s) return s;
    const FindOptions& options = wishes.options;
    if (Status s = check_options(options); !s) return s;
    device = options.device != nullptr ? options.device : &model_for(operands);
    if (Status s = check_model(*device); !s) return s;
    if constexpr (IsTuned<Rules>) tuning = detail::tuning();
    if constexpr (HasProfile<Rules> || HasQuestion<Rules>) {
      const std::optional<std::size_t> number = device_number(*device);
      if constexpr (HasProfile<Rules>) {
        if (number) profiles = Profiles<Rules>::on(*number);
      }
      if constexpr (HasQuestion<Rules>) {
        if (number && one) ask(wishes, *number);
      }
    }
    return {};
  }

  /// Makes the question, where its answer is to be remembered. @param number of the device
  void ask(const Wishes& wishes, std::size_t number) {
    const FindOptions& options = wishes.options;
    // Of longer answers, finding is less than copying.
    if (wishes.recall == Recall::no || options.explain || wishes.filter.restricts()) return;
    question = make_question(Rules::Arguments::operation, Rules::question(problem.as_asked()), options,
                             number, tuning_word(tuning, *device));
    if constexpr (AsksOfExpressions<Rules>) question->expression = Rules::expression_word(problem.as_asked());
  }

  /// Makes both orientations, and weighs them. Not needed for an answer that is remembered.
  Search<Rules> search(const Wishes& wishes) {
    problem.exchange();
    if constexpr (Weighs<Rules>) {
      Rules::weigh(problem.as_asked());
      if constexpr (Exchanges<Rules>) Rules::weigh(problem.as_exchanged());
    }
    return {problem, *device, wishes, profiles};
  }
};

/// Why no row of the ranges was taken, or the rows that there are not.
template <class Rules>
Status why_none(const Search<Rules>& search, const RowRanges& ranges, Tally& tally) {
  if (ranges.empty()) return Rules::no_kernel(search.problem.as_asked());
  Offer none;
  search.each(
      ranges, &tally, [&]() -> Offer& { return none; }, [] {});
  return tally.why_empty();
}

/// The best offer, and how many there are; its row is null where there is none.
template <class Rules>
Answer best_of(const Search<Rules>& search, const RowRanges& ranges, Tally* tally) {
  Answer answer;
  const Order order = search.wishes.options.order;
  Offer offer;
  search.each(
      ranges, tally, [&]() -> Offer& { return offer; },
      [&] {
        const bool first = answer.matched++ == 0;
        if (first || (order == Order::best_first && offer.seconds() < answer.offer.seconds()))
          answer.offer = offer;
      });
  return answer;
}

/// Whether a measured kernel takes the problem as it was measured, and is one that the caller wants: fills
/// its offer.
template <class Rules>
bool take_measured(const Row& row, const TunedChoice& choice, const Prepared<Rules>& prepared,
                   const Wishes& wishes, Offer& offer) {
  if (row.metadata.operation != Rules::Arguments::operation) return false;
  CheckedProblem<Rules> problem;
  problem.as_asked() = prepared.problem.as_asked();
  if constexpr (HasOpenControls<Rules>) {
    Controls& controls = problem.as_asked().controls;
    controls = completed(controls, choice.controls());
    if (!Rules::check_controls(controls)) return false;
  }
  if (!Rules::check_signature(row, problem.as_asked())) return false;
  if (row.exchanged) problem.exchange();
  // What was weighed has the caller's controls.
  if constexpr (Weighs<Rules>) Rules::weigh(row.exchanged ? problem.as_exchanged() : problem.as_asked());
  const Search<Rules> search = {problem, *prepared.device, wishes, prepared.profiles};
  Status why;
  if (search.judge(row, offer, why) != Verdict::taken) return false;
  if constexpr (HasControls<Rules> && !HasOpenControls<Rules>) {
    if (!agree(offer.estimate.controls, choice.controls())) return false;
  }
  offer.measured_seconds = choice.gaps_us * 1e-6;
  return true;
}

/// Whether a measurement of this key comes first: fills the offer of its kernel.
template <class Rules>
bool find_measured_of(const TuningKey& key, const Prepared<Rules>& prepared, const Wishes& wishes,
                      Offer& offer) {
  for (const TunedChoice& choice : tuned_choices(*prepared.tuning, *prepared.device, key)) {
    const Row* const row = prepared.tuning->rows[choice.kernel];
    Offer taken;
    if (row == nullptr || !take_measured<Rules>(*row, choice, prepared, wishes, taken)) continue;
    offer = taken;
    return true;
  }
  return false;
}

/// Whether a measured kernel comes first: fills its offer.
template <class Rules>
bool find_measured(const Prepared<Rules>& prepared, const Wishes& wishes, Offer& offer) {
  if constexpr (IsTuned<Rules>) {
    if (prepared.tuning == nullptr || wishes.options.order != Order::best_first) return false;
    const TuningKey problem = tuning_key_of<Rules>(prepared.problem.as_asked());
    const QueryOptions asked = wishes.query_options();
    if (asked.is_plain()) return find_measured_of<Rules>(problem, prepared, wishes, offer);
    for (const QueryOptions& options : options_to_look_up(asked)) {
      if (find_measured_of<Rules>(key_under(problem, options), prepared, wishes, offer)) return true;
    }
  }
  return false;
}

/// Answers with one candidate, remembered or found now. Allocates only where there is none, or to explain.
template <class Rules>
Status find_one(const typename Rules::Arguments& arguments, const Wishes& wishes, Answer& answer,
                Tally* explained) {
  Prepared<Rules> prepared;
  if (Status s = prepared.prepare(arguments, wishes, true); !s) return s;
  if (prepared.question) {
    if (const Answer* const remembered = recall(*prepared.question)) {
      answer = *remembered;
      return {};
    }
  }
  const Search<Rules> search = prepared.search(wishes);
  const RowRanges ranges = rows_of<Rules>(search.problem.as_asked());
  answer = best_of(search, ranges, explained);
  if (answer.offer.row == nullptr) {
    Tally tally;
    return why_none(search, ranges, explained != nullptr && !ranges.empty() ? *explained = {} : tally);
  }
  log_new_problem<Rules>(arguments, prepared.problem.as_asked(), wishes);
  Offer measured;
  if (find_measured<Rules>(prepared, wishes, measured)) answer.offer = measured;
  if (prepared.question) remember(*prepared.question, answer);
  return {};
}

/// The first `count` candidates: a measured one, if its row is not null, and the others in order. Everything
/// is inlined into it: a call for each candidate costs more than the candidate.
template <class Rules>
[[gnu::flatten]] std::vector<Candidate> listed(const Offer& measured, std::span<const Offer> offers,
                                               std::span<const RankKey> order, std::size_t count) {
  std::vector<Candidate> candidates;
  candidates.reserve(count);
  const auto add = [&](const auto&... parts) { candidates.emplace_back(parts...); };
  if (measured.row != nullptr) with_candidate_of<Rules>(measured, add);
  for (const RankKey key : order) {
    if (candidates.size() == count) break;
    const Offer& offer = offers[index_of(key)];
    if (offer.row != measured.row) with_candidate_of<Rules>(offer, add);
  }
  return candidates;
}

template <class Rules>
CandidateList find_many(const typename Rules::Arguments& arguments, const Wishes& wishes) {
  Prepared<Rules> prepared;
  if (Status s = prepared.prepare(arguments, wishes, false); !s) return CandidateList(std::move(s));
  const Search<Rules> search = prepared.search(wishes);
  const RowRanges ranges = rows_of<Rules>(search.problem.as_asked());
  const FindOptions& options = wishes.options;
  Tally tally;
  const OfferRoom room(ranges.rows());
  std::size_t found = 0;
  search.each(
      ranges, options.explain ? &tally : nullptr, [&]() -> Offer& { return room.next(found); },
      [&] { ++found; });
  const std::span<const Offer> offers = room.first(found);
  if (offers.empty()) {
    Tally all;
    Status why = why_none(search, ranges, all);
    return CandidateList(std::move(why), options.explain ? all.rejections() : std::vector<Rejection>());
  }
  log_new_problem<Rules>(arguments, prepared.problem.as_asked(), wishes);
  const std::vector<RankKey> order = ranked(offers, options.order);
  const std::size_t count = std::min(options.limit, order.size());
  Offer measured;
  if (count > 0) (void)find_measured<Rules>(prepared, wishes, measured);
  return CandidateList(listed<Rules>(measured, offers, order, count), offers.size(),
                       options.explain ? tally.rejections() : std::vector<Rejection>());
}

template <class Rules>
struct Calls {
  using Arguments = typename Rules::Arguments;
  static const Arguments& of(const void* arguments) { return *static_cast<const Arguments*>(arguments); }

  static void operands(const void* arguments, OperandList& list) { Rules::operands(of(arguments), list); }

  static Status with_copy(const void* arguments, void* context,
                          Status (*use)(void* context, const quarry::Arguments& copy)) {
    Arguments copy = of(arguments);
    return use(context, copy);
  }

  static Result<InvariantClass> required_class([[maybe_unused]] const void* arguments,
                                               [[maybe_unused]] const Filter& filter,
                                               [[maybe_unused]] const FindOptions& options) {
    if constexpr (CanBeInvariant<Rules>) return Rules::required_class(of(arguments), filter, options);
    return has_no_class();
  }

  static CandidateList find(const void* arguments, const Wishes& wishes) {
    if (wants_invariance(wishes)) return invariantly<CandidateList>(of(arguments), wishes, &Calls::find);
    if (wishes.options.limit != 1) return find_many<Rules>(of(arguments), wishes);
    Answer answer;
    Tally tally;
    const bool explain = wishes.options.explain;
    Status status = find_one<Rules>(of(arguments), wishes, answer, explain ? &tally : nullptr);
    std::vector<Rejection> rejections = explain ? tally.rejections() : std::vector<Rejection>();
    if (!status) return CandidateList(std::move(status), std::move(rejections));
    return CandidateList(candidate_of<Rules>(answer.offer), answer.matched, std::move(rejections));
  }

  static Result<Candidate> best(const void* arguments, const Wishes& wishes) {
    if (wants_invariance(wishes)) return invariantly<Result<Candidate>>(of(arguments), wishes, &Calls::best);
    Answer answer;
    if (Status s = find_one<Rules>(of(arguments), wishes, answer, nullptr); !s) return s;
    return candidate_of<Rules>(answer.offer);
  }

  static Result<Candidate> candidate(const Row& row, const void* arguments, const FindOptions& options) {
    return of_one<Candidate>(row, arguments, options, [&](const auto& search, const auto&... profile) {
      return offered(row, search, profile...);
    });
  }

  static Result<Account> account(const Row& row, const void* arguments, const FindOptions& options) {
    return of_one<Account>(
        row, arguments, options, [&](const auto& search, const auto&... profile) -> Result<Account> {
          if (const Result<Candidate> candidate = offered(row, search, profile...); !candidate)
            return candidate.status();
          return Rules::account(row, profile..., search.problem.of(row), search.device,
                                options.max_workspace);
        });
  }

  static bool has_code(const Row& row, const void* arguments, int cc) {
    OperandList operands;
    Rules::operands(of(arguments), operands);
    ProblemRoom<Rules> room;
    if (!Rules::check(of(arguments), operands, room.problem)) return false;
    return has_machine_code(row, known_expression<Rules>(room.problem), cc);
  }

  static Status supports(const Row& row, const void* arguments) {
    OperandList operands;
    Rules::operands(of(arguments), operands);
    ProblemRoom<Rules> room;
    typename Rules::Problem& problem = room.problem;
    if (Status s = Rules::check(of(arguments), operands, problem); !s) return s;
    if (Status s = Rules::check_signature(row, problem); !s) return s;
    orient<Rules>(row, problem);
    return check_row_alone<Rules>(row, problem, model_for(operands));
  }

  static Status prepare(const Row& row, const Controls& controls, const void* arguments,
                        const OperandList& operands, const DeviceModel* device, Launch& launch);
  static void prepare_unchecked(const Row& row, const Controls& controls, const void* arguments,
                                const OperandList& operands, Launch& launch);
  static Result<std::size_t> workspace_size(const Row& row, const Controls& controls, const void* arguments);

 private:
  /// Whether the answer must be of one class. Operations that multiply nothing compute each element alone.
  static bool wants_invariance(const Wishes& wishes) {
    return is_product(Arguments::operation) && wishes.options.batch_invariant;
  }

  static Status has_no_class() {
    return {StatusCode::unsupported, "Batch-invariant queries are of GEMM alone: kernels of " +
                                         std::string(to_string(Arguments::operation)) +
                                         " add up in an order that depends on the batch"};
  }

  /// Asks again, within one class. A failure to choose it is the answer.
  template <class Found>
  static Found invariantly([[maybe_unused]] const Arguments& arguments, const Wishes& wishes,
                           [[maybe_unused]] Found (*ask)(const void*, const Wishes&)) {
    if constexpr (CanBeInvariant<Rules>) {
      FindOptions options = wishes.options;
      options.batch_invariant = false;
      Arguments whole = arguments;
      Filter filter = wishes.filter;
      if (Status s = Rules::make_invariant(arguments, options, whole, filter); !s) return Found(std::move(s));
      const CallersQuery callers = {&arguments, wishes.filter};
      return ask(&whole, {filter, options, wishes.recall, &callers});
    } else {
      return Found(has_no_class());
    }
  }

  /// What `use` makes of a row for checked arguments, given its profile where the operation has such.
  template <class T, class Use>
  static Result<T> of_one(const Row& row, const void* arguments, const FindOptions& options, const Use& use) {
    OperandList operands;
    Rules::operands(of(arguments), operands);
    CheckedProblem<Rules> problem;
    if (Status s = Rules::check(of(arguments), operands, problem.as_asked()); !s) return s;
    const DeviceModel& device = options.device != nullptr ? *options.device : model_for(operands);
    if (Status s = check_model(device); !s) return s;
    if (Status s = Rules::check_signature(row, problem.as_asked()); !s) return s;
    problem.exchange();
    const Filter any;
    const Wishes wishes = {any, options};
    const Search<Rules> search = {problem, device, wishes};
    if constexpr (HasProfile<Rules>) {
      return use(search, Rules::profile(row, device));
    } else {
      return use(search);
    }
  }

  template <class... Profile>
  static Result<Candidate> offered(const Row& row, const Search<Rules>& search, const Profile&... profile) {
    if (Status s = check_row<Rules>(row, search.problem.of(row), search.device, profile...); !s) return s;
    Offer offer;
    if (search.estimate(row, offer, profile...) == Verdict::over_workspace) {
      return Status(StatusCode::filtered_out,
                    "It needs " + std::to_string(offer.estimate.workspace) + " bytes of workspace");
    }
    return candidate_of<Rules>(offer);
  }
};

/// Everything that a run of the row needs to know: checks the arguments, the row's signature and its
/// constraints, and settles the controls (Rules::settle).
/// @param problem on success the problem, in the orientation of the row's entry
/// @param chosen on success the controls, with nothing left open
template <class Rules>
Status resolve(const Row& row, const typename Rules::Arguments& arguments, const OperandList& operands,
               const Controls& of_kernel, const DeviceModel& device, typename Rules::Problem& problem,
               ChosenControls& chosen) {
  if (Status s = check_operation(row, Rules::Arguments::operation); !s) return s;
  if (Status s = Rules::check(arguments, operands, problem); !s) return s;
  if (Status s = check_model(device); !s) return s;
  if (Status s = Rules::check_signature(row, problem); !s) return s;
  orient<Rules>(row, problem);
  if constexpr (HasProfile<Rules>) {
    typename Rules::Profile computed;
    const typename Rules::Profile& profile = profile_of<Rules>(row, device, computed);
    if (Status s = check_row<Rules>(row, problem, device, profile); !s) return s;
    if constexpr (HasControls<Rules>) chosen = Rules::settle(row, profile, of_kernel, device, problem);
    return {};
  } else {
    return check_row<Rules>(row, problem, device);
  }
}

template <class Rules>
Status Calls<Rules>::prepare(const Row& row, const Controls& controls, const void* arguments,
                             const OperandList& operands, const DeviceModel* device, Launch& launch) {
  ProblemRoom<Rules> room;
  typename Rules::Problem& problem = room.problem;
  ChosenControls chosen;
  // By the model that workspace_size goes by, so that the workspace it asked for is what the run needs.
  const DeviceModel& model = model_for(operands);
  if (Status s = resolve<Rules>(row, of(arguments), operands, controls, model, problem, chosen); !s) return s;
  if (device != nullptr && device != &model) {
    if (Status s = check_row_alone<Rules>(row, problem, *device); !s) return s;
  }
  Rules::launch(row, problem, chosen, launch);
  return {};
}

template <class Rules>
void Calls<Rules>::prepare_unchecked(const Row& row, const Controls& controls, const void* arguments,
                                     const OperandList& operands, Launch& launch) {
  ProblemRoom<Rules> room;
  typename Rules::Problem& problem = room.problem;
  ChosenControls chosen;
  Rules::describe(of(arguments), problem);
  orient<Rules>(row, problem);
  if constexpr (HasControls<Rules>) {
    const DeviceModel& device = model_for(operands);
    typename Rules::Profile computed;
    chosen = Rules::settle(row, profile_of<Rules>(row, device, computed), controls, device, problem);
  }
  Rules::launch(row, problem, chosen, launch);
}

template <class Rules>
Result<std::size_t> Calls<Rules>::workspace_size(const Row& row, const Controls& controls,
                                                 const void* arguments) {
  OperandList operands;
  Rules::operands(of(arguments), operands);
  ProblemRoom<Rules> room;
  typename Rules::Problem& problem = room.problem;
  ChosenControls chosen;
  const DeviceModel& device = model_for(operands);
  if (Status s = resolve<Rules>(row, of(arguments), operands, controls, device, problem, chosen); !s)
    return s;
  if constexpr (requires { Rules::workspace_size(row, problem, chosen); }) {
    return Rules::workspace_size(row, problem, chosen);
  } else {
    return std::size_t{0};
  }
}

/// The row of the operations' table.
template <class Rules>
constexpr OperationInfo info_of(std::string_view name) {
  using Call = Calls<Rules>;
  return {.name = name,
          .argument_bytes = sizeof(typename Rules::Arguments),
          .operands = &Call::operands,
          .with_copy = &Call::with_copy,
          .tuning_key = tuning_key_call<Rules>(),
          .command_text = command_text_call<Rules>(),
          .no_tuning = no_tuning_of<Rules>(),
          .required_class = is_product(Rules::Arguments::operation) ? &Call::required_class : nullptr,
          .find = &Call::find,
          .best = &Call::best,
          .candidate = &Call::candidate,
          .account = &Call::account,
          .has_code = &Call::has_code,
          .supports = &Call::supports,
          .prepare = &Call::prepare,
          .prepare_unchecked = &Call::prepare_unchecked,
          .run_on_host = &Rules::run_on_host,
          .recipe = recipe_of<Rules>(),
          .no_recipe = no_recipe_of<Rules>(),
          .expression_code = expression_code_of<Rules>(),
          .workspace_size = &Call::workspace_size};
}

}  // namespace quarry::detail
