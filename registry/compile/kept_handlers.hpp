/// The program's handlers of signals, while a library is at work that would put its own in their place.
#pragma once

namespace quarry::detail {

/// While one lives, a library cannot change what SIGINT and SIGTERM do. NVRTC installs handlers for the time
/// of a compilation, which end the process with status 4 and without a word: an interrupt would take the
/// session of a user of Python with it. What the library calls as `signal` and `sigaction` is another
/// function meanwhile. Other signals, and calls by others, are not concerned.
class KeptHandlers {
 public:
  /// @param function any function of that library, which stays loaded
  explicit KeptHandlers(const void* function);
  ~KeptHandlers();
  KeptHandlers(const KeptHandlers&) = delete;
  KeptHandlers& operator=(const KeptHandlers&) = delete;
};

}  // namespace quarry::detail
