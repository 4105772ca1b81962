# nvcc, which compiles the device code, and the static CUDA runtime, which the library links: both from one toolkit.
set(advice "Install a CUDA toolkit 12.8 or later, or run tools/setup.sh, which brings NVIDIA's Python wheels; then \
configure with -DCUDAToolkit_ROOT=<its folder> (or -DQUARRY_NVCC=<the compiler>).")

find_program(QUARRY_NVCC nvcc HINTS "${CUDAToolkit_ROOT}" ENV CUDAToolkit_ROOT ENV CUDA_PATH ENV CUDA_HOME
             PATHS /usr/local/cuda PATH_SUFFIXES bin DOC "The CUDA compiler")
if(NOT QUARRY_NVCC)
  message(FATAL_ERROR "Quarry needs nvcc, the CUDA compiler, and found none.\n${advice}")
endif()

execute_process(COMMAND "${QUARRY_NVCC}" --version OUTPUT_VARIABLE nvcc_version ERROR_VARIABLE nvcc_version
                RESULT_VARIABLE nvcc_result)
if(NOT nvcc_result EQUAL 0 OR NOT nvcc_version MATCHES "release ([0-9]+\\.[0-9]+)")
  message(FATAL_ERROR "${QUARRY_NVCC} does not work: ${nvcc_version}\n${advice}")
endif()
set(QUARRY_NVCC_VERSION "${CMAKE_MATCH_1}")
if(QUARRY_NVCC_VERSION VERSION_LESS 12.8)
  message(FATAL_ERROR "${QUARRY_NVCC} is of CUDA ${QUARRY_NVCC_VERSION}, which is too old.\n${advice}")
endif()

get_filename_component(nvcc_folder "${QUARRY_NVCC}" REALPATH)
get_filename_component(nvcc_folder "${nvcc_folder}" DIRECTORY)
get_filename_component(QUARRY_CUDA_ROOTS "${nvcc_folder}" DIRECTORY)
include(cudart)
if(NOT TARGET CUDA::cudart_static)
  message(FATAL_ERROR "The CUDA runtime of ${QUARRY_CUDA_ROOTS} is incomplete: libcudart_static.a or \
cuda_runtime_api.h is missing.\n${advice}")
endif()
message(STATUS "CUDA ${QUARRY_NVCC_VERSION}: ${QUARRY_NVCC}")

# QUARRY_CUDA_ARCHS, checked and ascending.
list(SORT QUARRY_CUDA_ARCHS)
list(REMOVE_DUPLICATES QUARRY_CUDA_ARCHS)
foreach(arch IN LISTS QUARRY_CUDA_ARCHS)
  if(NOT arch MATCHES "^(80|90)$")
    message(FATAL_ERROR "QUARRY_CUDA_ARCHS: '${arch}' is not one of 80, 90")
  endif()
endforeach()
if(NOT QUARRY_CUDA_ARCHS)
  message(FATAL_ERROR "QUARRY_CUDA_ARCHS is empty: give 80, 90 or both")
endif()
