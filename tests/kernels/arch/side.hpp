/// What a run of a probe gives, on either side.
#pragma once

#include <string>

#include "tests/kernels/arch/probe.hpp"

namespace quarry::test {

struct SideResult {
  std::string fault;  ///< why there is no result; "" where there is one
  Words words;        ///< `out`, then the counters
};

}  // namespace quarry::test
