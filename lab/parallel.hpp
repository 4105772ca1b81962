/// Loops over independent pieces of work, spread over threads.
#pragma once

#include "operations/common/host/parallel.hpp"

namespace quarry::lab {

using host::default_threads;
using host::parallel_for;

}  // namespace quarry::lab
