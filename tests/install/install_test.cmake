# Installs a build of Quarry into an empty folder, then configures, builds and runs a program against it, and the programs of
# README.md and docs/ with it.
#
# cmake -DBUILD=<build folder> -DSOURCE=<source folder> -DWORK=<scratch folder> -DCXX=<compiler> -DCXX_FLAGS=<flags>
#       -DGENERATOR=<CMake generator> -DLIBDIR=<lib> -DPYTHON=<interpreter> -P install_test.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGV}")
  endif()
endfunction()

set(prefix "${WORK}/prefix")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")
set(documented_code "${PYTHON}" "${SOURCE}/tests/scripts/documented_code.py")
file(MAKE_DIRECTORY "${WORK}/programs")
run(${documented_code} programs "${SOURCE}" "${WORK}/programs")
run("${CMAKE_COMMAND}" -S "${SOURCE}/tests/install/app" -B "${WORK}/app" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
    "-DDOCUMENTED_PROGRAMS=${WORK}/programs")
run("${CMAKE_COMMAND}" --build "${WORK}/app")
set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}")
set(ENV{QUARRY_CACHE_DIR} "${WORK}/cache")
run("${WORK}/app/app")
run(${documented_code} run "${SOURCE}" "${WORK}/app")
if(EXISTS "${WORK}/app/device")
  execute_process(COMMAND "${WORK}/app/device" RESULT_VARIABLE result OUTPUT_VARIABLE output)
  if(NOT result EQUAL 0 AND NOT output MATCHES "[Nn]o .*(driver|device)")
    message(FATAL_ERROR "failed (${result}): ${WORK}/app/device: ${output}")
  endif()
endif()
