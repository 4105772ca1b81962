/// A product on a GPU: memory of the device, a stream, and a plan that runs as often as it is asked to.
#include <cuda_runtime_api.h>
#include <quarry/quarry.hpp>

#include <cstdio>

quarry::Status multiply(int m, int n, int k) {
  using quarry::DType, quarry::TensorView;
  void *a, *b, *out;
  cudaStream_t stream;
  if (quarry::Status s = quarry::cuda_status(); !s) return s;
  cudaMalloc(&a, sizeof(float) * m * k);  // their contents are the program's affair
  cudaMalloc(&b, sizeof(float) * k * n);
  cudaMalloc(&out, sizeof(float) * m * n);
  cudaStreamCreate(&stream);
  const quarry::GemmArguments arguments{.a = TensorView::row_major(a, DType::f32, {m, k}),
                                        .b = TensorView::row_major(b, DType::f32, {k, n}),
                                        .out = TensorView::row_major(out, DType::f32, {m, n})};
  const auto best = quarry::find_best(arguments);
  if (!best) return best.status();
  const auto plan = best->prepare(arguments);  // loads the kernel, or compiles it
  if (!plan) return plan.status();
  const auto workspace = quarry::WorkspaceBuffer::on_device(plan->workspace_size());
  if (!workspace) return workspace.status();
  if (quarry::Status s = plan->run(arguments, stream, *workspace); !s) return s;
  return cudaStreamSynchronize(stream) == cudaSuccess
             ? quarry::Status()
             : quarry::Status(quarry::StatusCode::device_error, "the kernel failed");
}

int main() {
  const quarry::Status status = multiply(512, 256, 128);
  std::puts(status.message().c_str());
  return status ? 0 : 1;
}
