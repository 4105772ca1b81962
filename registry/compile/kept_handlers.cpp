#include "registry/compile/kept_handlers.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace quarry::detail {
namespace {

constexpr std::array signals = {SIGINT, SIGTERM};

/// Where the library is loaded that has this address; null: in none.
const void* library_of(const void* address) {
  Dl_info info = {};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

const void* handler_of(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<const void*>(action.sa_sigaction)
                                             : reinterpret_cast<const void*>(action.sa_handler);
}

/// The handlers of the program, and a thread that looks after them.
struct Watch {
  const void* library = nullptr;
  std::array<struct sigaction, signals.size()> before = {};
  std::atomic<bool> is_over = false;
  std::thread thread;

  void look() const {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      struct sigaction now = {};
      const void* const handler = sigaction(signals[i], nullptr, &now) == 0 ? handler_of(now) : nullptr;
      if (handler != nullptr && handler != handler_of(before[i]) && library_of(handler) == library)
        sigaction(signals[i], &before[i], nullptr);
    }
  }
  void run() const {
    while (!is_over.load(std::memory_order_relaxed)) {
      look();
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  }
};

/// Compilations share one watch: a later one would take the handlers of an earlier one for the program's.
struct Shared {
  std::mutex mutex;
  int users = 0;
  /// The process that the thread of `watch` is in: the child of a fork has none.
  pid_t process = 0;
  std::unique_ptr<Watch> watch;
};

/// Never destroyed: threads may compile while the process ends.
Shared& shared() {
  static Shared* const the = new Shared;
  return *the;
}

/// Without a thread, where none can be started, the library's handlers stay.
std::unique_ptr<Watch> start(const void* function) {
  auto watch = std::make_unique<Watch>();
  watch->library = library_of(function);
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], nullptr, &watch->before[i]);
  try {
    watch->thread = std::thread([one = watch.get()] { one->run(); });
  } catch (const std::system_error&) {
  }
  return watch;
}

}  // namespace

KeptHandlers::KeptHandlers(const void* function) {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  if (all.process != getpid()) {
    (void)all.watch.release();
    all.users = 0;
    all.process = getpid();
  }
  if (all.users++ == 0) all.watch = start(function);
}

KeptHandlers::~KeptHandlers() {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  if (--all.users > 0) return;
  all.watch->is_over = true;
  if (all.watch->thread.joinable()) all.watch->thread.join();
  all.watch.reset();
}

}  // namespace quarry::detail
