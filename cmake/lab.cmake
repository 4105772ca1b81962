# quarry_lab: experiments (random problems, references, trials, campaigns, benchmarks) as a library, and what of them is
# about one operation alone. With the emulator also quarry_lab_emulate: kernels' own sources on random problems.
find_package(nlohmann_json 3.11 REQUIRED)
file(GLOB lab_sources CONFIGURE_DEPENDS lab/*.cpp lab/*/*.cpp operations/*/lab/*.cpp)
file(GLOB emulate_sources CONFIGURE_DEPENDS lab/emulate/*.cpp)
list(REMOVE_ITEM lab_sources ${emulate_sources})
# The ledger of what was verified, as text within the program.
set(ledger_file "${PROJECT_SOURCE_DIR}/lab/verify/verified.ledger")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${ledger_file}")
file(READ "${ledger_file}" ledger)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/built_in_ledger.cpp" @ONLY CONTENT
     "#include \"lab/verify/built_in_ledger.hpp\"

namespace quarry::lab {

std::string_view built_in_ledger() { return R\"ledger(@ledger@)ledger\"; }

}  // namespace quarry::lab
")
add_library(quarry_lab STATIC ${lab_sources} ${quarry_operation_lab_sources} "${PROJECT_BINARY_DIR}/built_in_ledger.cpp")
quarry_own_target(quarry_lab)
quarry_precompiled_headers(quarry_lab)
quarry_compile_folders_together(quarry_lab)
# Layouts as text are computed at compile time: optimised further, GCC 13 sees writes out of bounds that there are not.
file(GLOB code_sources CONFIGURE_DEPENDS lab/code/*.cpp)
set_source_files_properties(${code_sources} PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
target_link_libraries(quarry_lab PUBLIC quarry PRIVATE nlohmann_json::nlohmann_json CUDA::cudart_static Threads::Threads
                                                       ${CMAKE_DL_LIBS})

# It compiles kernels' sources when they are asked for, by the compiler that built it.
if(QUARRY_EMULATOR)
  add_library(quarry_lab_emulate STATIC ${emulate_sources})
  quarry_own_target(quarry_lab_emulate)
  quarry_compile_folders_together(quarry_lab_emulate)
  target_link_libraries(quarry_lab_emulate PUBLIC quarry_lab PRIVATE nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
  string(JOIN " " emulated_flags -std=c++20 -O1 -fPIC -shared ${quarry_emulated_flags} ${sanitizer_flags})
  target_compile_definitions(quarry_lab_emulate PRIVATE
    QUARRY_EMULATED_COMPILER="${CMAKE_CXX_COMPILER}" QUARRY_EMULATED_FLAGS="${emulated_flags}"
    QUARRY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()
