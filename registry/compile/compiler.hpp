/// From a source of one kernel to machine code, by one of two compilers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/artifact.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// What to compile: a source that defines one entry, over the embedded kernel sources (see sources.hpp).
struct CompileJob {
  std::string source;
  /// The entry's name.
  std::string entry;
  /// Compute capability, such as 80 or 90.
  int target = 0;
  /// The one target that the source is for (EntryText::only_cc); 0: any.
  int only_cc = 0;
};

struct CompiledCode {
  std::vector<std::byte> cubin;
  CodeResources resources;
  std::string log;
};

/// A compiler that can be used. Stateless to the caller; safe from many threads.
class Compiler {
 public:
  /// Names the compiler and its version for cache keys and messages: "nvrtc 13.0", "nvcc 13.0.88".
  virtual std::string_view identity() const = 0;
  /// Fails with unsupported for a target that this compiler does not know or the source is not for, and
  /// compile_error otherwise: the message begins with the first line of the log that says error, the whole
  /// log follows.
  Result<CompiledCode> compile(const CompileJob& job) const;
  /// PTX instead of machine code, for `quarry show --ptx`.
  Result<std::string> ptx(const CompileJob& job) const;

 protected:
  struct Output {
    std::string bytes;
    std::string log;
  };
  /// Cubin or PTX, with the log; it fails as `compile` does.
  virtual Result<Output> build(const CompileJob& job, bool as_ptx) const = 0;

  constexpr ~Compiler() = default;
};

/// The compiler of a backend, found once and kept. Fails with no_compiler, and says where it was looked for,
/// when there is none, when it is too old (CUDA 12.4), and when QUARRY_COMPILER is off.
Result<const Compiler*> find_compiler(CompilerBackend backend);

}  // namespace quarry::detail
