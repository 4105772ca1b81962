/// Work captured into a CUDA graph.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "gpu/device_case.hpp"

namespace quarry::test {

/// A stream capture in global mode, where every call that allocates or waits is an error and spoils the
/// capture.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  }
  ~Capture() {
    if (stream_ != nullptr) (void)end();
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  cudaError_t end() { return cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph_); }

  std::size_t nodes() const {
    std::size_t count = 0;
    must(cudaGraphGetNodes(graph_, nullptr, &count));
    return count;
  }

  /// Runs what was captured on a stream, and waits.
  void replay(cudaStream_t stream) const {
    cudaGraphExec_t executable = nullptr;
    must(cudaGraphInstantiate(&executable, graph_, 0));
    must(cudaGraphLaunch(executable, stream));
    must(cudaStreamSynchronize(stream));
    must(cudaGraphExecDestroy(executable));
  }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
};

}  // namespace quarry::test
