# CUDAToolkit_ROOT from NVIDIA's wheels in the Python that builds a wheel, where no toolkit is installed.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND "${Python_EXECUTABLE}" -c
                        "import nvidia, os; print(next(f for p in nvidia.__path__ if os.path.isdir(f := os.path.join(p, 'cu13'))))"
                OUTPUT_VARIABLE wheels OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(wheels AND NOT CUDAToolkit_ROOT AND NOT DEFINED ENV{CUDAToolkit_ROOT})
  set(CUDAToolkit_ROOT "${wheels}")
endif()
