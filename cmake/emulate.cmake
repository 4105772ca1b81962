# The command `quarry emulate`.
file(GLOB emulate_sources CONFIGURE_DEPENDS tools/emulate/*.cpp)
target_sources(quarry_command PRIVATE ${emulate_sources})
target_link_libraries(quarry_command PUBLIC quarry_lab_emulate)
quarry_emulating_program(quarry_cli)
target_compile_definitions(quarry_command PRIVATE QUARRY_EMULATOR)
