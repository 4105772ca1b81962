// The registry's front door.
#include "quarry/registry.hpp"

#include <algorithm>
#include <string>

#include "registry/basic/nearest.hpp"
#include "registry/basic/text.hpp"
#include "registry/query/query.hpp"
#include "registry/row.hpp"

namespace quarry {
namespace {

Status unknown_kernel(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(detail::rows().size());
  for (const std::uint32_t row : detail::rows_by_name()) names.push_back(detail::rows()[row].metadata.name);
  return {StatusCode::not_found,
          "There is no kernel named " + detail::quoted(name) + detail::did_you_mean(name, names)};
}

}  // namespace

std::vector<Kernel> get_kernels() { return get_kernels(Filter()); }

std::vector<Kernel> get_kernels(const Filter& filter) {
  std::vector<Kernel> kernels;
  if (!filter.restricts()) kernels.reserve(detail::rows().size());
  for (const detail::Row& row : detail::rows()) {
    if (filter(row.metadata)) kernels.emplace_back(row);
  }
  return kernels;
}

CandidateList get_kernels(const GemmArguments& arguments) { return Query::answer(arguments, {}, {}); }

CandidateList get_kernels(const GemmArguments& arguments, const Filter& filter, const FindOptions& options) {
  return Query::answer(arguments, filter, options);
}

Result<Kernel> find_kernel(std::string_view name) {
  const auto rows = detail::rows();
  const auto by_name = detail::rows_by_name();
  const auto found =
      std::lower_bound(by_name.begin(), by_name.end(), name,
                       [&](std::uint32_t row, std::string_view n) { return rows[row].metadata.name < n; });
  if (found == by_name.end() || rows[*found].metadata.name != name) return unknown_kernel(name);
  return Kernel(rows[*found]);
}

}  // namespace quarry
