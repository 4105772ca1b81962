#include "lab/bench/shape.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>

#include "lab/bench/bursts.hpp"
#include "lab/bench/controls.hpp"
#include "lab/bench/stages.hpp"
#include "lab/bench/yardstick.hpp"
#include "lab/operation.hpp"
#include "lab/problems/query.hpp"
#include "lab/progress.hpp"
#include "lab/trials/compile_missing.hpp"
#include "lab/trials/trial.hpp"
#include "quarry/artifact.hpp"

namespace quarry::lab {
namespace {

FindOptions options_for(const Problem& problem, const BenchSetting& setting) {
  return find_options(problem, {.limit = setting.options.top,
                                .max_workspace = bench_workspace,
                                .availability = setting.options.availability,
                                .device = &setting.device});
}

Result<std::vector<Candidate>> find_candidates(const Problem& problem, const BenchSetting& setting,
                                               BenchResult& result) {
  const HeldArguments arguments = arguments_of(problem);
  const FindOptions options = options_for(problem, setting);
  if (setting.options.kernel) {
    if (!setting.filter(setting.options.kernel->metadata()))
      return Status(StatusCode::filtered_out, std::string(setting.options.kernel->name()) +
                                                  " does not take it: the filter leaves it out");
    const Result<Candidate> only = quarry::candidate_of(*setting.options.kernel, arguments, options);
    if (!only) return only.status();
    result.matched = 1;
    return std::vector<Candidate>{*only};
  }
  const CandidateList found = get_kernels(arguments, setting.filter, options);
  if (found.empty()) return found.status();
  result.matched = found.matched();
  return std::vector<Candidate>(found.begin(), found.end());
}

/// The kernel that the ranking predicts to be the fastest; null where the list does not have it: a list of
/// one kernel that a tuning table put first.
const Candidate* predicted_first(const std::vector<Candidate>& candidates) {
  if (candidates.size() == 1 && candidates.front().measured_seconds()) return nullptr;
  return &*std::ranges::min_element(candidates, {}, &Candidate::predicted_seconds);
}

/// One problem on its way.
class ShapeBench {
 public:
  ShapeBench(BenchResult& result, const BenchSetting& setting) : result_(result), setting_(setting) {}

  Status run() {
    Result<std::vector<Candidate>> candidates = find_candidates(result_.problem, setting_, result_);
    if (!candidates) return candidates.status();
    compile_missing(std::vector<Kernel>(candidates->begin(), candidates->end()), result_.problem,
                    setting_.device);
    ask_library();
    HeldArguments stored = arguments_of(result_.problem);
    if (algorithms_) algorithms_->store(stored);
    Result<BenchOperands> operands = BenchOperands::make(result_.problem, stored, result_.seed);
    if (!operands) return operands.status();
    operands_ = *std::move(operands);
    result_.sets = operands_->sets();
    DeviceBursts bursts(*operands_, setting_.options.gap);
    if (Status s = bursts.make_laps(1); !s) return s;
    const Candidate* const first = predicted_first(*candidates);
    for (const Candidate& candidate : *candidates) {
      const Result<bool> added = add_kernel(bursts, candidate, operands_->arguments());
      if (!added) return added.status();
      if (*added && &candidate == first) first_ = kernels() - 1;
    }
    result_.timed = kernels();
    if (candidates_.empty()) return Status(StatusCode::device_error, "no kernel gave a right result");
    if (Status s = warm_up(bursts); !s) return s;
    if (Status s = time_new(bursts); !s) return s;
    if (Status s = vary_controls(bursts); !s) return s;
    if (Status s = add_algorithms(bursts); !s) return s;
    if (Status s = time_new(bursts); !s) return s;
    if (Status s = eliminate(bursts); !s) return s;
    return finish(bursts);
  }

 private:
  std::size_t kernels() const { return candidates_.size(); }

  /// Whether the contestant takes part: its first result is right. Says what is wrong otherwise; a failure of
  /// the device ends all. @param reference null: the problem's own
  Result<bool> admit(DeviceBursts& bursts, Contestant contestant, const Reference* reference = nullptr) {
    const auto refuse = [&](const std::string& why) {
      setting_.say(shape_text(result_.problem) + ": left out " + contestant.name + ": " + why);
      result_.wrong.push_back(contestant.name);
      return false;
    };
    if (Status s = operands_->reset(); !s) return s;
    if (Status s = contestant.launch(operands_->operands(0), nullptr); !s) return refuse(s.message());
    const Result<Comparison> compared = reference == nullptr
                                            ? operands_->check(contestant.tolerance)
                                            : operands_->check(contestant.tolerance, *reference);
    if (!compared)
      return Status(compared.status().code(), contestant.name + ": " + compared.status().message());
    if (!compared->within()) {
      char numbers[96];
      std::snprintf(numbers, sizeof numbers, "wrong: error %.3g, bound %.3g", compared->error,
                    compared->bound);
      return refuse(numbers);
    }
    bursts.add(std::move(contestant));
    return true;
  }

