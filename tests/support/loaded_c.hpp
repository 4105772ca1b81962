/// A C source, compiled by a C compiler and called from here.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "support/catch_compat.hpp"

namespace quarry::test {

/// Whether the compiler takes the file without a warning.
inline bool compiles(const std::string& flags, const std::string& file) {
  const std::string command =
      std::string("'" QUARRY_CXX_COMPILER "' -Wall -Wextra -Wpedantic -Wconversion -Werror ") + flags + " '" +
      file + "'";
  return std::system(command.c_str()) == 0;
}

/// The functions of a source, compiled as C and loaded. The source must be C++, too.
class LoadedC {
 public:
  /// @param place the source and the library are written to PLACE.c and PLACE.so
  /// @param flags more flags of both compilations
  LoadedC(const std::string& place, const std::string& text, const std::string& flags) {
    const std::string source = place + ".c";
    const std::string library = place + ".so";
    std::ofstream(source) << text;
    REQUIRE(compiles("-x c++ -std=c++11 -fsyntax-only " + flags, source));
    REQUIRE(compiles("-x c -std=c11 -shared -fPIC " + flags + " -o '" + library + "'", source));
    library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library_ != nullptr);
  }
  LoadedC(const LoadedC&) = delete;
  LoadedC& operator=(const LoadedC&) = delete;
  ~LoadedC() { dlclose(library_); }

  /// Calls a function of this name.
  template <class Returned, class... Arguments>
  Returned call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<Returned (*)(Arguments...)>(dlsym(library_, name));
    REQUIRE(function != nullptr);
    return function(arguments...);
  }

 private:
  void* library_ = nullptr;
};

}  // namespace quarry::test
