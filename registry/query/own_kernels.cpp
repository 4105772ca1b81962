#include "registry/query/own_kernels.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "basic/text.hpp"
#include "entry_text.hpp"
#include "operations/common/expression/tensors.hpp"
#include "registry/compile/store.hpp"
#include "registry/query/index.hpp"
#include "registry/query/own_entries.hpp"

namespace quarry::detail {
namespace {

/// A row, with the text of its name.
struct OwnKernel {
  std::string name;
  Row row;
};

/// What rows of one entry have in common.
struct SharedEntry {
  std::uint32_t number = 0;
  const void* config = nullptr;
};

/// Never destroyed: rows are valid to the end of the process.
struct OwnKernels {
  std::shared_mutex mutex;
  std::unordered_map<std::string_view, std::unique_ptr<OwnKernel>> kernels;  // by the kernel's own name
  std::map<std::string, SharedEntry, std::less<>> entries;                   // by the entry's name
  /// Entries with an expression, by that without and the expression.
  std::map<std::pair<std::uint32_t, const InternedExpression*>, std::uint32_t> with_expression;
};

OwnKernels& own() {
  static OwnKernels* const the = new OwnKernels;
  return *the;
}

/// @pre the mutex is held
const Row* find_in(const OwnKernels& all, std::string_view name) {
  const auto found = all.kernels.find(name);
  return found == all.kernels.end() ? nullptr : &found->second->row;
}

/// The entry of this name, registered or not; nothing when there are too many. `config` says what a new one
/// points to. @pre the mutex is held for writing
std::optional<SharedEntry> entry_named(OwnKernels& all, const std::string& name,
                                       const std::function<const void*()>& config) {
  if (const auto known = all.entries.find(name); known != all.entries.end()) return known->second;
  // All memory is taken before an entry is added, so that none is added that nobody finds again.
  decltype(all.entries) made;
  SharedEntry& entry = made.try_emplace(name).first->second;
  entry.config = config();
  std::optional<std::uint32_t> number = find_registered_entry(name);
  if (!number) number = add_own_entry(name);
  if (!number) return std::nullopt;
  entry.number = *number;
  const SharedEntry result = entry;
  all.entries.merge(made);
  return result;
}

/// The registered entries of its companions. (They are small and few, so that none is ever made.)
std::array<std::uint32_t, most_companions> companions_of(const KernelMetadata& kernel) {
  std::array<std::uint32_t, most_companions> companions = {no_entry, no_entry};
  std::size_t next = 0;
  for (const std::string& name : companion_names(kernel)) {
    companions.at(next++) = find_registered_entry(name).value_or(no_entry);
  }
  return companions;
}

/// A row and the entry that it runs. @pre the mutex is held for
/// writing; there is no such row yet
Result<const Row*> make_row(OwnKernels& all, const FamilyConfig& config, std::string name) {
  const ConfigSpace& space = *config.family->space;
  const SettingValues values = space.entry(config.values);
  const auto entry = entry_named(all, config_name(space, values), [&] { return space.kept(values); });
  if (!entry) {
    return Status(StatusCode::unsupported,
                  "There are " + std::to_string(most_own_entries) + " kernels of this program already");
  }
  auto made = std::make_unique<OwnKernel>();
  made->name = std::move(name);
  made->row = {space.describe(config.values, made->name), config.family->family, entry->config, entry->number,
               is_exchanged(space, config.values)};
  made->row.companions = companions_of(made->row.metadata);
  const Row* const row = &made->row;
  all.kernels.emplace(row->metadata.name, std::move(made));
  return row;
}

/// The entry with an expression that was added for both before.
std::optional<std::uint32_t> find_entry_with(std::uint32_t entry, const InternedExpression& expression) {
  OwnKernels& all = own();
  const std::shared_lock lock(all.mutex);
  const auto known = all.with_expression.find({entry, &expression});
  if (known == all.with_expression.end()) return std::nullopt;
  return known->second;
}

}  // namespace

Result<const Row*> row_of(const FamilyConfig& config) {
  const ConfigSpace& space = *config.family->space;
  std::string name = config_name(space, config.values);
  if (const Row* const registered = find_registered_row(name)) return registered;
  if (const Row* const made = find_own_row(name)) return made;
  if (const std::string fault = kernel_fault(space, config.values); !fault.empty()) {
    return Status(StatusCode::unsupported, "There can be no kernel " + quoted(name) + ": " + fault);
  }
  OwnKernels& all = own();
  const std::lock_guard lock(all.mutex);
  if (const Row* const made = find_in(all, name)) return made;
  return make_row(all, config, std::move(name));
}

std::uint32_t entry_with(std::uint32_t entry, const InternedExpression& expression) {
  if (const auto known = find_entry_with(entry, expression)) return *known;
  OwnKernels& all = own();
  const std::lock_guard lock(all.mutex);
  const auto added =
      entry_named(all, entry_name_with(entry_of(entry).name, expression), [] { return nullptr; });
  if (!added) return no_entry;
  return all.with_expression.try_emplace({entry, &expression}, added->number).first->second;
}

bool may_be_reduced(const Row& row, const Expression& expression) {
  return row.metadata.modes.split_k_parallel && row.companions[0] != no_entry && !is_wide(expression);
}

bool has_machine_code(const Row& row, const KnownExpression& expression, int target) {
  if (!expression) return has_machine_code(row.entry, target);
  if (*expression == nullptr) return false;
  const auto has = [&](std::uint32_t entry) {
    const std::optional<std::uint32_t> with = find_entry_with(entry, **expression);
    return with && has_machine_code(*with, target);
  };
  if (!has(row.entry)) return false;
  return !may_be_reduced(row, (*expression)->expression) ||
         (has_machine_code(row.entry, target) && has(row.companions[0]));
}

const Row* find_own_row(std::string_view name) {
  OwnKernels& all = own();
  const std::shared_lock lock(all.mutex);
  return find_in(all, name);
}

std::uint32_t entry_of_step(const Row& row, const Launch& launch, const Step& step) {
  const std::uint32_t plain = step.entry == 0 ? row.entry : row.companions[step.entry - 1U];
  if (plain == no_entry || !has_expression(launch, step)) return plain;
  return entry_with(plain, *launch.expression);
}

std::optional<std::uint32_t> find_own_entry(std::string_view name) {
  OwnKernels& all = own();
  const std::shared_lock lock(all.mutex);
  const auto found = all.entries.find(name);
  if (found == all.entries.end()) return std::nullopt;
  return found->second.number;
}

}  // namespace quarry::detail
