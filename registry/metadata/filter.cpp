#include "quarry/filter.hpp"

#include <memory>

#include "registry/metadata/filter_compiler.hpp"
#include "registry/metadata/filter_parser.hpp"

namespace quarry {

Result<Filter> Filter::parse(std::string_view text) {
  const auto tree = detail::parse_filter(text);
  if (!tree) return tree.status();
  // Copies of the filter share the program.
  auto program = std::make_shared<const detail::Program>(detail::compile_filter(*tree));
  return Filter([program = std::move(program)](const KernelMetadata& kernel) { return (*program)(kernel); });
}

}  // namespace quarry
