#include "lab/bench/cudnn.hpp"

#include <utility>

namespace quarry::lab {

const YardstickKind Cudnn::kind = {
    .name = "cuDNN",
    .word = "cudnn",
    .open = [](const std::string& path) -> Result<std::unique_ptr<YardstickLibrary>> {
      Result<Cudnn> opened = open(path);
      if (!opened) return opened.status();
      return std::unique_ptr<YardstickLibrary>(std::make_unique<Cudnn>(*std::move(opened)));
    }};

Result<Cudnn> Cudnn::open(const std::string& path) {
  const Result<CudnnFunctions> functions = open_cudnn(path);
  if (!functions) return functions.status();
  return of(*functions);
}

Cudnn Cudnn::of(const CudnnFunctions& functions) {
  Cudnn library;
  library.functions_ = functions;
  return library;
}

Status Cudnn::start() {
  CudnnContext* context = nullptr;
  if (const int status = functions_.create(&context); status != 0) {
    return Status(StatusCode::device_error,
                  std::string("cuDNN cannot be used: ") + functions_.error_string(status));
  }
  context_ = std::unique_ptr<CudnnContext, CudnnDestroy>(context, CudnnDestroy{functions_});
  return {};
}

}  // namespace quarry::lab
