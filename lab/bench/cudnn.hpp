/// cuDNN, whose engines are the yardstick of convolutions.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "lab/bench/cudnn_api.hpp"
#include "lab/bench/yardstick_library.hpp"

namespace quarry::lab {

/// Gives an object of the library back to it. The library stays open, and so do its functions.
struct CudnnDestroy {
  CudnnFunctions functions = {};

  void operator()(CudnnContext* context) const { (void)functions.destroy(context); }
  void operator()(CudnnObject* object) const { (void)functions.unmake(object); }
};

/// The library with a context on the current device. Movable.
class Cudnn final : public YardstickLibrary {
 public:
  static const YardstickKind kind;

  /// Opens the library as open_cudnn does. Asks no device.
  static Result<Cudnn> open(const std::string& path);
  /// The library of these functions.
  static Cudnn of(const CudnnFunctions& functions);
  Status start() override;
  /// 91900 for 9.19.0.
  std::size_t version() const override { return functions_.version(); }

  const CudnnFunctions& functions() const { return functions_; }
  CudnnContext* context() const { return context_.get(); }

 private:
  CudnnFunctions functions_ = {};
  std::unique_ptr<CudnnContext, CudnnDestroy> context_;
};

}  // namespace quarry::lab
