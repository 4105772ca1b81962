/// Finds a kernel for a small product, runs it on host tensors and checks every element.
#include <quarry/quarry.hpp>

#include <cstdio>
#include <vector>

using quarry::DType, quarry::TensorView;

int main() {
  const int m = 5, n = 7, k = 3;
  std::vector<float> a(m * k), b(k * n), out(m * n, -1.0F);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 4);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 3) - 1;
  const quarry::GemmArguments arguments{.a = TensorView::row_major(a.data(), DType::f32, {m, k}),
                                        .b = TensorView::row_major(b.data(), DType::f32, {k, n}),
                                        .out = TensorView::row_major(out.data(), DType::f32, {m, n})};
  const quarry::CandidateList found = quarry::get_kernels(arguments);
  if (found.empty()) return std::puts(found.status().message().c_str()), 1;
  const auto workspace = quarry::WorkspaceBuffer::on_host(found.front().workspace());
  if (!workspace) return std::puts(workspace.status().message().c_str()), 1;
  const quarry::Status done = found.front().run(arguments, {.workspace = *workspace});
  if (!done) return std::puts(done.message().c_str()), 1;
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
      if (out[row * n + column] != sum) return std::printf("wrong at %d, %d\n", row, column), 1;
    }
  }
  if (quarry::library_version() != QUARRY_VERSION) return std::puts("library and headers differ"), 1;
  std::printf("%zu kernels, the best: %.*s\n", quarry::get_kernels().size(),
              static_cast<int>(found.front().name().size()), found.front().name().data());
  return 0;
}
