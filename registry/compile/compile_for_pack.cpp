/// Compiling what goes into a pack.
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "operations/common/row.hpp"
#include "quarry/pack.hpp"
#include "registry/compile/precompiled.hpp"
#include "registry/compile/standalone.hpp"
#include "registry/operation.hpp"

namespace quarry {
namespace {

using Results = std::vector<Result<Artifact>>;

/// Compiles the kernels that `indices` names.
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
    (detail::precompiled_target(detail::row_of(kernels[i]).entry, target) != 0 ? precompiled : others)
        .push_back(i);
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

  std::map<std::string_view, std::uint32_t> companions;
  for (const Kernel& kernel : kernels) {
    for (const std::uint32_t entry : detail::row_of(kernel).companions) {
      if (entry != detail::no_entry) companions.emplace(detail::entry_of(entry).name, entry);
    }
  }
  for (const Kernel& kernel : kernels) companions.erase(kernel.name());  // are there already
  for (const auto& [name, entry] : companions) results.push_back(detail::standalone_artifact(entry, options));
  return results;
}

}  // namespace quarry
