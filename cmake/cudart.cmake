# The static CUDA runtime as the target CUDA::cudart_static, from an installed toolkit or from NVIDIA's Python wheels, whose
# layout CMake's own FindCUDAToolkit does not accept. Included by the build and by the installed package.
#
# @param QUARRY_CUDA_ROOTS folders to look in first, in and out of a toolkit's target folder
include(CMakeFindDependencyMacro)
if(NOT TARGET CUDA::cudart_static)
  find_library(QUARRY_CUDART_STATIC cudart_static HINTS ${QUARRY_CUDA_ROOTS}
               PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib
               DOC "The static CUDA runtime")
  find_path(QUARRY_CUDART_INCLUDE cuda_runtime_api.h HINTS ${QUARRY_CUDA_ROOTS}
            PATH_SUFFIXES include targets/x86_64-linux/include targets/sbsa-linux/include
            DOC "Headers of the CUDA runtime")
  mark_as_advanced(QUARRY_CUDART_STATIC QUARRY_CUDART_INCLUDE)
  if(QUARRY_CUDART_STATIC AND QUARRY_CUDART_INCLUDE)
    find_dependency(Threads)
    add_library(CUDA::cudart_static STATIC IMPORTED)
    set_target_properties(CUDA::cudart_static PROPERTIES
      IMPORTED_LOCATION "${QUARRY_CUDART_STATIC}"
      INTERFACE_INCLUDE_DIRECTORIES "${QUARRY_CUDART_INCLUDE}"
      INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};rt")
  endif()
endif()
