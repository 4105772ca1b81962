/// A convolution as cuDNN solves it: the yardstick.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "lab/bench/cudnn_object.hpp"
#include "lab/bench/yardstick.hpp"
#include "operations/conv2d/lab/operation.hpp"

namespace quarry::lab::conv2d {

/// Plans that are asked for, of each way to choose them.
inline constexpr std::int64_t asked_plans = 32;

/// One problem: its graph, and plans of the engines that the library's heuristics name for it. Those that
/// round inputs to fewer bits, or add in fewer, than the problem allows are left out. Movable; the library
/// must outlive it.
class CudnnProblem final : public Yardstick {
 public:
  /// cuDNN is asked for the sums alone, without the epilogue. Fails with unsupported for a problem that it
  /// does not solve.
  static Result<CudnnProblem> make(const Cudnn& library, const Problem& problem);

  std::size_t algorithms() const override { return plans_.size(); }
  Status run(std::size_t algorithm, const PlanOperands& operands, void* workspace,
             CUstream_st* stream) const override;
  /// As of kernels on tensor cores, times 8: some engines add slices in the output's type.
  Tolerance tolerance() const override;
  std::string types() const override;
  lab::Problem solved() const override { return problem_; }
  std::string epilogue() const override;
  /// Empty: an engine's knobs have numbers that cuDNN does not explain.
  std::vector<ChoicePart> choice(std::size_t) const override { return {}; }

 private:
  /// Pointers of A, B, the output and the workspace.
  using Pointers = std::array<const void*, 4>;

  /// Makes an object, and keeps it as long as the problem.
  Result<const OwnedCudnnObject*> keep(Result<OwnedCudnnObject> made);
  Result<const OwnedCudnnObject*> describe_tensor(const TensorView& view, const OperandSpec& spec,
                                                  std::int64_t id);
  Result<const OwnedCudnnObject*> describe_windows();
  /// The graph: one convolution.
  Result<const OwnedCudnnObject*> describe();
  /// Adds the plans that the heuristics offer.
  Status ask(const OwnedCudnnObject& graph, CudnnHeuristicsMode mode);
  void add_plan(OwnedCudnnObject config);
  /// Whether the problem allows what an engine does to numbers.
  bool allows(const CudnnObject& config) const;
  Result<CudnnObject*> pack_of(const Pointers& pointers) const;

  const Cudnn* library_ = nullptr;
  Problem problem_;
  /// It had an epilogue.
  bool is_part_ = false;
  std::vector<std::unique_ptr<OwnedCudnnObject>> kept_;
  std::vector<OwnedCudnnObject> plans_;
  /// Made when they are first used: launches are many, operands few.
  mutable std::map<Pointers, OwnedCudnnObject> packs_;
};

}  // namespace quarry::lab::conv2d
