/// The main function of the tests that need a GPU. Without one they are skipped: exit status 4.
#include <cstdio>

#include "registry/device/runtime.hpp"
#include "support/catch_session.hpp"

int main(int argc, char** argv) {
  const quarry::Status& status = quarry::detail::runtime_status();
  if (!status) {
    std::printf("no device: skipped (%s)\n", status.message().c_str());
    return 4;
  }
  return run_tests(argc, argv);
}
