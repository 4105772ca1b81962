#include "registry/compile/store.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "operations/common/row.hpp"
#include "registry/compile/artifact_format.hpp"
#include "registry/compile/compiler.hpp"
#include "registry/compile/disk_cache.hpp"
#include "registry/compile/pack.hpp"
#include "registry/compile/precompiled.hpp"
#include "registry/compile/sources.hpp"

namespace quarry::detail {
namespace {

using Data = std::shared_ptr<const ArtifactData>;

/// An artifact that is there, or that somebody is making.
struct Slot {
  Data artifact;
  bool being_made = false;
};

/// Never destroyed: threads may ask while the process ends.
struct Store {
  std::mutex mutex;
  std::condition_variable made;
  std::map<std::pair<std::uint32_t, int>, Slot> slots;
  std::atomic<std::size_t> compilations = 0;
  /// How many slots have an artifact.
  std::atomic<std::uint32_t> artifacts = 0;
};

Store& store();

/// The thread that makes an artifact is not in the child of a fork, and nobody else would say that it is
/// made.
void forget_makers() {
  for (auto& [key, slot] : store().slots) slot.being_made = false;
  store().mutex.unlock();
}

Store& store() {
  static Store* const the = [] {
    auto* const made = new Store;
    (void)pthread_atfork([] { store().mutex.lock(); }, [] { store().mutex.unlock(); }, forget_makers);
    return made;
  }();
  return *the;
}

Result<Data> compile_now(const CompileJob& job, const Compiler& compiler, const EntrySource& source,
                         const std::string& key) {
  store().compilations.fetch_add(1, std::memory_order_relaxed);
  Result<CompiledCode> code = compiler.compile(job);
  if (!code) return code.status();
  auto artifact = std::make_shared<ArtifactData>();
  artifact->entry = job.entry;
  artifact->config = source.config;
  artifact->compiler = compiler.identity();
  artifact->key = key;
  artifact->target = job.target;
  artifact->origin = ArtifactOrigin::compiled;
  artifact->resources = code->resources;
  artifact->resources.shared_memory = source.shared_memory;
  artifact->owned = std::move(code->cubin);
  artifact->code = artifact->owned;
  return Data(std::move(artifact));
}

/// From the disk, or compiled.
Result<Data> make(std::uint32_t number, int target, const CompileOptions& options) {
  const std::string entry(entry_of(number).name);
  Result<EntrySource> source = entry_source(entry);
  if (!source) return source.status();
  const Result<const Compiler*> compiler = find_compiler(options.backend);
  if (!compiler) return compiler.status();
  const std::string key = artifact_key(entry, source->config, target, (*compiler)->identity());
  if (options.use_disk_cache && !options.force) {
    if (std::shared_ptr<ArtifactData> cached = load_cached(key)) {
      cached->origin = ArtifactOrigin::cached;
      return Data(std::move(cached));
    }
  }
  Result<Data> made = compile_now({source->text, entry, target, source->only_cc}, **compiler, *source, key);
  if (made && options.use_disk_cache) store_cached(**made);
  return made;
}

/// As make, with any exception as a status: others may wait for what is made here.
Result<Data> make_or_say(std::uint32_t number, int target, const CompileOptions& options) try {
  return make(number, target, options);
} catch (const std::exception&) {
  return Status(StatusCode::device_error, "Out of memory for a compilation");
}

}  // namespace

std::shared_ptr<const ArtifactData> artifact_in_memory(std::uint32_t entry, int target) {
  if (Data precompiled = precompiled_artifact(entry, target)) return precompiled;
  return kept_artifact(entry, target);
}

bool has_machine_code(std::uint32_t entry, int target) {
  if (precompiled_target(entry, target) != 0) return true;
  return machine_code_epoch() > 0 && kept_artifact(entry, target) != nullptr;
}

std::uint32_t machine_code_epoch() {
  load_environment_packs();
  return store().artifacts.load(std::memory_order_acquire);
}

std::shared_ptr<const ArtifactData> kept_artifact(std::uint32_t entry, int target) {
  load_environment_packs();
  Store& s = store();
  const std::lock_guard lock(s.mutex);
  for (int older = target; older >= target / 10 * 10; --older) {
    const auto found = s.slots.find({entry, older});
    if (found != s.slots.end() && found->second.artifact) return found->second.artifact;
  }
  return nullptr;
}

bool keep_artifact(std::uint32_t entry, std::shared_ptr<const ArtifactData> artifact) {
  Store& s = store();
  const std::lock_guard lock(s.mutex);
  Slot& slot = s.slots[{entry, artifact->target}];
  if (slot.artifact) return false;
  slot.artifact = std::move(artifact);
  s.artifacts.fetch_add(1, std::memory_order_release);
  return true;
}

Result<Artifact> find_artifact(std::uint32_t entry, const CompileOptions& options) {
  const int target = options.target == 0 ? default_device_model().cc : options.target;
  if (!options.force) {
    if (Data precompiled = precompiled_artifact(entry, target)) return Artifact(std::move(precompiled));
    load_environment_packs();
  }
  Store& s = store();
  std::unique_lock lock(s.mutex);
  Slot& slot = s.slots[{entry, target}];  // stays where it is: nothing is taken out
  s.made.wait(lock, [&] { return !slot.being_made; });
  if (slot.artifact && !options.force) return Artifact(slot.artifact);
  slot.being_made = true;
  lock.unlock();
  Result<Data> made = make_or_say(entry, target, options);
  lock.lock();
  slot.being_made = false;
  if (made && !slot.artifact) s.artifacts.fetch_add(1, std::memory_order_release);
  if (made && (options.force || !slot.artifact)) slot.artifact = *made;
  s.made.notify_all();
  if (!made) return made.status();
  return Artifact(*std::move(made));
}

std::size_t compilations() { return store().compilations.load(std::memory_order_relaxed); }

}  // namespace quarry::detail
