/// NVRTC as a compiler: in this process, from the embedded sources, no file or toolkit needed.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "registry/compile/compiler.hpp"
#include "registry/compile/compiler_files.hpp"
#include "registry/compile/nvrtc_library.hpp"

namespace quarry::detail {

/// Opens its library when it first compiles; what is wrong with that is said by every compilation then.
class NvrtcCompiler final : public Compiler {
 public:
  explicit NvrtcCompiler(CompilerFile file);

  std::string_view identity() const override { return identity_; }

 private:
  struct Opened {
    NvrtcFunctions functions;
    std::string name;  ///< "NVRTC 13.0"
    std::vector<int> targets;
  };
  const Result<Opened>& opened() const;
  Result<Opened> open() const;
  Result<Output> build(const CompileJob& job, bool as_ptx) const override;

  CompilerFile file_;
  std::string identity_;
  mutable std::mutex mutex_;
  mutable std::optional<Result<Opened>> opened_;
};

}  // namespace quarry::detail