  /// Whether the kernel takes part, run as the candidate says.
  Result<bool> add_kernel(DeviceBursts& bursts, const Candidate& candidate, const HeldArguments& arguments) {
    const Result<Plan> plan = candidate.prepare(arguments, {.overlap = setting_.options.overlap});
    if (!plan) {
      setting_.say(shape_text(result_.problem) + ": left out " + std::string(candidate.name()) + ": " +
                   plan.status().message());
      result_.wrong.emplace_back(candidate.name());
      return false;
    }
    const Workspace workspace{setting_.workspace.data(), setting_.workspace.bytes()};
    Result<bool> right =
        admit(bursts, {.name = std::string(candidate.name()),
                       .launch = [plan = *plan, workspace](
                                     const PlanOperands& operands,
                                     CUstream_st* stream) { return plan.run(operands, stream, workspace); },
                       .expected_seconds = candidate.predicted_seconds(),
                       .tolerance = tolerance_of(candidate.metadata(), arguments)});
    if (right && *right) candidates_.push_back(candidate);
    return right;
  }

  /// How far off the first output of a kernel may be.
  static Tolerance tolerance_of(const KernelMetadata& kernel, const HeldArguments& arguments) {
    detail::OperandList operands;
    arguments.list(operands);
    return lab_of(kernel.operation).tolerance(kernel, arguments, operands.front().name);
  }

  /// The fastest kernels so far take part with other controls, too, where there are any.
  Status vary_controls(DeviceBursts& bursts) {
    if (!lab_of(result_.problem.operation()).has_controls) return {};
    const FindOptions options = options_for(result_.problem, setting_);
    const Controls fixed = controls_of(asked_problem(result_.problem, options));
    for (const std::size_t i : shortest(brief_, setting_.options.vary)) {
      const Candidate kernel = candidates_[i];
      for (const Controls& controls : other_controls(kernel.controls(), fixed)) {
        const HeldArguments arguments = with(controls, operands_->arguments());
        const Result<Candidate> other = quarry::candidate_of(kernel, arguments, options);
        if (!other || other->workspace() > options.max_workspace)
          continue;  // such controls are not for this kernel
        if (const Result<bool> added = add_kernel(bursts, *other, arguments); !added) return added.status();
      }
    }
    return {};
  }

  /// Asks the library for algorithms, where it takes part. Says why it has none.
  void ask_library() {
    const auto yardstick = lab_of(result_.problem.operation()).yardstick;
    if (setting_.library == nullptr || yardstick == nullptr) return;
    Result<std::unique_ptr<Yardstick>> made =
        yardstick(*setting_.library, result_.problem, setting_.options.yardstick);
    if (!made) return setting_.say(shape_text(result_.problem) + ": " + made.status().message());
    algorithms_ = *std::move(made);
    result_.types = algorithms_->types();
    result_.yardstick_epilogue = algorithms_->epilogue();
  }

  Status add_algorithms(DeviceBursts& bursts) {
    if (!algorithms_) return {};
    // It may solve but a part of the problem, which must be right, too.
    const Problem solved = algorithms_->solved();
    std::optional<Reference> part;
    if (command_text(solved) != command_text(result_.problem)) {
      Result<Reference> reference = operands_->reference_of(solved);
      if (!reference) return reference.status();
      part = *std::move(reference);
    }
    for (std::size_t i = 0; i < algorithms_->algorithms(); ++i) {
      const Result<bool> right =
          admit(bursts,
                {.name = setting_.kind.name + (" algorithm " + std::to_string(i + 1)),
                 .launch =
                     [this, i](const PlanOperands& operands, CUstream_st* stream) {
                       return algorithms_->run(i, operands, setting_.workspace.data(), stream);
                     },
                 .expected_seconds = candidates_.front().predicted_seconds(),
                 .tolerance = algorithms_->tolerance()},
                part ? &*part : nullptr);
      if (!right) return right.status();
      if (*right) algorithm_numbers_.push_back(i);
      if (*right && i == 0) has_first_algorithm_ = true;
    }
    return {};
  }

