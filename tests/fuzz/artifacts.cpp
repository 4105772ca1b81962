#include "fuzz/artifact_bytes.hpp"
#include "fuzz/harness_list.hpp"
#include "quarry/artifact.hpp"

namespace quarry::fuzz {

void artifacts(Bytes input) {
  Input values(input);
  const std::vector<std::byte> bytes = artifact_bytes(values);
  const Result<Artifact> artifact = Artifact::deserialize(bytes);
  check_message(artifact.status());
  if (!artifact) return;
  require(artifact->serialize() == bytes, "an artifact that was read is written as it was");
  require(!artifact->code().empty(), "an artifact has code");
  check_message(add_artifact(*artifact));
}

}  // namespace quarry::fuzz
