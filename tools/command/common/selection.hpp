/// Which kernels a command is about: those named, on the command line or on standard input, and those that a
/// filter takes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "quarry/registry.hpp"

namespace quarry::command {

struct SelectionFlags {
  /// Kernels as read_kernel takes them; "-" stands for the lines of standard input.
  std::vector<std::string> names;
  std::string where;
};

/// Adds NAME... and --where.
void add_selection_flags(CLI::App& app, SelectionFlags& flags);

/// Adds --where alone.
void add_where_flag(CLI::App& app, std::string& where);

/// The filter of --where; takes everything where that is empty.
Result<Filter> read_filter(const std::string& where);

/// The kernel of a name, registered or not, or of a config as JSON (see make_kernel). Fails on a name that is
/// neither, with the nearest registered ones, and on a config that no family can do, with what it breaks.
Result<Kernel> read_kernel(const std::string& text);

/// Why no kernel is selected: the filter takes none, or no name was read.
Status none_selected(const SelectionFlags& flags);

/// The kernels in the order of their names, each once, or all in registry order where none is named; less
/// those that the filter leaves out. Fails on an unknown name, with the nearest ones.
Result<std::vector<Kernel>> read_selection(const SelectionFlags& flags);

}  // namespace quarry::command
