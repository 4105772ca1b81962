#include "registry/query/query.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "operations/gemm/normalise.hpp"
#include "operations/gemm/resolve.hpp"
#include "operations/reduce_split_k/problem.hpp"
#include "operations/reduce_split_k/query.hpp"
#include "registry/query/memo.hpp"

namespace quarry {
namespace detail {
namespace {

/// With the controls as the caller names them: only GEMMs have any. A limit of multiprocessors is his, no
/// choice.
Candidate candidate(const Row& row, const ChosenControls& chosen, double seconds, std::size_t workspace) {
  if (row.metadata.operation != Operation::gemm) return {row, {}, seconds, workspace};
  const Raster raster = row.exchanged ? exchanged(chosen.raster) : chosen.raster;
  return {row, {chosen.mode, chosen.split_k_slices, chosen.swizzle, raster}, seconds, workspace};
}

/// What to remember of a list of one.
Answer answer_of(const CandidateList& list) {
  const Candidate& first = list.front();
  const Controls& c = first.controls();
  const Raster raster = first.row().exchanged ? exchanged(*c.raster) : *c.raster;
  return {&first.row(),
          {*c.mode, *c.split_k_slices, *c.swizzle, raster},
          first.predicted_seconds(),
          first.workspace(),
          list.matched()};
}

/// Only the best candidate of any kind is worth remembering: of longer answers, finding is less than copying.
bool is_memorable(const Filter& filter, const FindOptions& options) {
  return options.limit == 1 && !options.explain && !filter.restricts();
}

}  // namespace

Verdict check_predicate(const Row& row, const Wishes& wishes) {
  if (wishes.options.availability == Availability::precompiled && !is_precompiled(row, wishes.device.cc)) {
    return Verdict::not_precompiled;
  }
  return wishes.filter(row.metadata) ? Verdict::taken : Verdict::filtered;
}

Verdict estimate(const Row& row, const GemmProfile& profile, const Request& request, Offer& offer) {
  const std::size_t max_workspace = request.wishes.options.max_workspace;
  const Estimate estimate =
      gemm_family(row).estimate(profile, request.problems[row.exchanged], max_workspace);
  offer.row = &row;
  offer.controls.mode = estimate.controls.mode;
  offer.controls.split_k_slices = estimate.controls.split_k_slices;
  offer.controls.swizzle = estimate.controls.swizzle;
  offer.controls.raster = estimate.controls.raster;
  offer.seconds = static_cast<float>(estimate.seconds);
  offer.workspace = estimate.workspace;
  return estimate.workspace > max_workspace ? Verdict::over_workspace : Verdict::taken;
}

Verdict judge(const Row& row, const Request& request, Offer& offer, Status& why) {
  const DeviceModel& device = request.wishes.device;
  GemmProfile computed;
  if (request.profiles == nullptr) computed = gemm_family(row).profile(row.entry_config, device);
  const GemmProfile& profile = request.profiles != nullptr ? request.profiles->of_entry[row.entry] : computed;
  why = check_constraints(row, profile, request.problems[row.exchanged], device);
  if (!why) return Verdict::unsupported;
  const Verdict verdict = check_predicate(row, request.wishes);
  return verdict == Verdict::taken ? estimate(row, profile, request, offer) : verdict;
}

std::vector<std::uint32_t> ranked(std::span<const Offer> offers, Order order) {
  // Bits of positive floats are ordered as the floats are; the index below them settles ties.
  std::vector<std::uint64_t> keys(offers.size());
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const std::uint64_t time =
        order == Order::best_first ? std::bit_cast<std::uint32_t>(offers[i].seconds) : 0;
    keys[i] = time << 32 | i;
  }
  if (order == Order::best_first) std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> indexes(offers.size());
  std::transform(keys.begin(), keys.end(), indexes.begin(),
                 [](std::uint64_t key) { return static_cast<std::uint32_t>(key); });
  return indexes;
}

std::size_t best(std::span<const Offer> offers, Order order) {
  if (order == Order::registry) return 0;
  const auto faster = [](const Offer& a, const Offer& b) { return a.seconds < b.seconds; };
  return static_cast<std::size_t>(std::min_element(offers.begin(), offers.end(), faster) - offers.begin());
}

}  // namespace detail

using namespace detail;

CandidateList Query::only(const Row& row, const ChosenControls& controls, double seconds,
                          std::size_t workspace, std::size_t matched) {
  CandidateList list;
  list.only_ = candidate(row, controls, seconds, workspace);
  list.matched_ = matched;
  return list;
}

CandidateList Query::one(std::span<const Offer> offers, const FindOptions& options) {
  const Offer& first = offers[best(offers, options.order)];
  return only(*first.row, first.controls, first.seconds, first.workspace, offers.size());
}

