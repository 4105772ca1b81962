# Installs a build of Quarry into an empty folder, then configures, builds and runs a program against it, and the first C++
# example of the README with it.
#
# cmake -DBUILD=<build folder> -DSOURCE=<source folder> -DWORK=<scratch folder> -DCXX=<compiler> -DCXX_FLAGS=<flags>
#       -DGENERATOR=<CMake generator> -DLIBDIR=<lib> -P install_test.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGV}")
  endif()
endfunction()

# The text of the first ```cpp block of a file, with its semicolons and brackets as they are.
function(extract_example readme output)
  file(READ "${readme}" text)
  string(FIND "${text}" "\n```cpp\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "${readme} has no C++ example")
  endif()
  math(EXPR begin "${begin} + 8")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "\n```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  file(WRITE "${output}" "${text}\n")
endfunction()

set(prefix "${WORK}/prefix")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")
set(example "")
if(EXISTS "${SOURCE}/README.md")
  set(example "${WORK}/readme_example.cpp")
  extract_example("${SOURCE}/README.md" "${example}")
endif()
run("${CMAKE_COMMAND}" -S "${SOURCE}/tests/install/app" -B "${WORK}/app" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
    "-DREADME_EXAMPLE=${example}")
run("${CMAKE_COMMAND}" --build "${WORK}/app")
set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}")
run("${WORK}/app/app")
if(example)
  run("${WORK}/app/readme_example")
endif()
