# The command `quarry emulate`: it compiles kernels' sources when they are asked for, by the compiler that built the command.
file(GLOB emulate_sources CONFIGURE_DEPENDS tools/emulate/*.cpp)
target_sources(quarry_cli PRIVATE ${emulate_sources})
quarry_emulating_program(quarry_cli)
string(JOIN " " emulated_flags -std=c++20 -O1 -fPIC -shared ${quarry_emulated_flags} ${sanitizer_flags})
target_compile_definitions(quarry_cli PRIVATE
  QUARRY_EMULATOR QUARRY_EMULATED_COMPILER="${CMAKE_CXX_COMPILER}" QUARRY_EMULATED_FLAGS="${emulated_flags}"
  QUARRY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
