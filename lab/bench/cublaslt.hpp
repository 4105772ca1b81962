/// A problem as cuBLASLt solves it: the yardstick.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "lab/bench/cublaslt_api.hpp"
#include "lab/device/device_buffer.hpp"
#include "lab/problems/problem.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab {

/// Algorithms that are asked for, and bytes of workspace that they may use.
inline constexpr int asked_algorithms = 32;
inline constexpr std::size_t bench_workspace = std::size_t{64} << 20;

/// Gives an object of the library back to it. The library stays open, and so do its functions.
struct CublasLtDestroy {
  CublasLtFunctions functions = {};

  void operator()(CublasLtContext* context) const { (void)functions.destroy(context); }
  void operator()(CublasLtMatmulDesc* desc) const { (void)functions.desc_destroy(desc); }
  void operator()(CublasLtMatrixLayout* layout) const { (void)functions.layout_destroy(layout); }
  void operator()(CublasLtPreference* preference) const { (void)functions.preference_destroy(preference); }
};

/// alpha or beta as cuBLASLt reads them: a value of the type that sums are kept in.
struct CublasLtFactor {
  alignas(8) std::byte bytes[8] = {};
};

/// The library with a context on the current device. Movable.
class CublasLt {
 public:
  /// Opens the library as open_cublaslt does. Asks no device.
  static Result<CublasLt> open(const std::string& path);
  /// The library of these functions.
  static CublasLt of(const CublasLtFunctions& functions);
  /// Makes the context. Fails with device_error.
  Status start();

  const CublasLtFunctions& functions() const { return functions_; }
  CublasLtContext* context() const { return context_.get(); }
  /// As the library counts: 130000 and more for 13.0.
  std::size_t version() const { return functions_.version(); }

 private:
  CublasLtFunctions functions_ = {};
  std::unique_ptr<CublasLtContext, CublasLtDestroy> context_;
};

/// One problem: descriptors and the algorithms offered for it. Movable; the library must outlive it.
class CublasLtProblem {
 public:
  /// Fails with unsupported for a problem that cuBLASLt does not solve, or not in one call.
  static Result<CublasLtProblem> make(const CublasLt& library, const Problem& problem);

  std::size_t algorithms() const { return offers_.size(); }
  /// Puts one product on the stream. `workspace` holds bench_workspace bytes.
  Status run(std::size_t algorithm, const PlanOperands& operands, void* workspace, CUstream_st* stream) const;

 private:
  template <class Object>
  using Owned = std::unique_ptr<Object, CublasLtDestroy>;

  Status describe(const Problem& problem);
  Status make_layout(const OperandSpec& spec, std::int64_t rows, std::int64_t columns, std::int64_t batch,
                     Owned<CublasLtMatrixLayout>& layout) const;
  Status ask(const Problem& problem);
  Status check(int status, const char* what) const;

  const CublasLt* library_ = nullptr;
  /// A row-major output is the transposed problem, whose operands are exchanged.
  bool exchanged_ = false;
  bool reads_c_ = false;
  CublasLtFactor alpha_;
  CublasLtFactor beta_;
  Owned<CublasLtMatmulDesc> desc_;
  Owned<CublasLtMatrixLayout> a_;  ///< in the library's order
  Owned<CublasLtMatrixLayout> b_;
  Owned<CublasLtMatrixLayout> c_;
  Owned<CublasLtMatrixLayout> out_;
  std::vector<CublasLtOffer> offers_;
};

}  // namespace quarry::lab
