# What a user may choose, and the flags that all targets share.

# What the `dev` preset precompiles: all that multiplies nothing, and for row-major A and output, some shapes for f16 and bf16 of
# any alignment, for SM90 one or two of each schedule and copy engine, and fallbacks for every type of A.
set(small_aot [[not has(a.dtype) or a.layout == row and out.layout == row and (family == 'gemm_simt' and tile.m == 64 and scales == none and out.dtype == a.dtype or
family == 'conv2d_simt' and b.dtype == a.dtype or
family == 'conv2d_sm80' and out.dtype == a.dtype and tile.m == 64 and tile.n == 64 and tile.k == 64 and a.alignment >= 8 or
family == 'conv2d_sm90' and out.dtype == a.dtype and schedule == ping_pong and tile.m == 128 and tile.n == 128 and cluster.m == 1 or
family == 'gemm_sm90' and accumulator == f32 and out.dtype == a.dtype and b.layout == column and
(schedule == cooperative and tile.n == 256 and cluster.m == 2 and cluster.n == 1 and orientation == direct or
schedule == ping_pong and tile.m == 128 and tile.n == 128 and cluster.m == 1 and cluster.n == 1 and orientation == direct or
schedule == one_tile and tile.m == 64 and tile.n == 64 and tile.k == 128 and stages == 6 and orientation == direct or
schedule == one_tile and tile.m == 16 and tile.k == 128 and a.dtype != f16 or
copy_engine == cp_async and schedule == one_tile and stages == 4 and a.alignment == 4 and orientation == direct or
copy_engine == cp_async and schedule == cooperative and a.alignment == 2 and orientation == direct) or
family == 'gemm_sm80' and accumulator == f32 and out.dtype == a.dtype and (a.alignment == 1 and b.alignment == 1 and tile.m == 64 or
a.alignment == 8 and b.alignment == 8 and (tile.m == 128 and tile.n == 128 and stages == 3 or
tile.m == 64 and tile.n == 64 and stages == 4 or tile.m == 32 and tile.n == 32)))]])
string(REPLACE "\n" " " small_aot "${small_aot}")
# Part of another project, the library is built alone: that project says what it needs beside it.
set(default_aot "${small_aot}")
if(NOT PROJECT_IS_TOP_LEVEL)
  set(default_aot false)
endif()
set(QUARRY_AOT "${default_aot}" CACHE STRING
    "Which registered kernels are precompiled: a filter expression ('true': all, 'false': none), or @FILE with their names")
set(QUARRY_CUDA_ARCHS "80;90" CACHE STRING "Compute capabilities to precompile for: 80, 90 or both")
option(QUARRY_BUILD_TOOLS "Build the quarry command" ${PROJECT_IS_TOP_LEVEL})
option(QUARRY_BUILD_TESTS "Build the tests and benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(QUARRY_EMULATOR "Build the emulator, which runs kernels on the CPU, and `quarry emulate`: for developers" OFF)
option(QUARRY_PYTHON "Build the Python package; needs nanobind in the Python that is found" OFF)
option(QUARRY_WARNINGS_AS_ERRORS "Warnings of quarry's own sources are errors" ${PROJECT_IS_TOP_LEVEL})
set(QUARRY_SANITIZE "" CACHE STRING "Sanitizers for host code, such as address,undefined or thread")
option(QUARRY_FUZZ "Build the fuzzers (tests/fuzz), everything instrumented: for developers, with clang" OFF)
option(BUILD_SHARED_LIBS "Build libquarry as a shared library" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
  else()
    set(CMAKE_BUILD_TYPE RelWithDebInfo) # of this library: the other project's own is its choice
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG") # lines alone: with -g the library takes a quarter longer to build
  endif()
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

if(QUARRY_SANITIZE)
  set(sanitizer_flags -fsanitize=${QUARRY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Instrumented code compiles slowly, and GCC takes parts of it for uses of uninitialised values.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${sanitizer_flags};-O1;-Wno-maybe-uninitialized>")
  add_link_options(${sanitizer_flags})
  list(JOIN sanitizer_flags " " sanitizer_flags)
endif()

if(QUARRY_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "QUARRY_FUZZ needs clang: configure with -DCMAKE_CXX_COMPILER=clang++ (the preset `fuzz` does)")
  endif()
  set(fuzz_flags -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${fuzz_flags};-O1>")
  add_link_options(-fsanitize=address,undefined)
endif()

# Precompiles the headers that most sources of a large target include, and the further ones that are named. Every source includes what it
# needs all the same: the build of the fuzzers and clang-tidy do without precompiled headers.
function(quarry_precompiled_headers target)
  target_precompile_headers(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/standard_headers.hpp" ${ARGN})
  # GCC 12 warns of its own string concatenation (GCC bug 105651) where the header is precompiled. The wheel is built without, with
  # these warnings.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13 AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# Compiles the sources of each folder of a target together, which takes a quarter of the time where each has the same templates to
# instantiate. With folders behind the target, only sources below these. Names of anonymous namespaces are then one folder's, not one
# file's. The builds without precompiled headers compile each source by itself.
function(quarry_compile_folders_together target)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  list(JOIN ARGN "|" only)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    cmake_path(GET path PARENT_PATH folder)
    if(only AND NOT folder MATCHES "^(${only})(/|$)")
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Include paths and warnings of a target made of our own sources.
function(quarry_own_target target)
  target_include_directories(${target}
    PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<BUILD_INTERFACE:${quarry_public_lists_folder}>"
           "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    PRIVATE "${PROJECT_SOURCE_DIR}/kernels" "${PROJECT_SOURCE_DIR}" "${quarry_lists_folder}")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion)
  # GCC 12 warns of its own string concatenation (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(QUARRY_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
