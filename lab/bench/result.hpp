/// What the benchmark of one problem found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/bench/statistics.hpp"
#include "lab/bench/yardstick.hpp"
#include "lab/problems/problem.hpp"
#include "quarry/account.hpp"

namespace quarry::lab {

/// A kernel, or an algorithm of a yardstick's library, that was timed to the end.
struct Finalist {
  std::string name;
  /// A kernel's, chosen for the problem.
  Controls controls = {};
  /// By the ranking; of kernels only.
  std::optional<double> predicted_seconds = std::nullopt;
  Timing timing = {};
  /// Of algorithms only: what it is (Yardstick::choice).
  std::vector<ChoicePart> choice = {};
};

/// A kernel that was timed briefly; of large problems, with gaps.
struct BriefTime {
  std::string name;
  Controls controls;
  double predicted_seconds = 0;
  double seconds = 0;
  /// What the prediction is made of.
  Account account = {};
};

struct BenchResult {
  Problem problem;
  std::uint64_t seed = 0;
  /// Kernels that match, and how many of them were timed.
  std::size_t matched = 0;
  std::size_t timed = 0;
  /// Launches in each burst with gaps.
  int launches = 0;
  /// Operand sets that bursts rotate through.
  std::size_t sets = 0;
  std::vector<Finalist> kernels;
  /// The best of `kernels`, and the predicted first choice, absent where that is wrong or did not run.
  std::size_t best = 0;
  std::optional<std::size_t> first;
  /// The yardstick's, in no order; empty without one.
  std::vector<Finalist> algorithms;
  /// The problem's types, in its words: "f16 x f16 to f16".
  std::string types;
  /// What it does with the sums (Yardstick::epilogue); empty without one.
  std::string yardstick_epilogue;
  /// Its own first choice.
  std::optional<std::size_t> algorithm_first;
  std::vector<BriefTime> brief;
  /// Names of kernels, and algorithms, whose result was wrong or that failed.
  std::vector<std::string> wrong;

  /// The fastest algorithm under each load; absent without a yardstick.
  std::optional<Timing> yardstick() const;
  /// The algorithm that is fastest with gaps; null without a yardstick.
  const Finalist* fastest_algorithm() const;
  /// Of the best kernel beside the yardstick.
  std::optional<Standing> ratio() const;
  /// Of the first choice beside the best kernel: 1 at most, except for noise.
  std::optional<Standing> first_ratio() const;
  /// Of its own first choice beside the yardstick.
  std::optional<Standing> algorithm_first_ratio() const;
};

/// "tile 128x256, stages 64x4, cluster 2x1x1, split_k 1".
std::string choice_text(const std::vector<ChoicePart>& choice);

/// The controls in the words of flags, less what is usual: "split_k_parallel 4, swizzle 8".
std::string controls_text(const Controls& controls);

}  // namespace quarry::lab
