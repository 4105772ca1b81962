/// Everything: `#include <quarry/quarry.hpp>`.
#pragma once

#include "quarry/account.hpp"
#include "quarry/arguments.hpp"
#include "quarry/artifact.hpp"
#include "quarry/cache.hpp"
#include "quarry/code.hpp"
#include "quarry/controls.hpp"
#include "quarry/device_model.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/export.hpp"
#include "quarry/expression.hpp"
#include "quarry/fields.hpp"
#include "quarry/filter.hpp"
#include "quarry/kernel.hpp"
#include "quarry/metadata.hpp"
#include "quarry/operation.hpp"
#include "quarry/operations.hpp"  // written by the build: the headers of all operations
#include "quarry/pack.hpp"
#include "quarry/pointer_array.hpp"
#include "quarry/registry.hpp"
#include "quarry/status.hpp"
#include "quarry/system.hpp"
#include "quarry/tensor.hpp"
#include "quarry/tuning.hpp"
#include "quarry/types.hpp"
#include "quarry/version.hpp"  // written by the build
#include "quarry/workspace.hpp"
