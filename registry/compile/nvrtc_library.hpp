/// NVRTC's library, opened when it is needed. Its functions are declared here, as far as they are used, so
/// that neither its header nor the library is needed to build.
#pragma once

#include <string>

#include "quarry/status.hpp"

namespace quarry::detail {

/// A program being compiled.
struct NvrtcProgram;

/// NVRTC's functions by their C names, less `nvrtc`. All answer 0 for success.
struct NvrtcFunctions {
  int (*version)(int* major, int* minor);
  const char* (*error_string)(int result);
  int (*num_supported_archs)(int* count);
  int (*supported_archs)(int* targets);  ///< room for num_supported_archs, ascending, as 80
  int (*create_program)(NvrtcProgram** program, const char* source, const char* name, int headers,
                        const char* const* header_texts, const char* const* header_names);
  int (*destroy_program)(NvrtcProgram** program);
  int (*compile_program)(NvrtcProgram* program, int options, const char* const* option_texts);
  int (*log_size)(NvrtcProgram* program, std::size_t* bytes);  ///< with the final 0
  int (*log)(NvrtcProgram* program, char* text);
  int (*cubin_size)(NvrtcProgram* program, std::size_t* bytes);
  int (*cubin)(NvrtcProgram* program, char* code);
  int (*ptx_size)(NvrtcProgram* program, std::size_t* bytes);  ///< with the final 0
  int (*ptx)(NvrtcProgram* program, char* text);
};

/// Opens the library and looks its functions up; it stays open while the process runs. Fails with
/// no_compiler where the file is no library or lacks a function.
Result<NvrtcFunctions> open_nvrtc(const std::string& path);

}  // namespace quarry::detail
