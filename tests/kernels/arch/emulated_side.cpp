#include "tests/kernels/arch/emulated_side.hpp"

#include <dlfcn.h>

#include <cstring>

#include "tests/kernels/arch/probe_params.hpp"

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
  probes::ProbeParams params = {.in = inputs.data(),
                                .out = out.data(),
                                .counters = counters.data(),
                                .count = static_cast<int>(probe.items),
                                .tensor_words = static_cast<int>(probe.tensor.words()),
                                .box_words = static_cast<int>(probe.tensor.box_words()),
                                .map = {}};
  const TensorMapFields fields = probe.tensor.fields(probe.tensor.is_out ? params.out : params.in);
  std::memcpy(params.map.bytes, &fields, sizeof fields);
  const emulator::Launch launch = {.entry = entry,
                                   .params = &params,
                                   .grid = probe.grid,
                                   .threads = static_cast<unsigned>(entry->max_threads),
                                   .shared_memory = probe.shared_memory,
                                   .blocks_wait = probe.counters > 0,
                                   .cluster = probe.cluster};
  const emulator::Outcome outcome = emulator::run(launch, memory, options);
  if (!outcome.good()) return {outcome.fault, {}};
  for (const int counter : counters) out.push_back(static_cast<std::uint32_t>(counter));
  return {"", std::move(out)};
}

}  // namespace quarry::test
