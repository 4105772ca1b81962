/// Catch2's own code in either of its forms: the single header of 2.x, the library of 3.x.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include "support/catch_session.hpp"

int run_tests(int argc, char** argv) { return Catch::Session().run(argc, argv); }

/// Read by the address sanitizer where it is built in: memory that there is not is a null pointer, as without
/// it, and no abort. Tests ask for such memory.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
