#include "lab/bench/cublaslt.hpp"

#include <utility>

namespace quarry::lab {

const YardstickKind CublasLt::kind = {
    .name = "cuBLASLt",
    .word = "cublaslt",
    .open = [](const std::string& path) -> Result<std::unique_ptr<YardstickLibrary>> {
      Result<CublasLt> opened = open(path);
      if (!opened) return opened.status();
      return std::unique_ptr<YardstickLibrary>(std::make_unique<CublasLt>(*std::move(opened)));
    }};

Result<CublasLt> CublasLt::open(const std::string& path) {
  const Result<CublasLtFunctions> functions = open_cublaslt(path);
  if (!functions) return functions.status();
  return of(*functions);
}

CublasLt CublasLt::of(const CublasLtFunctions& functions) {
  CublasLt library;
  library.functions_ = functions;
  return library;
}

Status CublasLt::start() {
  CublasLtContext* context = nullptr;
  if (const int status = functions_.create(&context); status != 0) {
    return Status(StatusCode::device_error,
                  std::string("cuBLASLt cannot be used: ") + functions_.status_string(status));
  }
  context_ = std::unique_ptr<CublasLtContext, CublasLtDestroy>(context, CublasLtDestroy{functions_});
  return {};
}

}  // namespace quarry::lab
