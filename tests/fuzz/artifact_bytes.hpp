/// Artifacts as bytes, made so that a fuzzer gets behind their checksums.
#pragma once

#include <cstddef>
#include <vector>

#include "fuzz/input.hpp"

namespace quarry::fuzz {

/// Bytes of an artifact, by the first byte of the input: all that is left of it as it is; a right head with
/// the rest behind it; or a right artifact of a registered kernel, with some bytes changed. The latter two
/// have a right size and checksum.
std::vector<std::byte> artifact_bytes(Input& input);

}  // namespace quarry::fuzz
