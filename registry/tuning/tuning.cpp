#include "registry/tuning/tuning.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "basic/text.hpp"
#include "quarry/system.hpp"
#include "quarry/tuning.hpp"
#include "registry/compile/sources.hpp"
#include "registry/device/device_model.hpp"
#include "registry/query/index.hpp"
#include "registry/tuning/index_file.hpp"

namespace quarry {
namespace {

using detail::Tuning;
using detail::TuningIndex;

/// What queries read. States that were replaced are not freed: a query may still read them.
constinit std::atomic<const Tuning*> current = nullptr;
constinit std::mutex mutex;
constinit std::uint32_t last_epoch = 0;
/// The first of all states that were made, newest first.
constinit const Tuning* newest = nullptr;
constinit std::once_flag environment_loaded;

/// @pre the mutex is held
void publish(TuningIndex index) {
  auto made = std::make_unique<Tuning>();
  made->index = std::move(index);
  for (const detail::TunedName& kernel : made->index.kernels())
    made->rows.push_back(detail::find_registered_row(kernel.name));
  made->epoch = ++last_epoch;
  made->previous = newest;
  newest = made.release();
  current.store(newest, std::memory_order_release);
}

/// Whether this machine has each device of an index; all of them where it has no device.
std::vector<bool> devices_here(const TuningIndex& index) {
  const int count = device_count();
  std::vector<bool> here;
  for (const detail::TunedName& device : index.devices()) {
    bool is_here = count == 0;
    for (int i = 0; i < count && !is_here; ++i) {
      const DeviceModel* const model = detail::cached_device_model(i);
      is_here = model != nullptr && detail::tuning_device(*model) == device.name;
    }
    here.push_back(is_here);
  }
  return here;
}

TuningSummary summary_of(const detail::LoadedIndex& loaded) {
  const TuningIndex& index = loaded.index;
  const std::vector<bool> here = devices_here(index);
  std::vector<bool> known;
  for (const detail::TunedName& kernel : index.kernels())
    known.push_back(detail::find_registered_row(kernel.name) != nullptr);
  TuningSummary summary{.other_sources = index.other_sources(),
                        .future_lines = index.future(),
                        .damaged_lines = index.damaged(),
                        .from_index = loaded.from_index_file};
  // Each counts once, under the first reason.
  for (const detail::TunedPair& each : index.pairs()) {
    std::size_t& sum = !here[each.device]    ? summary.other_devices
                       : !known[each.kernel] ? summary.unknown_kernels
                                             : summary.usable;
    sum += each.measurements;
  }
  return summary;
}

Result<TuningSummary> load(const std::string& path) try {
  Result<detail::LoadedIndex> loaded = detail::load_index(path, detail::sources_digest());
  if (!loaded) return loaded.status();
  const TuningSummary summary = summary_of(*loaded);
  const std::lock_guard lock(mutex);
  const Tuning* const before = current.load(std::memory_order_relaxed);
  publish(before == nullptr ? std::move(loaded->index) : TuningIndex::joined(before->index, loaded->index));
  return summary;
} catch (const std::exception&) {
  return Status(StatusCode::file_error, "Out of memory for a tuning table");
}

void warn(const std::string& text) {
  const std::string line = "quarry: warning: " + text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// @param where what named the table, for the message
void load_or_warn(const std::string& path, std::string_view where) {
  const Result<TuningSummary> loaded = load(path);
  if (!loaded) return warn(std::string(where) + ": " + loaded.status().message());
  if (loaded->skipped() > 0)
    warn(std::string(where) + ": " + detail::quoted(path) + ": " + to_string(*loaded));
}

void load_environment() {
  const char* const named = std::getenv("QUARRY_TUNING");
  std::string_view left = named == nullptr ? "" : named;
  if (left == "off") return;
  if (left.empty()) {
    const std::string own = user_tuning_path();
    struct stat status = {};
    if (!own.empty() && stat(own.c_str(), &status) == 0) load_or_warn(own, "the user's tuning table");
    return;
  }
  while (!left.empty()) {
    const std::string_view path = left.substr(0, left.find(':'));
    left.remove_prefix(std::min(path.size() + 1, left.size()));
    if (!path.empty()) load_or_warn(std::string(path), "QUARRY_TUNING");
  }
}

void load_environment_once() { std::call_once(environment_loaded, load_environment); }

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

const Tuning* detail::tuning() {
  load_environment_once();
  return current.load(std::memory_order_acquire);
}

Result<TuningSummary> load_tuning(const std::string& path) {
  load_environment_once();
  return load(path);
}

void clear_tuning() {
  load_environment_once();
  const std::lock_guard lock(mutex);
  current.store(nullptr, std::memory_order_release);
}

std::string user_tuning_path() {
  const std::string config = environment("XDG_CONFIG_HOME");
  const std::string home = environment("HOME");
  if (config.starts_with('/')) return config + "/quarry/tuning.jsonl";
  return home.starts_with('/') ? home + "/.config/quarry/tuning.jsonl" : "";
}

std::string to_string(const TuningSummary& summary) {
  if (summary.skipped() == 0) return "";
  const std::size_t all = summary.usable + summary.skipped();
  std::string text =
      std::to_string(summary.skipped()) + " of " + std::to_string(all) + " measurements are skipped: ";
  std::string_view separator = "";
  const auto add = [&](std::size_t count, std::string_view why) {
    if (count == 0) return;
    text.append(separator).append(std::to_string(count)).append(" ").append(why);
    separator = ", ";
  };
  add(summary.other_sources, "of other kernel sources");
  add(summary.other_devices, "of other devices");
  add(summary.unknown_kernels, "of unknown kernels");
  add(summary.future_lines, "of a later version");
  add(summary.damaged_lines, "damaged");
  return text;
}

}  // namespace quarry
