/// The problems of a campaign: whatever a user could ask for, whether or not some kernel takes it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lab/campaign/draw_epilogue.hpp"
#include "lab/coverage/coverage_rows.hpp"
#include "quarry/gemm.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab::gemm {

/// What problems are drawn from.
struct CampaignSpace {
  /// The types that there are kernels of, each once.
  std::vector<TypeKey> types;
  /// Those, with the math of any problem that they serve, of which some kernel takes every problem, in all
  /// layouts.
  std::set<TypeKey> always_there;
  /// Of all types, the layouts of which some kernel takes every problem.
  std::map<TypeKey, std::set<LayoutKey>> fallbacks;
  /// The same two of problems with scales of operands.
  std::set<TypeKey> always_scaled;
  std::map<TypeKey, std::set<LayoutKey>> scaled_fallbacks;
  /// As always_scaled, of problems with zero points.
  std::set<TypeKey> always_with_zeros;
  /// The most that an extent of M, N or K is.
  std::int64_t extent = 2000;
  /// The most that a problem may cost (see campaign_cost): extents are drawn again where they cost more.
  double cost = 0;
};

/// The space of these kernels. @param cost the most that a problem may cost
CampaignSpace campaign_space(std::span<const Kernel> kernels, double cost);

/// Whether some kernel takes every problem of these types, and of layouts that these operands fit.
bool is_always_taken(const CampaignSpace& space, const GemmArguments& args);

/// Multiplications, and for each element of an operand as many as take about the time to make and check it.
double campaign_cost(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch);

struct CampaignProblem {
  /// Fake tensors.
  GemmArguments arguments;
  /// Their epilogue and C, and how these are given memory.
  DrawnEpilogue drawn = {};
};

/// The problem of a seed: types and layouts, extents that are log-uniform from 1, batches by strides or
/// through arrays of pointers, padded, broadcast and odd strides, alignment, everything that an epilogue can
/// have, or an expression in its place, gated pairs and reductions among them, and controls. Some have types
/// that no kernel has, or controls that hardly any takes; and one in about 200 breaks a rule of the API. One
/// in six has scales of A, of B (half of unsigned weights with zero points) or of both and no expression, but
/// where s32 is computed in.
CampaignProblem campaign_problem(const CampaignSpace& space, std::uint64_t seed);

/// The problem in a line: "300x7x1024 batch 3, a f16 (7168, 1024, 1) align 8, ...".
std::string described(const CampaignProblem& problem);

}  // namespace quarry::lab::gemm
