#include "registry/compile/imported_function.hpp"

#include <dlfcn.h>

#include "support/catch_compat.hpp"

using quarry::detail::imported_function;

namespace {

/// A function of the C++ library, which calls `abort` of the C library.
const void* function_of_cpp_library() { return dlsym(RTLD_DEFAULT, "_ZSt9terminatev"); }

}  // namespace

TEST_CASE("the entry of a function that a library imports is found, and can be written") {
  const void* const function = function_of_cpp_library();
  REQUIRE(function != nullptr);
  void** const place = imported_function(function, "abort");
  REQUIRE(place != nullptr);
  Dl_info info = {};
  CHECK(dladdr(*place, &info) != 0);  // `abort`, or what looks for it at the first call
  void* volatile* const writable = place;
  *writable = *place;
}

TEST_CASE("a function that a library does not import has no entry") {
  CHECK(imported_function(function_of_cpp_library(), "abort_") == nullptr);
  int on_stack = 0;
  CHECK(imported_function(&on_stack, "abort") == nullptr);
  CHECK(imported_function(nullptr, "abort") == nullptr);
}
