/// Accesses that go past the functions of the seam, to memory that is not there: the operating system's
/// signal becomes a fault of the kernel's thread.
#pragma once

namespace quarry::emulator {

/// While such an object lives, a thread of a kernel that touches inaccessible memory on this thread of the
/// host ends its block with a fault. Elsewhere the signal does what it did before.
class HardwareFaults {
 public:
  HardwareFaults();
  ~HardwareFaults();
  HardwareFaults(const HardwareFaults&) = delete;
  HardwareFaults& operator=(const HardwareFaults&) = delete;

 private:
  void* stack_;
};

}  // namespace quarry::emulator
