/// Running arguments as a user does who leaves the choice to Quarry.
#pragma once

#include "quarry/quarry.hpp"

namespace quarry::test {

/// Runs the arguments with the best kernel. Fails with the reason where no kernel takes them.
inline Status run_best(Arguments args) {
  const auto found = find_best(args);
  return found ? found->run(args) : found.status();
}

}  // namespace quarry::test
