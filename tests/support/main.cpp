/// The main function of the Catch executables, for both forms of Catch2.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

/// Read by the address sanitizer where it is built in: memory that there is not is a null pointer, as without
/// it, and no abort. Tests ask for such memory.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