  Status warm_up(DeviceBursts& bursts) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(warm_seconds);
    while (std::chrono::steady_clock::now() < end) {
      const int launches = launches_for(1e-3, bursts.contestants()[0].expected_seconds);
      if (Status s = bursts.start(0, 0, launches, false); !s) return s;
      if (const Result<double> done = bursts.seconds(0); !done) return done.status();
    }
    return {};
  }

  /// Adds the contestants with the shortest of these times, and both first choices.
  void add_best(std::vector<std::size_t>& numbers, std::span<const double> times, std::size_t keep_kernels,
                std::size_t keep_algorithms) const {
    for (const std::size_t i : shortest(times.first(kernels()), keep_kernels)) add(numbers, i);
    for (const std::size_t i : shortest(times.subspan(kernels()), keep_algorithms))
      add(numbers, kernels() + i);
    if (first_) add(numbers, *first_);
    if (has_first_algorithm_) add(numbers, kernels());
  }

  /// Times those who stay once more, briefly.
  Status time_again(DeviceBursts& bursts, std::span<const std::size_t> who, int rounds) {
    std::vector<double> expected;
    for (const std::size_t i : who) expected.push_back(brief_[i]);
    const Result<std::vector<double>> times = time_briefly(bursts, who, expected, rounds, dice_);
    if (!times) return times.status();
    for (std::size_t i = 0; i < who.size(); ++i) brief_[who[i]] = (*times)[i];
    return {};
  }

  /// Times those who came since the last time, briefly.
  Status time_new(DeviceBursts& bursts) {
    std::vector<std::size_t> who;
    for (std::size_t i = brief_.size(); i < bursts.contestants().size(); ++i) {
      who.push_back(i);
      brief_.push_back(bursts.contestants()[i].expected_seconds);
    }
    return time_again(bursts, who, 1);
  }

  /// Times some with gaps, so few times that it takes a second or two. @param times where they go
  Status time_calmly(DeviceBursts& bursts, std::span<const std::size_t> who, std::vector<double>& times) {
    const double least = *std::ranges::min_element(brief_);
    const Result<std::vector<Spread>> spreads =
        time_with_gaps(bursts, who, launches_for(gap_burst_seconds, least), calm_repeats, dice_);
    if (!spreads) return spreads.status();
    for (std::size_t i = 0; i < who.size(); ++i) times[who[i]] = (*spreads)[i].median;
    return {};
  }

  /// Chooses the finalists: the best of brief bursts, which follow one another; and of large problems, for
  /// which a device that was idle has a higher clock, the best of bursts with gaps.
  Status eliminate(DeviceBursts& bursts) {
    const double least = *std::ranges::min_element(brief_);
    is_large_ = std::max(least, candidates_.front().predicted_seconds()) >= large_seconds;
    std::vector<double> calm(brief_.size());
    std::vector<std::size_t> second;
    add_best(second, brief_, second_kernels, second_algorithms);
    if (is_large_) {
      std::vector<std::size_t> everyone(brief_.size());
      std::iota(everyone.begin(), everyone.end(), std::size_t{0});
      if (Status s = time_calmly(bursts, everyone, calm); !s) return s;
      add_best(second, calm, second_kernels, second_algorithms);
      if (Status s = time_calmly(bursts, second, calm); !s) return s;
    }
    if (Status s = time_again(bursts, second, second_rounds); !s) return s;
    add_best(finalists_, brief_, last_kernels, last_algorithms);
    if (is_large_) add_best(finalists_, calm, last_kernels, last_algorithms);
    for (std::size_t i = 0; i < kernels(); ++i) {
      const Candidate& candidate = candidates_[i];
      // Bursts that follow one another take up to 20 % longer when the clock of the device falls.
      const double seconds = is_large_ ? calm[i] : brief_[i];
      result_.brief.push_back({std::string(candidate.name()), controls_for(candidate),
                               candidate.predicted_seconds(), seconds, account_for(candidate)});
    }
    return {};
  }

  /// The candidate's own controls, and the problem's limit of multiprocessors, which no candidate has.
  Controls controls_for(const Candidate& candidate) const {
    Controls controls = candidate.controls();
    controls.multiprocessors = controls_of(result_.problem).multiprocessors;
    return controls;
  }

