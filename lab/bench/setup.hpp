/// What the results of a benchmark depend on besides its problems.
#pragma once

#include <string>
#include <string_view>

#include "lab/bench/record.hpp"
#include "lab/bench/shape.hpp"

namespace quarry::lab {

/// The parts that the user asked for. @param where the filter's text
BenchSetup asked_setup(const BenchOptions& options, std::string_view where);

/// The parts that the machine and this build give: device, the yardstick's library, the sources of kernels,
/// whether there is a compiler.
BenchSetup machine_setup(const BenchSetting& setting);

/// The name of a part that a report shows. Another is named by the word of the yardstick's library: its
/// version, empty without it.
inline constexpr const char* device_part = "device";

}  // namespace quarry::lab
