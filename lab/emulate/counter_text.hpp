/// What a launch counted, for people and programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "emulator/counters.hpp"

namespace quarry::lab::emulate {

/// A table of lines, each ended.
std::string counters_text(const emulator::Counters& counters);

nlohmann::ordered_json counters_json(const emulator::Counters& counters);

/// The bank conflicts of shared memory in one line, "" where there is none.
std::string conflicts_text(const emulator::Counters& counters);

}  // namespace quarry::lab::emulate
