#include "registry/compile/compiler.hpp"

#include <utility>

#include "registry/compile/compile_log.hpp"

namespace quarry::detail {

Result<CompiledCode> Compiler::compile(const CompileJob& job) const {
  Result<Output> output = build(job, false);
  if (!output) return output.status();
  const auto* const first = reinterpret_cast<const std::byte*>(output->bytes.data());
  return CompiledCode{{first, first + output->bytes.size()},
                      resources_from_log(output->log, job, output->bytes.size()),
                      std::move(output->log)};
}

Result<std::string> Compiler::ptx(const CompileJob& job) const {
  Result<Output> output = build(job, true);
  if (!output) return output.status();
  return std::move(output->bytes);
}

}  // namespace quarry::detail
