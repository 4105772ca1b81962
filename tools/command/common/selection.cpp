#include "tools/command/common/selection.hpp"

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <unordered_set>

#include "lab/text.hpp"
#include "tools/command/common/kernel_columns.hpp"

namespace quarry::command {
namespace {

/// The lines of standard input without blanks around them, less empty ones.
Result<std::vector<std::string>> read_names() {
  const Result<std::string> text = lab::read_file(STDIN_FILENO);
  if (!text) return Status(text.status().code(), "standard input: " + text.status().message());
  std::istringstream input(*text);
  std::vector<std::string> names;
  for (std::string line; std::getline(input, line);) {
    constexpr std::string_view blanks = " \t\r";
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == line.npos) continue;
    names.push_back(line.substr(begin, line.find_last_not_of(blanks) - begin + 1));
  }
  return names;
}

Result<std::vector<Kernel>> find_all(const std::vector<std::string>& names) {
  std::vector<Kernel> kernels;
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    const Result<Kernel> kernel = read_kernel(name);
    if (!kernel) return kernel.status();
    if (seen.insert(kernel->name()).second) kernels.push_back(*kernel);
  }
  return kernels;
}

/// Whether a text is meant as JSON rather than as a name.
bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r");
  return first != text.npos && text[first] == '{';
}

}  // namespace

Result<Kernel> read_kernel(const std::string& text) {
  Result<Kernel> kernel = make_kernel(text);
  switch (kernel.status().code()) {
    // A text that is neither is most likely a name with a mistake in it: then the nearest ones help most.
    case StatusCode::parse_error: return is_json(text) ? std::move(kernel) : find_kernel(text);
    // What was typed is wrong: there is nothing that could be tried.
    case StatusCode::unsupported: return Status(StatusCode::invalid_arguments, kernel.status().message());
    default: return kernel;
  }
}

void add_where_flag(CLI::App& app, std::string& where) {
  app.add_option("--where", where, "Filter, such as 'cc == 80 and a.dtype == f16 and tile.m >= 128'")
      ->type_name("EXPRESSION");
}

void add_selection_flags(CLI::App& app, SelectionFlags& flags) {
  app.add_option(
         "names", flags.names,
         "Kernels by name, registered or not, or by config as JSON; `-` reads them from standard input, "
         "one a line")
      ->type_name("NAME");
  add_where_flag(app, flags.where);
}

Result<Filter> read_filter(const std::string& where) {
  if (where.empty()) return Filter();
  Result<Filter> filter = Filter::parse(where);
  for (const std::string_view column : answer_columns) {
    const std::string unknown = "unknown field " + lab::quoted(column);
    if (filter || !filter.status().message().starts_with(unknown)) continue;
    return Status(StatusCode::not_found,
                  lab::quoted(column) +
                      " is a column of `quarry find`, not a field of kernels: use it with --sort and "
                      "--columns there, not in a filter (--max-workspace limits the workspace)");
  }
  return filter;
}

Status none_selected(const SelectionFlags& flags) {
  return {StatusCode::filtered_out,
          flags.where.empty() ? "standard input names no kernel" : "no kernel passes the filter"};
}

Result<std::vector<Kernel>> read_selection(const SelectionFlags& flags) {
  const Result<Filter> filter = read_filter(flags.where);
  if (!filter) return filter.status();
  if (flags.names.empty()) return get_kernels(*filter);

  std::vector<std::string> names;
  for (const std::string& name : flags.names) {
    if (name != "-") {
      names.push_back(name);
      continue;
    }
    const Result<std::vector<std::string>> lines = read_names();
    if (!lines) return lines.status();
    names.insert(names.end(), lines->begin(), lines->end());
  }
  Result<std::vector<Kernel>> kernels = find_all(names);
  if (!kernels) return kernels.status();
  std::erase_if(*kernels, [&](const Kernel& kernel) { return !(*filter)(kernel.metadata()); });
  return kernels;
}

}  // namespace quarry::command
