/// What a benchmark measures kernels by: the algorithms of another library.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lab/problems/problem.hpp"
#include "lab/reference/tolerance.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab {

/// Bytes of workspace that kernels and algorithms may use: enough for copies of large operands in front of a
/// product.
inline constexpr std::size_t bench_workspace = std::size_t{512} << 20;

/// What the library is given of a problem, where there is a choice.
struct YardstickOptions {
  /// Blocks of scales, as they are. Otherwise it is given one factor in their place.
  bool block_scales = false;
};

/// A part of what an algorithm is: {"tile", "128x256"}. A value of digits alone is a number.
struct ChoicePart {
  std::string name;
  std::string value;

  friend bool operator==(const ChoicePart&, const ChoicePart&) = default;
};

/// One problem as another library solves it.
class Yardstick {
 public:
  virtual ~Yardstick() = default;

  /// Changes how operands of the problem are stored that the library reads in one form alone. Kernels get the
  /// same operands. @param arguments of the problem, with fake tensors
  virtual void store(HeldArguments& arguments) const { (void)arguments; }
  /// Algorithms offered for the problem, at least one.
  virtual std::size_t algorithms() const = 0;
  /// Puts one run on the stream. `workspace` holds bench_workspace bytes.
  virtual Status run(std::size_t algorithm, const PlanOperands& operands, void* workspace,
                     CUstream_st* stream) const = 0;
  /// How far off its results may be.
  virtual Tolerance tolerance() const = 0;
  /// The problem's types, for a title: "f16 x f16 to f16".
  virtual std::string types() const = 0;
  /// The problem that it solves: where it cannot do all of the one that it was made for, a part of it, with
  /// the same operands.
  virtual Problem solved() const = 0;
  /// The epilogue of that in few words: "bias, gelu_tanh"; where it is but a part, with why: "plain (it has
  /// no silu)".
  virtual std::string epilogue() const = 0;
  /// What an algorithm is, in the library's words; empty where it does not tell.
  virtual std::vector<ChoicePart> choice(std::size_t algorithm) const = 0;
};

}  // namespace quarry::lab
