/// What a campaign asks of elementwise problems.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "quarry/elementwise.hpp"
#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry::lab::elementwise {

/// Extents of all elements, those in front 1.
using Extents = std::array<std::int64_t, 4>;

/// The extents of a problem: of the first output that has a value for each element. {1, 1, 1, 1} if every
/// output is a reduction.
Extents extents_of(const ElementwiseArguments& arguments);

/// Whether the expression rounds to types of whole bytes alone, so that there are kernels for it.
bool rounds_to_bytes(const ElementwiseArguments& arguments);

/// As CampaignSource says.
std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const ElementwiseArguments& arguments);
std::string fault_of_empty_answer(const Status& status, const ElementwiseArguments& arguments);

}  // namespace quarry::lab::elementwise
