/// Artifact, as users see it.
#include "quarry/artifact.hpp"

#include <array>

#include "basic/text.hpp"
#include "basic/words.hpp"
#include "registry/compile/artifact_format.hpp"

namespace quarry {
namespace {

constexpr std::array<std::string_view, 3> backend_words = {"automatic", "nvrtc", "nvcc"};
constexpr std::array<std::string_view, 4> origin_words = {"precompiled", "compiled", "cached", "loaded"};
static_assert(backend_words.size() == static_cast<std::size_t>(CompilerBackend::nvcc) + 1);
static_assert(origin_words.size() == static_cast<std::size_t>(ArtifactOrigin::loaded) + 1);

}  // namespace

std::string_view to_string(CompilerBackend backend) { return detail::word_of(backend_words, backend); }
std::string_view to_string(ArtifactOrigin origin) { return detail::word_of(origin_words, origin); }

Result<CompilerBackend> parse_compiler_backend(std::string_view word) {
  if (const auto value = detail::value_of(backend_words, word)) return static_cast<CompilerBackend>(*value);
  return Status(StatusCode::parse_error, detail::unknown_word("compiler", word, backend_words));
}

std::string_view Artifact::entry() const { return data_->entry; }
int Artifact::target() const { return data_->target; }
ArtifactOrigin Artifact::origin() const { return data_->origin; }
std::span<const std::byte> Artifact::code() const { return data_->code; }
const CodeResources& Artifact::resources() const { return data_->resources; }
std::string_view Artifact::compiler() const { return data_->compiler; }

std::vector<std::byte> Artifact::serialize() const { return detail::to_bytes(*data_); }

Result<Artifact> Artifact::deserialize(std::span<const std::byte> bytes) {
  Result<std::shared_ptr<detail::ArtifactData>> read = detail::from_bytes(bytes);
  if (!read) return read.status();
  (*read)->origin = ArtifactOrigin::loaded;
  return Artifact(*std::move(read));
}

}  // namespace quarry
