/// nvcc as a compiler: another process, over the embedded sources in a temporary folder.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "registry/compile/compiler.hpp"
#include "registry/compile/compiler_files.hpp"

namespace quarry::detail {

/// Asks nvcc for its version and targets when it first compiles.
class NvccCompiler final : public Compiler {
 public:
  explicit NvccCompiler(CompilerFile file);

  std::string_view identity() const override { return identity_; }

 private:
  struct Abilities {
    std::string name;  ///< "nvcc 13.0"
    std::vector<int> targets;
  };
  const Result<Abilities>& abilities() const;
  Result<Abilities> ask() const;
  Result<Output> build(const CompileJob& job, bool as_ptx) const override;

  CompilerFile file_;
  std::string identity_;
  mutable std::mutex mutex_;
  mutable std::optional<Result<Abilities>> abilities_;
};

}  // namespace quarry::detail
