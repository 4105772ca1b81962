#include "emulator/hardware_fault.hpp"

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <mutex>

#include "emulator/block.hpp"

namespace quarry::emulator {
namespace {

constexpr std::size_t signal_stack_bytes = 64 * 1024;

struct sigaction previous[2];
constexpr int signals[2] = {SIGSEGV, SIGBUS};

thread_local const void* touched = nullptr;
thread_local stack_t stack_before;

/// Where a thread of a kernel goes on after the signal: on its own stack, like a function that it called.
[[noreturn]] void end_block() {
  char address[32];
  std::snprintf(address, sizeof address, "%p", touched);
  Thread& thread = *current;
  thread.block->fail(thread, [&] {
    return thread_text(thread.index, thread.block->index()) + " touches memory at " + address +
           " that does not exist, past the functions of the seam";
  });
}

/// Makes the interrupted thread call `function` with an aligned stack, below what it may use under its stack
/// pointer. False where this machine's registers are not known.
bool call_instead(ucontext_t& context, void (*function)()) {
#if defined(__x86_64__)
  const auto stack = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]) - 256;
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>((stack & ~std::uintptr_t{15}) - 8);
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(function));
  return true;
#elif defined(__aarch64__)
  context.uc_mcontext.sp = (context.uc_mcontext.sp - 256) & ~std::uint64_t{15};
  context.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(function);
  return true;
#else
  (void)context, (void)function;
  return false;
#endif
}

void handle(int signal, siginfo_t* info, void* context) {
  if (current != nullptr && call_instead(*static_cast<ucontext_t*>(context), &end_block)) {
    touched = info->si_addr;
    return;
  }
  // Not a kernel's: the instruction is run again, and the signal does what it did before.
  sigaction(signal, &previous[signal == SIGSEGV ? 0 : 1], nullptr);
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = &handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int i = 0; i < 2; ++i) sigaction(signals[i], &action, &previous[i]);
  });
}

}  // namespace

HardwareFaults::HardwareFaults() : stack_(malloc(signal_stack_bytes)) {
  if (stack_ == nullptr) return;
  stack_t stack = {};
  stack.ss_sp = stack_;
  stack.ss_size = signal_stack_bytes;
  sigaltstack(&stack, &stack_before);
  install();
}

HardwareFaults::~HardwareFaults() {
  if (stack_ != nullptr) sigaltstack(&stack_before, nullptr);
  free(stack_);
}

}  // namespace quarry::emulator