  /// With the candidate's own controls. A candidate always has an account.
  Account account_for(const Candidate& candidate) const {
    const bool has_controls = lab_of(result_.problem.operation()).has_controls;
    const HeldArguments arguments =
        has_controls ? with(controls_for(candidate), operands_->arguments()) : operands_->arguments();
    const Result<Account> account = account_of(candidate, arguments, options_for(result_.problem, setting_));
    return account ? *account : Account();
  }

  static void add(std::vector<std::size_t>& numbers, std::size_t number) {
    if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
  }

  /// Times the finalists, and says how they did.
  Status finish(DeviceBursts& bursts) {
    double least = std::numeric_limits<double>::max();
    for (const std::size_t i : finalists_) least = std::min(least, brief_[i]);
    const int repeats = setting_.options.repeats;
    result_.launches = launches_for(gap_burst_seconds, least);
    const Result<std::vector<Spread>> gaps =
        time_with_gaps(bursts, finalists_, result_.launches, repeats, dice_);
    if (!gaps) return gaps.status();
    std::vector<Timing> timings;
    for (const Spread& spread : *gaps) timings.push_back({.gaps = spread});
    if (is_large_) {
      if (Status s = load(bursts, least, timings); !s) return s;
    }
    for (std::size_t i = 0; i < finalists_.size(); ++i) enter(bursts, finalists_[i], timings[i]);
    std::vector<Timing> ours;
    for (const Finalist& each : result_.kernels) ours.push_back(each.timing);
    result_.best = best_of(ours, result_.yardstick().value_or(fastest(ours)));
    return {};
  }

  /// The timing back to back.
  Status load(DeviceBursts& bursts, double least, std::vector<Timing>& timings) {
    const int launches = launches_for(back_to_back_burst_seconds, least);
    const double round = static_cast<double>(finalists_.size()) * launches * least;
    const int warm = static_cast<int>(settle_seconds / round) + 1;
    const int repeats = setting_.options.repeats;
    if (Status s = bursts.make_laps(back_to_back_laps(finalists_.size(), warm, repeats)); !s) return s;
    const Result<std::vector<Spread>> loaded =
        time_back_to_back(bursts, finalists_, launches, warm, repeats, dice_);
    if (!loaded) return loaded.status();
    for (std::size_t i = 0; i < timings.size(); ++i) timings[i].back_to_back = (*loaded)[i];
    return {};
  }

  /// Puts a finalist into the result.
  void enter(const DeviceBursts& bursts, std::size_t contestant, const Timing& timing) {
    if (contestant < kernels()) {
      if (contestant == first_) result_.first = result_.kernels.size();
      const Candidate& candidate = candidates_[contestant];
      result_.kernels.push_back({.name = std::string(candidate.name()),
                                 .controls = controls_for(candidate),
                                 .predicted_seconds = candidate.predicted_seconds(),
                                 .timing = timing});
      return;
    }
    if (has_first_algorithm_ && contestant == kernels()) result_.algorithm_first = result_.algorithms.size();
    result_.algorithms.push_back({.name = bursts.contestants()[contestant].name,
                                  .timing = timing,
                                  .choice = algorithms_->choice(algorithm_numbers_[contestant - kernels()])});
  }

  BenchResult& result_;
  const BenchSetting& setting_;
  Random dice_{result_.seed};
  std::optional<BenchOperands> operands_;
  std::unique_ptr<Yardstick> algorithms_;
  /// Of those that take part, in the order of the contestants.
  std::vector<std::size_t> algorithm_numbers_;
  /// Kernels that take part, the one that a tuning table chooses first, then by predicted time, then those
  /// with other controls; contestants are these, then the yardstick's algorithms.
  std::vector<Candidate> candidates_;
  /// The contestant that is the predicted first choice; absent where it does not take part.
  std::optional<std::size_t> first_;
  bool has_first_algorithm_ = false;
  /// Seconds of each contestant, as far as known.
  std::vector<double> brief_;
  /// Whether it is timed back to back, too.
  bool is_large_ = false;
  std::vector<std::size_t> finalists_;
};

}  // namespace

Result<BenchResult> bench_shape(const Problem& problem, std::uint64_t seed, const BenchSetting& setting) {
  BenchResult result;
  result.problem = problem;
  result.seed = seed;
  ShapeBench bench(result, setting);
  if (Status s = bench.run(); !s) return s;
  return result;
}

}  // namespace quarry::lab
