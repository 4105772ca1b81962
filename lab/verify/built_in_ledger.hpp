/// The ledger of the source tree, verified.ledger, within the program.
#pragma once

#include <string_view>

namespace quarry::lab {

/// Its text. Defined by a source that the build writes (cmake/lab.cmake).
std::string_view built_in_ledger();

}  // namespace quarry::lab
