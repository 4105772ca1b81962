// Why a kernel is predicted to be as fast as it is.
#include "quarry/account.hpp"

#include <algorithm>
#include <iterator>

#include "operations/common/row.hpp"
#include "quarry/registry.hpp"
#include "registry/operation.hpp"

namespace quarry {
namespace {

constexpr std::string_view part_words[] = {"launch",  "memory", "math",     "copies",
                                           "latency", "ends",   "epilogue", "exchange"};
static_assert(std::size(part_words) == time_part_count);
static_assert(time_part_count == static_cast<int>(TimePart::exchange) + 1);

}  // namespace

std::string_view to_string(TimePart part) {
  const auto number = static_cast<std::size_t>(part);
  return number < std::size(part_words) ? part_words[number] : "unknown";
}

TimePart Account::limit() const {
  const auto* const longest = std::ranges::max_element(seconds_of);
  return static_cast<TimePart>(longest - std::begin(seconds_of));
}

Result<Account> account_of(const Kernel& kernel, Arguments arguments) {
  return account_of(kernel, arguments, {});
}

Result<Account> account_of(const Kernel& kernel, Arguments arguments, const FindOptions& options) {
  const detail::Row& row = detail::row_of(kernel);
  if (Status s = detail::check_arguments(row, arguments); !s) return s;
  return detail::info_of(arguments.operation()).account(row, arguments.data(), options);
}

}  // namespace quarry
