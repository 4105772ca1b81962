/// Probes on the emulator.
#pragma once

#include "emulator/launch.hpp"
#include "tests/kernels/arch/side.hpp"

namespace quarry::test {

/// Runs a probe of this program on the emulator; `fill` is what `out` holds before.
SideResult run_emulated(const Probe& probe, const Words& inputs, std::uint32_t fill,
                        const emulator::Options& options = {});

}  // namespace quarry::test
