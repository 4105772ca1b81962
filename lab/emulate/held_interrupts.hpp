/// Interrupts that wait while there are files to be removed.
#pragma once

namespace quarry::lab::emulate {

/// While one of these lives, the first SIGINT or SIGTERM only makes has_come() true. It takes its effect when
/// the last one goes. A second signal takes it at once. Safe from any thread.
class HeldInterrupts {
 public:
  HeldInterrupts();
  ~HeldInterrupts();
  HeldInterrupts(const HeldInterrupts&) = delete;
  HeldInterrupts& operator=(const HeldInterrupts&) = delete;

  /// Whether work should end.
  bool has_come() const;
};

}  // namespace quarry::lab::emulate
