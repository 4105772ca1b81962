#include "registry/query/explain.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace quarry::detail {
namespace {

constexpr std::string_view reason_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::filtered: return "The filter leaves it out";
    case Verdict::not_precompiled: return "There is no machine code of it for the device";
    case Verdict::over_workspace: return "It needs more workspace than is allowed";
    case Verdict::other_class: return "It adds up in another order than the chosen class (batch-invariant)";
    default: return "";
  }
}

constexpr Verdict left_out_by_options[] = {Verdict::filtered, Verdict::not_precompiled,
                                           Verdict::over_workspace, Verdict::other_class};

}  // namespace

void Tally::count(Verdict verdict, const Status& why) {
  ++by_verdict_[static_cast<std::size_t>(verdict)];
  if (verdict != Verdict::unsupported) return;
  const auto same = [&](const Reasoned& r) {
    if (r.first.reason() != why.reason() || r.first.operand() != why.operand()) return false;
    return why.reason() != Reason::text || r.first.message() == why.message();
  };
  const auto known = std::find_if(unsupported_.begin(), unsupported_.end(), same);
  if (known != unsupported_.end()) {
    ++known->kernels;
  } else {
    unsupported_.push_back({why, 1});
  }
}

std::vector<Rejection> Tally::rejections() const {
  std::vector<Rejection> result;
  for (const Reasoned& r : unsupported_) result.push_back({r.first.message(), r.kernels});
  for (const Verdict verdict : left_out_by_options) {
    const std::size_t kernels = by_verdict_[static_cast<std::size_t>(verdict)];
    if (kernels > 0) result.push_back({std::string(reason_of(verdict)), kernels});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Rejection& a, const Rejection& b) { return a.kernels > b.kernels; });
  return result;
}

Status Tally::why_empty() const {
  std::size_t all = 0;
  for (const std::size_t kernels : by_verdict_) all += kernels;
  const std::size_t unsupported = by_verdict_[static_cast<std::size_t>(Verdict::unsupported)];
  std::string text =
      all == 1 ? "The only kernel of these types and layouts is left out: "
               : "None of the " + std::to_string(all) + " kernels of these types and layouts is left: ";
  std::string_view separator = "";
  for (const Rejection& rejection : rejections()) {
    text.append(separator).append(std::to_string(rejection.kernels)).append(": ").append(rejection.reason);
    separator = "; ";
  }
  return {unsupported == all ? StatusCode::unsupported : StatusCode::filtered_out, text};
}

}  // namespace quarry::detail
