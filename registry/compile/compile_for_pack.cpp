/// Compiling what goes into a pack.
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "quarry/pack.hpp"
#include "registry/compile/reduction.hpp"
#include "registry/compile/standalone.hpp"
#include "registry/device/library.hpp"
#include "registry/operation.hpp"

namespace quarry {
namespace {

using Results = std::vector<Result<Artifact>>;

/// Compiles those of the kernels that `indices` names.
void compile_some(std::span<const Kernel> kernels, const std::vector<std::size_t>& indices,
                  const CompileOptions& options, const CompileProgress& progress, int threads,
                  Results& results) {
  std::vector<Kernel> some;
  for (const std::size_t i : indices) some.push_back(kernels[i]);
  Results made = compile(some, options, progress, threads);
  for (std::size_t i = 0; i < indices.size(); ++i) results[indices[i]] = std::move(made[i]);
}

}  // namespace

std::vector<Result<Artifact>> compile_for_pack(std::span<const Kernel> kernels, const CompileOptions& options,
                                               const CompileProgress& progress, int threads) {
  const int target = options.target == 0 ? default_device_model().cc : options.target;
  std::vector<std::size_t> precompiled;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    (kernels[i].precompiled(target) ? precompiled : others).push_back(i);
  }
  Results results(kernels.size(), Status(StatusCode::device_error, "not compiled"));
  std::size_t before = 0;
  const auto counted = [&](std::size_t done, std::size_t, const Kernel& last) {
    if (progress) progress(before + done, kernels.size(), last);
  };
  compile_some(kernels, others, options, counted, threads, results);
  before = others.size();
  CompileOptions anew = options;
  anew.force = true;
  compile_some(kernels, precompiled, anew, counted, threads, results);

  std::set<std::string_view> reductions;
  for (const Kernel& kernel : kernels) reductions.insert(detail::reduction_of(detail::row_of(kernel)));
  for (const Kernel& kernel : kernels) reductions.erase(kernel.name());  // are there already
  for (const std::string_view name : reductions) {
    const std::optional<std::uint32_t> entry = detail::find_entry(name);
    if (entry) results.push_back(detail::standalone_artifact(*entry, options));  // not "", which has no entry
  }
  return results;
}

}  // namespace quarry
