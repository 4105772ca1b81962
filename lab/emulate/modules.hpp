/// Kernels compiled for the emulator, when they are asked for, by the compiler that built this program.
#pragma once

#include <map>
#include <memory>
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
  /// @param kernels folder of the kernels' sources; empty: in the tree this program was built from
  /// Fails with not_found for a name that the build does not know, and device_error, with the compiler's
  /// words, where sources do not compile.
  static Result<Modules> compile(std::span<const std::string> entries, const std::string& kernels);

  /// The entry of that name, compiled now where it was not yet: one with an expression, say, which is known
  /// when its launch is made. Fails as `compile` does. Safe from any thread.
  Result<const emulator::Entry*> find(std::string_view name) const;

 private:
  using Entries = std::map<std::string, const emulator::Entry*, std::less<>>;
  struct Later;

  /// Folder of the sources.
  std::string kernels_;
  /// Those that were asked for at first, and those that came later.
  Entries entries_;
  std::shared_ptr<Later> later_;
};

}  // namespace quarry::lab::emulate
