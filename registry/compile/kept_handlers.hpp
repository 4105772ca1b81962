/// The program's handlers of signals, while a library is at work that has its own.
#pragma once

namespace quarry::detail {

/// While one lives, SIGINT and SIGTERM go to the handlers that the program had before. NVRTC installs
/// handlers for the time of a compilation, which end the process with status 4 and without a word: an
/// interrupt would take the session of a user of Python with it. They are looked for twice a millisecond, and
/// replaced.
class KeptHandlers {
 public:
  /// @param function any function of that library
  explicit KeptHandlers(const void* function);
  ~KeptHandlers();
  KeptHandlers(const KeptHandlers&) = delete;
  KeptHandlers& operator=(const KeptHandlers&) = delete;
};

}  // namespace quarry::detail
