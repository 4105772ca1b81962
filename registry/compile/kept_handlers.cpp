#include "registry/compile/kept_handlers.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

#include "registry/compile/imported_function.hpp"

namespace quarry::detail {
namespace {

using Handler = void (*)(int);

constexpr bool is_kept(int signal) { return signal == SIGINT || signal == SIGTERM; }

/// What the library calls as `sigaction`.
int kept_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  return sigaction(signal, is_kept(signal) ? nullptr : action, before);
}

/// What the library calls as `signal`.
Handler kept_signal(int signal, Handler handler) {
  if (!is_kept(signal)) return std::signal(signal, handler);
  struct sigaction now = {};
  return sigaction(signal, nullptr, &now) == 0 ? now.sa_handler : SIG_ERR;
}

/// A function that the library calls, and the one in its place.
struct Import {
  void** place = nullptr;  ///< null: not imported
  void* original = nullptr;
  void* ours = nullptr;

  void put(void* function) const {
    if (place != nullptr) std::atomic_ref(*place).store(function, std::memory_order_relaxed);
  }
};

Import import_of(const void* function, std::string_view name, void* ours) {
  void** const place = imported_function(function, name);
  return {.place = place, .original = place == nullptr ? nullptr : *place, .ours = ours};
}

/// Compilations at the same time share it.
struct Shared {
  std::mutex mutex;
  int users = 0;
  /// The child of a fork has no users; its imports may be ours still.
  pid_t process = 0;
  std::array<Import, 2> imports = {};
};

/// Never destroyed: threads may compile while the process ends.
Shared& shared() {
  static Shared* const the = new Shared;
  return *the;
}

std::array<Import, 2> imports_of(const void* function) {
  return {import_of(function, "sigaction", reinterpret_cast<void*>(&kept_sigaction)),
          import_of(function, "signal", reinterpret_cast<void*>(&kept_signal))};
}

}  // namespace

KeptHandlers::KeptHandlers(const void* function) {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  if (all.process == 0) all.imports = imports_of(function);
  if (all.process != getpid()) {
    all.users = 0;
    all.process = getpid();
  }
  if (all.users++ > 0) return;
  for (const Import& import : all.imports) import.put(import.ours);
}

KeptHandlers::~KeptHandlers() {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  if (--all.users > 0) return;
  for (const Import& import : all.imports) import.put(import.original);
}

}  // namespace quarry::detail
