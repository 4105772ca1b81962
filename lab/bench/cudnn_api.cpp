#include "lab/bench/cudnn_api.hpp"

#include "lab/bench/shared_library.hpp"

namespace quarry::lab {
namespace {

constexpr const char* cudnn_names[] = {"libcudnn.so.9"};
constexpr const char* cudnn_wheels[] = {"cudnn/lib"};
constexpr SharedLibrary cudnn_library = {
    .title = "cuDNN", .flag = "--cudnn", .names = cudnn_names, .wheels = cudnn_wheels};

/// Gives the name of a function that is missing, null where none is.
const char* look_up_all(void* opened, CudnnFunctions& f) {
  FunctionLookup get(opened);
  get("cudnnGetVersion", f.version);
  get("cudnnGetErrorString", f.error_string);
  get("cudnnCreate", f.create);
  get("cudnnDestroy", f.destroy);
  get("cudnnSetStream", f.set_stream);
  get("cudnnBackendCreateDescriptor", f.make);
  get("cudnnBackendDestroyDescriptor", f.unmake);
  get("cudnnBackendFinalize", f.finalize);
  get("cudnnBackendSetAttribute", f.set);
  get("cudnnBackendGetAttribute", f.get);
  get("cudnnBackendExecute", f.execute);
  return get.missing();
}

}  // namespace

Result<CudnnFunctions> open_cudnn(const std::string& path) {
  CudnnFunctions functions = {};
  const auto look_up = [&functions](void* opened) { return look_up_all(opened, functions); };
  if (Status s = open_shared(cudnn_library, path, look_up); !s) return s;
  return functions;
}

std::string path_of(const CudnnFunctions& functions) {
  return file_of(reinterpret_cast<const void*>(functions.version));
}

}  // namespace quarry::lab
