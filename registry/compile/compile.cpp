/// Kernel::compile, and many kernels at once.
#include <map>
#include <mutex>
#include <string>

#include "operations/common/host/parallel.hpp"
#include "operations/common/row.hpp"
#include "quarry/artifact.hpp"
#include "quarry/registry.hpp"
#include "registry/compile/store.hpp"
#include "registry/operation.hpp"

namespace quarry {
namespace {

int target_of(const CompileOptions& options) {
  return options.target == 0 ? default_device_model().cc : options.target;
}

Status check_target(const KernelMetadata& kernel, int target) {
  if (target >= kernel.cc && target <= kernel.max_cc.value_or(target)) return {};
  const int needed = target < kernel.cc ? kernel.cc : *kernel.max_cc;
  return {StatusCode::unsupported, Reason::compute_capability, Operand::none, needed, target};
}

}  // namespace

Result<Artifact> Kernel::compile() const { return compile(CompileOptions{}); }

Result<Artifact> Kernel::compile(const CompileOptions& options) const {
  CompileOptions settled = options;
  settled.target = target_of(options);
  if (Status s = check_target(metadata(), settled.target); !s) return s;
  return detail::find_artifact(row_->entry, settled);
}

std::vector<Result<Artifact>> compile(std::span<const Kernel> kernels, const CompileOptions& options,
                                      const CompileProgress& progress, int threads) {
  // Kernels of one entry are one task: the first of them compiles.
  std::map<std::uint32_t, std::vector<std::size_t>> by_entry;
  for (std::size_t i = 0; i < kernels.size(); ++i) by_entry[detail::row_of(kernels[i]).entry].push_back(i);
  std::vector<const std::vector<std::size_t>*> tasks;
  for (const auto& [entry, indices] : by_entry) tasks.push_back(&indices);

  std::vector<Result<Artifact>> results(kernels.size(), Status(StatusCode::device_error, "not compiled"));
  std::mutex mutex;
  std::size_t done = 0;
  const int workers = threads > 0 ? threads : host::default_threads();
  host::parallel_for(std::ssize(tasks), workers, [&](int, std::int64_t task) {
    const std::vector<std::size_t>& indices = *tasks[static_cast<std::size_t>(task)];
    const Result<Artifact> made = kernels[indices[0]].compile(options);
    const std::lock_guard lock(mutex);
    for (const std::size_t i : indices) {
      results[i] = made;
      ++done;
    }
    if (progress) progress(done, kernels.size(), kernels[indices.back()]);
  });
  return results;
}

std::vector<Result<Artifact>> compile(const CandidateList& candidates, const CompileOptions& options,
                                      const CompileProgress& progress, int threads) {
  const std::vector<Kernel> kernels(candidates.begin(), candidates.end());
  return compile(kernels, options, progress, threads);
}

}  // namespace quarry
