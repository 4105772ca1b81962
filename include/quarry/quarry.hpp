/// Everything: `#include <quarry/quarry.hpp>`.
#pragma once

#include "quarry/arguments.hpp"
#include "quarry/artifact.hpp"
#include "quarry/device_model.hpp"
#include "quarry/export.hpp"
#include "quarry/filter.hpp"
#include "quarry/kernel.hpp"
#include "quarry/metadata.hpp"
#include "quarry/pack.hpp"
#include "quarry/pointer_array.hpp"
#include "quarry/registry.hpp"
#include "quarry/reorder.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"
#include "quarry/types.hpp"
