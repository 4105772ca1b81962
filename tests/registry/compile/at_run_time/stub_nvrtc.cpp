/// A library that looks like NVRTC: of a version that the build chooses, and with behaviour that a test can
/// choose by the target: 90 compiles, 80 is an error in the source, 86 fails without a word, 89 gives no
/// code; no program named "refused" is taken.
#include <cstddef>
#include <cstring>
#include <string>

namespace {

struct Program {
  std::string entry;
  int target = 0;
};

std::string log_of(const Program& program) {
  if (program.target == 80) return "k.cu(1): warning: odd\nk.cu(2): error: broken\nk.cu(3): error: too\n";
  if (program.target != 90) return "";
  return "ptxas info    : Compiling entry function '" + program.entry +
         "' for 'sm_90'\n"
         "    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads\n"
         "ptxas info    : Used 77 registers, used 1 barriers, 584 bytes cmem[0]\n";
}

std::string code_of(const Program& program) {
  return program.target == 90 ? std::string(
                                    "\x7f"
                                    "ELF\0code",
                                    9)
                              : "";
}

int put(const std::string& text, char* to) {
  std::memcpy(to, text.data(), text.size());
  return 0;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = STUB_MAJOR;
  *minor = STUB_MINOR;
  return 0;
}
const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_STUB"; }
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 6;
  return 0;
}
int nvrtcGetSupportedArchs(int* targets) {
  const int known[] = {75, 80, 86, 89, 90, 100};
  std::memcpy(targets, known, sizeof known);
  return 0;
}
int nvrtcCreateProgram(Program** program, const char*, const char* name, int, const char* const*,
                       const char* const*) {
  if (std::strcmp(name, "refused.cu") == 0) return 2;
  const std::string file = name;
  *program = new Program{file.substr(0, file.rfind('.')), 0};
  return 0;
}
int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}
int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    if (option.starts_with("-arch=")) program->target = std::stoi(option.substr(option.find('_') + 1));
  }
  return program->target == 80 || program->target == 86 ? 6 : 0;
}
int nvrtcGetProgramLogSize(Program* program, std::size_t* bytes) {
  *bytes = log_of(*program).size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Program* program, char* text) { return put(log_of(*program) + '\0', text); }
int nvrtcGetCUBINSize(Program* program, std::size_t* bytes) {
  *bytes = code_of(*program).size();
  return 0;
}
int nvrtcGetCUBIN(Program* program, char* code) { return put(code_of(*program), code); }
int nvrtcGetPTXSize(Program*, std::size_t* bytes) {
  *bytes = 5;
  return 0;
}
#ifndef STUB_INCOMPLETE
int nvrtcGetPTX(Program*, char* text) { return put(std::string("ptx\n\0", 5), text); }
#endif
}
