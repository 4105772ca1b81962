/// Artifacts that the program brings: whether they are this library's, and whose they are.
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "basic/text.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/row.hpp"
#include "quarry/registry.hpp"
#include "registry/compile/pack.hpp"
#include "registry/compile/sources.hpp"
#include "registry/compile/store.hpp"
#include "registry/device/library.hpp"
#include "registry/operation.hpp"
#include "registry/query/index.hpp"
#include "registry/query/own_kernels.hpp"

namespace quarry {
namespace {

Status invalid(std::string why) { return {StatusCode::invalid_artifact, std::move(why)}; }

/// "8.0"
std::string capability(int cc) { return std::to_string(cc / 10) + "." + std::to_string(cc % 10); }

Status check_target(const detail::ArtifactData& artifact) {
  constexpr int least = 50;
  constexpr int most = 999;
  if (artifact.target < least || artifact.target > most) {
    return invalid("The code of " + detail::quoted(artifact.entry) +
                   " is for an unknown compute capability: " + std::to_string(artifact.target));
  }
  const auto parts = detail::parse_expression_entry(artifact.entry);
  const std::string_view name = parts ? parts->entry : artifact.entry;
  const std::optional<std::uint32_t> number = detail::find_entry(name);
  if (!number || *number >= detail::entries().size()) return {};
  const detail::Row* row = detail::find_registered_row(name);
  if (row == nullptr) row = detail::find_own_row(name);
  if (row == nullptr) return {};  // of the transposed kernel alone
  const KernelMetadata& metadata = row->metadata;
  if (artifact.target >= metadata.cc && artifact.target <= metadata.max_cc.value_or(most)) return {};
  return invalid("The code of " + detail::quoted(artifact.entry) + " is for compute capability " +
                 capability(artifact.target) + ", on which the kernel does not run");
}

/// The number of an entry without an expression. A kernel that is not registered is made.
Result<std::uint32_t> entry_of_kernel(std::string_view name) {
  if (const std::optional<std::uint32_t> number = detail::find_entry(name)) return *number;
  const Result<Kernel> own = make_kernel(name);
  if (!own) return invalid(own.status().message());
  const std::uint32_t entry = detail::row_of(*own).entry;
  if (detail::entry_of(entry).name == name) return entry;
  return invalid("No kernel of this library is called " + detail::quoted(name));
}

Status add(const detail::ArtifactData& artifact, std::shared_ptr<const detail::ArtifactData> shared) {
  if (artifact.key.empty()) {
    const std::optional<std::uint32_t> number = detail::find_entry(artifact.entry);
    if (number && detail::artifact_in_memory(*number, artifact.target)) return {};
  }
  if (Status s = detail::check_artifact(artifact); !s) return s;
  const Result<std::uint32_t> entry = detail::entry_of_artifact(artifact);
  if (!entry) return entry.status();
  (void)detail::keep_artifact(*entry, std::move(shared));
  return {};
}

}  // namespace

Status detail::check_artifact(const ArtifactData& artifact) {
  const std::string name = quoted(artifact.entry);
  if (artifact.key.empty()) {
    return invalid("The code of " + name +
                   " is precompiled and does not name its sources: compile it with `force`");
  }
  if (Status s = learn_expression(artifact.entry, artifact.config); !s) return invalid(s.message());
  const Result<EntrySource> source = entry_source(artifact.entry);
  if (!source) return invalid("No kernel of this library is called " + name);
  if (source->config != artifact.config)
    return invalid("The code of " + name + " was compiled with another config: " + quoted(artifact.config));
  if (artifact.key != artifact_key(artifact.entry, artifact.config, artifact.target, artifact.compiler))
    return invalid("The code of " + name + " was compiled from other sources than this library's");
  return check_target(artifact);
}

Result<std::uint32_t> detail::entry_of_artifact(const ArtifactData& artifact) {
  if (const std::optional<std::uint32_t> number = find_entry(artifact.entry)) return *number;
  const auto parts = parse_expression_entry(artifact.entry);
  const Result<std::uint32_t> plain = entry_of_kernel(parts ? parts->entry : artifact.entry);
  const InternedExpression* const expression = parts ? find_interned(parts->number) : nullptr;
  if (!plain || expression == nullptr) return plain;
  const std::uint32_t entry = entry_with(*plain, *expression);
  if (entry != no_entry) return entry;
  return invalid("There is no room for " + quoted(artifact.entry) + ": this program has too many kernels");
}

Status add_artifact(const Artifact& artifact) {
  try {
    return add(artifact.data(), artifact.shared_data());
  } catch (const std::exception&) {
    return {StatusCode::device_error, "Out of memory for an artifact"};
  }
}

}  // namespace quarry
