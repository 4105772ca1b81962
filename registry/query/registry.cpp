// The registry's front door.
#include "quarry/registry.hpp"

#include <new>
#include <string>

#include "basic/nearest.hpp"
#include "basic/text.hpp"
#include "operations/common/row.hpp"
#include "registry/query/config_reader.hpp"
#include "registry/query/index.hpp"
#include "registry/query/own_kernels.hpp"
#include "registry/query/query.hpp"

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

CandidateList get_kernels(const ReduceSplitKArguments& arguments) { return Query::answer(arguments, {}, {}); }

CandidateList get_kernels(const ReduceSplitKArguments& arguments, const Filter& filter,
                          const FindOptions& options) {
  return Query::answer(arguments, filter, options);
}

Result<Kernel> find_kernel(std::string_view name) {
  if (const detail::Row* const row = detail::find_registered_row(name)) return Kernel(*row);
  if (const detail::Row* const row = detail::find_own_row(name)) return Kernel(*row);
  return unknown_kernel(name);
}

Result<Kernel> make_kernel(std::string_view text) {
  try {
    const Result<detail::FamilyConfig> config = detail::read_config(text);
    if (!config) return config.status();
    const Result<const detail::Row*> row = detail::row_of(*config);
    if (!row) return row.status();
    return Kernel(**row);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::device_error, "Out of memory for a kernel");
  }
}

}  // namespace quarry
