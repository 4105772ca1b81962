# The sources of device code as a table in the library, from which it compiles kernels at run time. Written anew when one of
# them changes.
set(embedded_sources "${QUARRY_GENERATED_DIR}/sources.cpp")
add_custom_command(
  OUTPUT "${embedded_sources}"
  COMMAND "${QUARRY_GENERATE}" sources --kernels "${PROJECT_SOURCE_DIR}/kernels" --include "${PROJECT_SOURCE_DIR}/include"
          --out "${embedded_sources}" --depfile "${embedded_sources}.d"
  DEPENDS "${QUARRY_GENERATE}"
  DEPFILE "${embedded_sources}.d"
  COMMENT "Embedding the sources of device code"
  VERBATIM)
target_sources(quarry PRIVATE "${embedded_sources}")
# Where a compiler may be when it is nowhere else: beside the one that this build used, unless that is gone after the build.
set(built_with "${QUARRY_CUDA_ROOTS}")
if(SKBUILD)
  set(built_with /usr/local/cuda)
endif()
set_property(SOURCE registry/compile/compiler_files.cpp APPEND PROPERTY COMPILE_DEFINITIONS "QUARRY_BUILT_WITH=\"${built_with}\"")
