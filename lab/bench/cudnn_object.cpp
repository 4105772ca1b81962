#include "lab/bench/cudnn_object.hpp"

#include <string>
#include <utility>

namespace quarry::lab {

Status check_cudnn(const CudnnFunctions& functions, int status, const char* what) {
  if (status == 0) return {};
  return Status(StatusCode::unsupported,
                std::string("cuDNN cannot ") + what + ": " + functions.error_string(status));
}

CudnnBuild::CudnnBuild(const CudnnFunctions& functions, CudnnKind kind) : functions_(functions) {
  CudnnObject* made = nullptr;
  status_ = functions.make(kind, &made);
  if (status_ == 0) object_ = OwnedCudnnObject(made, CudnnDestroy{functions});
}

CudnnBuild& CudnnBuild::set(int attribute, CudnnValue type, std::size_t count, const void* values) {
  if (status_ == 0)
    status_ = functions_.set(object_.get(), attribute, type, static_cast<std::int64_t>(count), values);
  return *this;
}

Result<OwnedCudnnObject> CudnnBuild::finish(const char* what) {
  if (status_ == 0) status_ = functions_.finalize(object_.get());
  if (Status s = check_cudnn(functions_, status_, what); !s) return s;
  return std::move(object_);
}

OwnedCudnnObject blank_cudnn(const CudnnFunctions& functions, CudnnKind kind) {
  CudnnObject* made = nullptr;
  if (functions.make(kind, &made) != 0) return {};
  return OwnedCudnnObject(made, CudnnDestroy{functions});
}

}  // namespace quarry::lab
