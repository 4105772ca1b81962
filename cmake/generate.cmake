# Builds the generator and runs it, while the build is configured: the units that it writes are targets. It is run again
# whenever a space, a config or the generator itself changed, and rewrites only what that changes.
#
# @return QUARRY_GENERATED_DIR, with table.cpp, embed.S, manifest.json and units/*.cu; QUARRY_GENERATE, the program
set(QUARRY_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
set(generator_build "${PROJECT_BINARY_DIR}/generator")
set(QUARRY_GENERATE "${generator_build}/quarry_generate")

# Ends the configuration with the output of a command that failed.
function(quarry_check what result output)
  if(NOT result EQUAL 0)
    string(REPLACE "\n" "\n  " output "\n${output}") # indented text is not wrapped, so that carets stay in place
    message(FATAL_ERROR "${what} failed:${output}")
  endif()
endfunction()

message(STATUS "Building the generator")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${PROJECT_SOURCE_DIR}/generator" -B "${generator_build}" -G "${CMAKE_GENERATOR}"
          "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}" "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
          -DCMAKE_BUILD_TYPE= "-DCMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH}" "-DQUARRY_FAMILIES=${QUARRY_FAMILIES}"
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
quarry_check("Configuring the generator" "${result}" "${output}")
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${generator_build}" --parallel ${processors}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
quarry_check("Building the generator" "${result}" "${output}")
list(JOIN QUARRY_CUDA_ARCHS "," generator_targets)
set(aot "${QUARRY_AOT}")
if(aot MATCHES "^@(.+)$") # a list of kernels
  file(REAL_PATH "${CMAKE_MATCH_1}" aot_list BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${aot_list}")
  set(aot "@${aot_list}")
endif()
execute_process(COMMAND "${QUARRY_GENERATE}" table --kernels "${PROJECT_SOURCE_DIR}/kernels" --out "${QUARRY_GENERATED_DIR}"
                        --aot "${aot}" --targets "${generator_targets}"
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE)
quarry_check("Generating the kernels" "${result}" "${output}")
message(STATUS "${output}")

file(GLOB generator_inputs CONFIGURE_DEPENDS
     generator/*.cpp generator/*.hpp generator/*.txt generator/*.cmake kernels/*/space.json kernels/*/space.cpp
     kernels/*/*.hpp kernels/common/operand_tile.cuh kernels/*.hpp kernels/*.cpp operations/common/row.hpp
     operations/common/sum_class.hpp cmake/standard_headers.hpp basic/*.cpp basic/*.hpp registry/metadata/*.cpp registry/metadata/*.hpp include/quarry/*.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${generator_inputs})
