#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "text.hpp"

namespace quarry::golden {
namespace {

/// Candidates of a long answer that are written.
constexpr std::size_t shown_candidates = 50;

std::string status_text(const Status& status) {
  return std::string(to_string(status.code())) + ": " + status.message() + "\n";
}

template <class Value>
std::string number_or_none(const std::optional<Value>& value) {
  return value ? std::to_string(static_cast<int>(*value)) : "-";
}

std::string controls_text(const Controls& c) {
  return number_or_none(c.mode) + "," + number_or_none(c.split_k_slices) + "," + number_or_none(c.swizzle) +
         "," + number_or_none(c.raster) + "," + number_or_none(c.multiprocessors);
}

/// The time as its bits, so that a change of the last one is seen.
std::string candidate_text(const Candidate& candidate) {
  char time[32];
  std::snprintf(time, sizeof time, "%016llx",
                static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(candidate.predicted_seconds())));
  return std::string(candidate.name()) + " " + controls_text(candidate.controls()) + " " + time + " " +
         std::to_string(candidate.workspace()) + "\n";
}

std::string list_text(const CandidateList& list) {
  std::string text = "status " + status_text(list.status()) + "size " + std::to_string(list.size()) +
                     " matched " + std::to_string(list.matched()) + "\n";
  for (std::size_t i = 0; i < std::min(list.size(), shown_candidates); ++i) text += candidate_text(list[i]);
  for (const Rejection& rejection : list.rejections()) {
    text += "rejected " + std::to_string(rejection.kernels) + ": " + rejection.reason + "\n";
  }
  return text;
}

/// What one kernel says of the arguments.
template <class Arguments>
std::string kernel_text(const Kernel& kernel, const Arguments& arguments) {
  std::string text = std::string(kernel.name()) + "\n  supports " + status_text(kernel.supports(arguments));
  const Result<std::size_t> bytes = kernel.workspace_size(arguments);
  text += "  workspace " + (bytes ? std::to_string(*bytes) + "\n" : status_text(bytes.status()));
  return text;
}

/// The same problem with an eighth of K, and with a mode of its own.
std::array<GemmArguments, 2> neighbours(const GemmArguments& arguments) {
  GemmArguments shorter = arguments;
  shorter.a.extents[shorter.a.rank - 1U] /= 8;
  shorter.b.extents[shorter.b.rank - 2U] /= 8;
  GemmArguments split = arguments;
  split.controls.mode = Mode::split_k_serial;
  return {shorter, split};
}

/// What a candidate says of the problem that it was found for. It brings controls along, which need not go
/// with other problems.
std::string chosen_text(const Candidate& candidate, const GemmArguments& arguments) {
  std::string text = "chosen " + kernel_text(candidate, arguments);
  for (const GemmArguments& other : neighbours(arguments)) text += "other " + kernel_text(candidate, other);
  return text;
}
std::string chosen_text(const Candidate& candidate, const ReduceSplitKArguments& arguments) {
  return "chosen " + kernel_text(candidate, arguments);
}

Filter filter_of(std::string_view text) {
  if (text.empty()) return {};
  Result<Filter> filter = Filter::parse(text);
  if (filter) return *std::move(filter);
  std::fprintf(stderr, "%s\n", filter.status().message().c_str());
  std::exit(2);
}

template <class Arguments>
std::string answers(const Problem& problem, const Arguments& arguments) {
  FindOptions options = problem.options;
  options.device = &problem.device;
  const Filter filter = filter_of(problem.filter);
  const CandidateList list = get_kernels(arguments, filter, options);
  std::string text = list_text(list);
  if (options.limit == 1) text += "again " + list_text(get_kernels(arguments, filter, options));
  for (const Kernel& kernel : problem.asked) text += kernel_text(kernel, arguments);
  if (!list.empty()) text += chosen_text(list.front(), arguments);
  if (list.size() > 1) text += chosen_text(list[list.size() - 1], arguments);
  return text;
}

}  // namespace

std::string answers_text(const Problem& problem) {
  return problem.reduces ? answers(problem, problem.reduction) : answers(problem, problem.gemm);
}

}  // namespace quarry::golden
