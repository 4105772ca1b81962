/// Threads of execution on stacks of their own, which hand control to each other by call.
#pragma once

#include <cstddef>
#include <vector>

namespace quarry::emulator {

/// Memory that a fiber runs on.
struct Stack {
  void* bottom = nullptr;
  std::size_t bytes = 0;
};

/// Stacks in memory of their own, each with an inaccessible page below it, so that one that overflows hits
/// nothing. Memory is taken when a stack is first used, and freed with the pool.
class StackPool {
 public:
  StackPool() = default;
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  /// Stack number `index`, made with those before it where it is new; its `bottom` is null when memory runs
  /// out.
  Stack at(std::size_t index);

 private:
  std::vector<Stack> stacks_;
};

/// A function that runs on a stack of its own, up to where it suspends. Switches are made by Boost.Context's
/// fcontext where the build found it and by POSIX ucontext elsewhere; AddressSanitizer is told of each.
///
/// A fiber may be given up at any suspension: what lies on its stack is not destroyed then. It stays where it
/// was made (not movable while it runs) and with the operating system's thread that started it.
class Fiber {
 public:
  using Function = void (*)(void* argument);

  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  /// Makes `function(argument)` ready to run, in place of what the fiber did before. The function must not
  /// return: it suspends for good.
  void start(const Stack& stack, Function function, void* argument);

  /// Runs the fiber until it suspends.
  void resume();

  /// From inside the fiber: returns to who resumed it, until it is resumed again.
  void suspend();

 private:
  static void enter(Fiber& fiber);

  Function function_ = nullptr;
  void* argument_ = nullptr;
  Stack stack_;
  void* context_ = nullptr;              // where this fiber goes on
  void* resumer_ = nullptr;              // where the resumer goes on
  const void* resumer_stack_ = nullptr;  // for AddressSanitizer
  std::size_t resumer_stack_bytes_ = 0;
  friend struct Switch;
};

}  // namespace quarry::emulator
