/// The main function of the tests that need a GPU. Without one they are skipped: exit status 4.
#include <cstdio>

#include "registry/device/runtime.hpp"

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) {
  const quarry::Status& status = quarry::detail::runtime_status();
  if (!status) {
    std::printf("no device: skipped (%s)\n", status.message().c_str());
    return 4;
  }
  return Catch::Session().run(argc, argv);
}