CandidateList Query::many(std::span<const Offer> offers, const FindOptions& options) {
  CandidateList list;
  const std::vector<std::uint32_t> order = ranked(offers, options.order);
  const std::size_t count = std::min(options.limit, order.size());
  list.many_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Offer& offer = offers[order[i]];
    list.many_.push_back(candidate(*offer.row, offer.controls, offer.seconds, offer.workspace));
  }
  list.matched_ = offers.size();
  if (count == 0) {
    list.status_ = {StatusCode::filtered_out,
                    "The limit of 0 leaves none of " + std::to_string(offers.size()) + " matching kernels"};
  }
  return list;
}

template <class AnyRequest>
CandidateList Query::none(const AnyRequest& request, const RowRanges& ranges) {
  Tally tally;
  (void)offers(request, ranges, &tally);
  CandidateList list(tally.why_empty());
  if (request.wishes.options.explain) list.rejections_ = tally.rejections();
  return list;
}

template <class AnyRequest>
CandidateList Query::afresh(const AnyRequest& request) {
  const RowRanges ranges = compatible_rows(request.problem());
  if (ranges.empty()) return CandidateList(no_kernel(request.problem()));
  const FindOptions& options = request.wishes.options;
  Tally tally;
  const std::vector<Offer> found = offers(request, ranges, options.explain ? &tally : nullptr);
  if (found.empty()) return none(request, ranges);
  CandidateList list = options.limit == 1 ? one(found, options) : many(found, options);
  if (options.explain) list.rejections_ = tally.rejections();
  return list;
}

CandidateList Query::answer(const GemmArguments& arguments, const Filter& filter, const FindOptions& options,
                            Recall recall) {
  GemmProblem problem;
  if (Status s = normalise(arguments, problem); !s) return CandidateList(std::move(s));
  const DeviceModel& device = options.device != nullptr ? *options.device : model_for(arguments);
  if (Status s = check_model(device); !s) return CandidateList(std::move(s));

  const DeviceProfiles* const profiles = profiles_on(device);
  const bool memorable = recall == Recall::yes && profiles != nullptr && is_memorable(filter, options);
  Question asked;
  if (memorable) {
    asked = question(problem, options, *profiles);
    if (const Answer* a = detail::recall(asked))
      return only(*a->row, a->controls, a->seconds, a->workspace, a->matched);
  }
  CandidateList list = afresh(Request{{problem, exchanged(problem)}, profiles, {device, filter, options}});
  if (memorable && !list.empty()) remember(asked, answer_of(list));
  return list;
}

Result<Candidate> Query::candidate_of(const Kernel& kernel, const GemmArguments& arguments,
                                      const FindOptions& options) {
  const Row& row = kernel.row();
  if (Status s = check_operation(row, Operation::gemm); !s) return s;
  GemmProblem problem;
  if (Status s = normalise(arguments, problem); !s) return s;
  const DeviceModel& device = options.device != nullptr ? *options.device : model_for(arguments);
  if (Status s = check_model(device); !s) return s;
  if (Status s = check_signature(row, problem); !s) return s;
  const Filter any;
  const Request request = {{problem, exchanged(problem)}, nullptr, {device, any, options}};
  const GemmProfile profile = gemm_family(row).profile(row.entry_config, device);
  if (Status s = check_constraints(row, profile, request.problems[row.exchanged], device); !s) return s;
  Offer offer;
  if (estimate(row, profile, request, offer) == Verdict::over_workspace) {
    return Status(StatusCode::filtered_out,
                  "It needs " + std::to_string(offer.workspace) + " bytes of workspace");
  }
  return candidate(row, offer.controls, offer.seconds, offer.workspace);
}

CandidateList Query::answer(const ReduceSplitKArguments& arguments, const Filter& filter,
                            const FindOptions& options) {
  ReduceProblem problem;
  if (Status s = normalise(arguments, problem); !s) return CandidateList(std::move(s));
  const DeviceModel& device = options.device != nullptr ? *options.device : model_for(arguments);
  if (Status s = check_model(device); !s) return CandidateList(std::move(s));
  return afresh(ReduceRequest{problem, {device, filter, options}});
}

Result<Candidate> Query::candidate_of(const Kernel& kernel, const ReduceSplitKArguments& arguments,
                                      const FindOptions& options) {
  const Row& row = kernel.row();
  const DeviceModel& device = options.device != nullptr ? *options.device : model_for(arguments);
  ReduceProblem problem;
  if (Status s = resolve(row, arguments, device, problem); !s) return s;
  return candidate(row, {}, reduce_family(row).estimate(row.entry_config, problem, device), 0);
}

}  // namespace quarry
