#include "lab/trials/compile_missing.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "lab/progress.hpp"
#include "operations/common/host/parallel.hpp"
#include "quarry/artifact.hpp"
#include "registry/compile/store.hpp"
#include "registry/device/needed_code.hpp"

namespace quarry::lab {

void compile_missing(std::span<const Kernel> kernels, int cc) {
  std::vector<Kernel> missing;
  std::ranges::copy_if(kernels, std::back_inserter(missing),
                       [&](const Kernel& kernel) { return !kernel.precompiled(cc); });
  if (missing.empty()) return;
  Progress progress("compile", missing.size());
  std::size_t before = 0;
  (void)compile(missing, {.target = cc}, [&](std::size_t done, std::size_t, const Kernel&) {
    progress.advance(done - before);
    before = done;
  });
}

std::vector<std::uint32_t> missing_entries(std::span<const Kernel> kernels, const Problem& problem,
                                           const DeviceModel& device) {
  const HeldArguments held = arguments_of(problem);
  std::set<std::uint32_t> entries;
  for (const Kernel& kernel : kernels) {
    const auto needed = detail::needed_code(kernel, held, &device);
    if (!needed) continue;
    for (const detail::NeededCode& each : *needed) {
      if (!detail::has_machine_code(each.entry, device.cc)) entries.insert(each.entry);
    }
  }
  return {entries.begin(), entries.end()};
}

void compile_entries(std::span<const std::uint32_t> entries, int cc, int threads) {
  host::parallel_for(std::ssize(entries), threads, [&](int, std::int64_t i) {
    (void)detail::find_artifact(entries[static_cast<std::size_t>(i)], {.target = cc});
  });
}

void compile_missing(std::span<const Kernel> kernels, const Problem& problem, const DeviceModel& device) {
  const std::vector<std::uint32_t> missing = missing_entries(kernels, problem, device);
  if (missing.empty()) return;
  Progress progress("compile", missing.size());
  const int threads = host::default_threads();
  const auto part = static_cast<std::size_t>(threads);
  for (std::size_t i = 0; i < missing.size(); i += part) {
    const auto some = std::span(missing).subspan(i, std::min(part, missing.size() - i));
    compile_entries(some, device.cc, threads);
    progress.advance(some.size());
  }
}

}  // namespace quarry::lab
