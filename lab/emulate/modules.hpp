/// Kernels compiled for the emulator, when they are asked for, by the compiler that built this program.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/entry.hpp"
#include "quarry/status.hpp"

namespace quarry::lab::emulate {

/// Entries of compiled modules, by name. The modules stay loaded until the program ends.
class Modules {
 public:
  /// Compiles the entries of these names, and loads them.
  /// @param kernels folder of the kernels' sources; empty: that of the tree this program was built from
  /// Fails with not_found for a name that the build does not know, and device_error, with the compiler's
  /// words, where sources do not compile.
  static Result<Modules> compile(std::span<const std::string> entries, const std::string& kernels);

  /// The entry of that name. @pre it was compiled
  const emulator::Entry& operator[](std::string_view name) const { return *entries_.find(name)->second; }

 private:
  std::map<std::string, const emulator::Entry*, std::less<>> entries_;
};

}  // namespace quarry::lab::emulate
