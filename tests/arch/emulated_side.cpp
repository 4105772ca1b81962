#include "tests/arch/emulated_side.hpp"

#include <dlfcn.h>

#include "tests/arch/probe_params.hpp"

namespace quarry::test {

SideResult run_emulated(const Probe& probe, const Words& inputs, std::uint32_t fill,
                        const emulator::Options& options) {
  const auto* const entry = static_cast<const emulator::Entry*>(dlsym(RTLD_DEFAULT, probe.entry().c_str()));
  if (entry == nullptr) return {"there is no entry " + probe.entry(), {}};
  Words out(probe.out_words, fill);
  std::vector<int> counters(probe.counters, 0);
  emulator::GlobalMemory memory(options.checks);
  memory.add(inputs.data(), inputs.size() * 4, emulator::MemoryUse::input, "in");
  memory.add(out.data(), out.size() * 4, emulator::MemoryUse::output, "out");
  memory.add(counters.data(), counters.size() * 4, emulator::MemoryUse::updated, "the counters");
  const probes::ProbeParams params = {inputs.data(), out.data(), counters.data(),
                                      static_cast<int>(probe.items)};
  const emulator::Launch launch = {.entry = entry,
                                   .params = &params,
                                   .grid = probe.grid,
                                   .threads = static_cast<unsigned>(entry->max_threads),
                                   .shared_memory = probe.shared_memory,
                                   .blocks_wait = probe.counters > 0};
  const emulator::Outcome outcome = emulator::run(launch, memory, options);
  if (!outcome.good()) return {outcome.fault, {}};
  for (const int counter : counters) out.push_back(static_cast<std::uint32_t>(counter));
  return {"", std::move(out)};
}

}  // namespace quarry::test
