/// What ptxas says of the entries that it compiles, asked to be verbose (-v).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace quarry::detail {

/// Registers of a thread and bytes that they spill; 0 registers: nothing was said.
struct RegisterUsage {
  int registers = 0;
  int spill_bytes = 0;
};

/// The usage of each entry, by its name and compute capability.
using RegisterUsages = std::map<std::pair<std::string, int>, RegisterUsage>;

/// Reads "Compiling entry function 'NAME' for 'sm_80'" and the lines that follow for each entry, and adds
/// them to `usages`. Lines that say nothing of the kind are passed over.
void read_ptxas_log(std::string_view log, RegisterUsages& usages);

}  // namespace quarry::detail
