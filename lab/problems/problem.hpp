/// A problem of any operation as the command line describes it: sizes, operands, epilogue and controls, as
/// values without data.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/problems/held_arguments.hpp"
#include "lab/problems/operands.hpp"
#include "registry/tuning/query_options.hpp"

namespace quarry::lab {

/// The description of one problem: gemm::Problem, reduce_split_k::Problem, ... (operations/NAME/lab/). An
/// immutable value.
class Problem {
 public:
  /// None: good for being assigned to.
  Problem() = default;
  /// From a struct that names its operation in a static member `operation`.
  template <class P>
  requires std::same_as<decltype(P::operation), const Operation> Problem(P problem)
      : operation_(P::operation), problem_(std::make_shared<const P>(std::move(problem))) {}

  Operation operation() const { return operation_; }

  /// The struct of a known operation. @pre the problem is of this operation
  template <class P>
  const P& as() const {
    return *static_cast<const P*>(problem_.get());
  }

  /// Where the problem comes from, in its shapes file's words; may be empty.
  std::string label = {};
  /// What a query for it asks for.
  detail::QueryOptions options = {};

 private:
  Operation operation_ = {};
  std::shared_ptr<const void> problem_;
};

/// The problem with fake tensors: good for everything except runs.
HeldArguments arguments_of(const Problem& problem);

/// How memory is made for the problem's operands.
OperandOptions operand_options(const Problem& problem, std::uint64_t seed);

/// The problem's controls, {} where it has none; and the problem with others, if it can have any.
Controls controls_of(const Problem& problem);
Problem with(const Controls& controls, const Problem& problem);

bool has_controls(const Problem& problem);

/// "4096x4096x4096", with a batch and a "*" in front where there is one.
std::string shape_text(const Problem& problem);

/// The problem in the words of the command line, "gemm 4096x4096x4096 --a f16:row ...", with its options,
/// such that parsing gives it back.
std::string command_text(const Problem& problem);
/// The same without options: of the plain problem.
std::string plain_text(const Problem& problem);

/// The sizes by name, for programs: {"m", 4096}, ...
using NamedSizes = std::vector<std::pair<std::string_view, std::int64_t>>;
NamedSizes sizes_of(const Problem& problem);

/// Operations on elements: of products, two for each multiplication; of a reduction, its additions.
double flops(const Problem& problem);

/// Bytes of the operands that a run touches.
double touched_bytes(const Problem& problem);

/// Bytes of memory that all operands need. @param copies how many there are of each output
double memory_bytes(const Problem& problem, int copies = 1);

/// What so many seconds mean: "123.456 TFLOP/s" of an operation that multiplies, "123.4 GB/s" of one that
/// moves memory.
std::string speed_text(const Problem& problem, double seconds);

/// Ok where the problem has something to do; parse_error where a size is 0.
Status check_not_empty(const Problem& problem);

}  // namespace quarry::lab
