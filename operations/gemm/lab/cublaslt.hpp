/// A GEMM as cuBLASLt solves it: the yardstick.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "lab/bench/cublaslt.hpp"
#include "lab/bench/yardstick.hpp"
#include "operations/gemm/lab/cublaslt_epilogue.hpp"
#include "operations/gemm/lab/problem.hpp"

namespace quarry::lab::gemm {

/// Algorithms that are asked for.
inline constexpr int asked_algorithms = 32;

/// alpha or beta as cuBLASLt reads them: a value of the type that sums are kept in.
struct CublasLtFactor {
  alignas(8) std::byte bytes[8] = {};
};

/// One problem: descriptors and the algorithms offered for it. Movable; the library must outlive it.
class CublasLtProblem final : public Yardstick {
 public:
  /// Where cuBLASLt has not the problem's epilogue, or no algorithm with it, it is asked for the rest
  /// without (simpler_problems). Fails with unsupported for a problem that it does not solve so either, and
  /// where the options ask for blocks of scales that it does not take.
  static Result<CublasLtProblem> make(const CublasLt& library, const Problem& problem,
                                      const YardstickOptions& options = {});

  void store(HeldArguments& arguments) const override;
  std::size_t algorithms() const override { return offers_.size(); }
  Status run(std::size_t algorithm, const PlanOperands& operands, void* workspace,
             CUstream_st* stream) const override;
  /// As of kernels on tensor cores, times 8: some algorithms add slices of K in the output's type.
  Tolerance tolerance() const override;
  std::string types() const override;
  lab::Problem solved() const override { return problem_; }
  std::string epilogue() const override;
  std::vector<ChoicePart> choice(std::size_t algorithm) const override;

 private:
  template <class Object>
  using Owned = std::unique_ptr<Object, CublasLtDestroy>;

  /// Of a problem whose epilogue it has. Fails with unsupported where there is no algorithm.
  static Result<CublasLtProblem> make(const CublasLt& library, const Problem& problem,
                                      const CublasLtEpilogue& epilogue);
  Status describe(const Problem& problem);
  /// Whether products are summed in the matrix instruction alone, without promotion.
  bool adds_up_fast() const;
  Status describe_scales(const Problem& problem);
  /// Tells where scales lie, if there are any.
  Status set_scales(const void* of_a, const void* of_b) const;
  Status describe_epilogue(const Problem& problem);
  Status set(int attribute, const void* value, std::size_t bytes) const;
  Status make_layout(const OperandSpec& spec, std::int64_t rows, std::int64_t columns, std::int64_t batch,
                     Owned<CublasLtMatrixLayout>& layout) const;
  Status ask(const Problem& problem);
  Status check(int status, const char* what) const;

  const CublasLt* library_ = nullptr;
  Problem problem_;
  /// A row-major output is the transposed problem, whose operands are exchanged.
  bool exchanged_ = false;
  CublasLtEpilogue epilogue_;
  /// Why the problem is not the one that was asked for: "it has no silu". Empty where it is.
  std::string why_other_;
  CublasLtFactor alpha_;
  CublasLtFactor beta_;
  Owned<CublasLtMatmulDesc> desc_;
  Owned<CublasLtMatrixLayout> a_;  ///< in the library's order
  Owned<CublasLtMatrixLayout> b_;
  Owned<CublasLtMatrixLayout> c_;
  Owned<CublasLtMatrixLayout> out_;
  std::vector<CublasLtOffer> offers_;
};

}  // namespace quarry::lab::gemm
