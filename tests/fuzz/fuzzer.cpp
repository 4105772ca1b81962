/// The entry points of libFuzzer. The environment variable QUARRY_FUZZ_HARNESS names the harness.
#include <cstdio>
#include <cstdlib>

#include "fuzz/harness.hpp"

namespace {

const quarry::fuzz::Harness* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const name = std::getenv("QUARRY_FUZZ_HARNESS");
  chosen = name == nullptr ? nullptr : quarry::fuzz::find_harness(name);
  if (chosen == nullptr) {
    std::fputs("QUARRY_FUZZ_HARNESS must name a harness:\n", stderr);
    for (const quarry::fuzz::Harness& harness : quarry::fuzz::harnesses())
      std::fprintf(stderr, "  %.*s\n", static_cast<int>(harness.name.size()), harness.name.data());
    std::exit(2);
  }
  quarry::fuzz::enter_sandbox();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->run({data, size});
  return 0;
}
