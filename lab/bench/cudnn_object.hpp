/// Objects of cuDNN, each made, told its attributes and finished.
#pragma once

#include <memory>
#include <span>

#include "lab/bench/cudnn.hpp"

namespace quarry::lab {

using OwnedCudnnObject = std::unique_ptr<CudnnObject, CudnnDestroy>;

/// Ok, or unsupported: what cuDNN cannot do.
Status check_cudnn(const CudnnFunctions& functions, int status, const char* what);

/// An object on its way. The first failure is kept.
class CudnnBuild {
 public:
  CudnnBuild(const CudnnFunctions& functions, CudnnKind kind);

  /// Sets an attribute to values of the C type that `type` stands for.
  template <class Value>
  CudnnBuild& set(int attribute, CudnnValue type, std::span<const Value> values) {
    return set(attribute, type, values.size(), values.data());
  }
  template <class Value>
  CudnnBuild& set(int attribute, CudnnValue type, const Value& value) {
    return set(attribute, type, 1, &value);
  }
  CudnnBuild& set(int attribute, const OwnedCudnnObject& object) {
    CudnnObject* const other = object.get();
    return set(attribute, dnn_object, other);
  }

  /// The object. Fails with unsupported. @param what for the message: "describe an operand"
  Result<OwnedCudnnObject> finish(const char* what);

 private:
  CudnnBuild& set(int attribute, CudnnValue type, std::size_t count, const void* values);

  const CudnnFunctions& functions_;
  OwnedCudnnObject object_;
  int status_;
};

/// An object that another one fills in. Null where memory runs out.
OwnedCudnnObject blank_cudnn(const CudnnFunctions& functions, CudnnKind kind);

}  // namespace quarry::lab
