// The version, of headers and library.
#include "quarry/version.hpp"

#include <string>

#include "support/catch_compat.hpp"

TEST_CASE("headers and library are of one version", "[version]") {
  CHECK(quarry::library_version() == QUARRY_VERSION);
  const std::string numbers = std::to_string(QUARRY_VERSION_MAJOR) + "." +
                              std::to_string(QUARRY_VERSION_MINOR) + "." +
                              std::to_string(QUARRY_VERSION_PATCH);
  CHECK(numbers == QUARRY_VERSION);
#if QUARRY_VERSION_MAJOR < 0
  FAIL("the preprocessor compares versions");
#endif
}
