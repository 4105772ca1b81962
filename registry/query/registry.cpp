// The registry's front door.
#include "quarry/registry.hpp"

#include <new>
#include <string>

#include "basic/nearest.hpp"
#include "basic/text.hpp"
#include "operations/common/row.hpp"
#include "registry/operation.hpp"
#include "registry/query/config_reader.hpp"
#include "registry/query/index.hpp"
#include "registry/query/own_kernels.hpp"

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

CandidateList get_kernels(Arguments arguments) { return get_kernels(arguments, {}, {}); }

CandidateList get_kernels(Arguments arguments, const Filter& filter, const FindOptions& options) {
  return detail::find(arguments, {filter, options});
}

Result<Candidate> find_best(Arguments arguments) { return find_best(arguments, {}, {}); }

Result<Candidate> find_best(Arguments arguments, const Filter& filter, const FindOptions& options) {
  if (Status s = detail::check_arguments(arguments); !s) return s;
  return detail::info_of(arguments.operation()).best(arguments.data(), {filter, options});
}

Result<Candidate> candidate_of(const Kernel& kernel, Arguments arguments, const FindOptions& options) {
  const detail::Row& row = detail::row_of(kernel);
  if (Status s = detail::check_arguments(row, arguments); !s) return s;
  return detail::info_of(arguments.operation()).candidate(row, arguments.data(), options);
}

CandidateList::CandidateList(std::vector<Candidate> many, std::size_t matched,
                             std::vector<Rejection> rejections)
    : many_(std::move(many)), matched_(matched), rejections_(std::move(rejections)) {
  if (!many_.empty()) return;
  status_ = {StatusCode::filtered_out,
             "The limit of 0 leaves none of " + std::to_string(matched) + " matching kernels"};
}

CandidateList detail::find(Arguments arguments, const Wishes& wishes) {
  if (Status s = check_arguments(arguments); !s) return CandidateList(std::move(s));
  return info_of(arguments.operation()).find(arguments.data(), wishes);
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
