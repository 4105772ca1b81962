/// From typed expressions to the program that a filter runs as.
#pragma once

#include "registry/metadata/filter_program.hpp"
#include "registry/metadata/filter_tree.hpp"

namespace quarry::detail {

/// The program of a tree that parse_filter gave. It needs neither the tree nor its text any more.
Program compile_filter(const Tree& tree);

}  // namespace quarry::detail
