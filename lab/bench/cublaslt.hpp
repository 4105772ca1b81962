/// cuBLASLt, whose algorithms are the yardstick of operations that it has.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "lab/bench/cublaslt_api.hpp"
#include "lab/bench/yardstick_library.hpp"

namespace quarry::lab {

/// Gives an object of the library back to it. The library stays open, and so do its functions.
struct CublasLtDestroy {
  CublasLtFunctions functions = {};

  void operator()(CublasLtContext* context) const { (void)functions.destroy(context); }
  void operator()(CublasLtMatmulDesc* desc) const { (void)functions.desc_destroy(desc); }
  void operator()(CublasLtMatrixLayout* layout) const { (void)functions.layout_destroy(layout); }
  void operator()(CublasLtPreference* preference) const { (void)functions.preference_destroy(preference); }
};

/// The library with a context on the current device. Movable.
class CublasLt final : public YardstickLibrary {
 public:
  static const YardstickKind kind;

  /// Opens the library as open_cublaslt does. Asks no device.
  static Result<CublasLt> open(const std::string& path);
  /// The library of these functions.
  static CublasLt of(const CublasLtFunctions& functions);
  Status start() override;
  /// 130000 and more for 13.0.
  std::size_t version() const override { return functions_.version(); }

  const CublasLtFunctions& functions() const { return functions_; }
  CublasLtContext* context() const { return context_.get(); }

 private:
  CublasLtFunctions functions_ = {};
  std::unique_ptr<CublasLtContext, CublasLtDestroy> context_;
};

}  // namespace quarry::lab
