#include "emulator/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#ifdef QUARRY_BOOST_CONTEXT
#include <boost/context/detail/fcontext.hpp>
#else
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define QUARRY_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define QUARRY_FIBER_ASAN 1
#endif
#endif
#ifdef QUARRY_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace quarry::emulator {
namespace {

/// Kernels' frames are small: their arrays stand for registers. AddressSanitizer makes frames larger.
constexpr std::size_t stack_bytes = 256 * 1024;

// What AddressSanitizer must know of a switch: before it, where control goes; after it, that it has arrived.
// `fake` keeps the frames that it allocated beside the stack that control leaves.
#ifdef QUARRY_FIBER_ASAN
void before_switch(void** fake, const void* to_bottom, std::size_t to_bytes) {
  __sanitizer_start_switch_fiber(fake, to_bottom, to_bytes);
}
void after_switch(void* fake, const void** from_bottom, std::size_t* from_bytes) {
  __sanitizer_finish_switch_fiber(fake, from_bottom, from_bytes);
}
void forget_frames(const Stack& stack) { __asan_unpoison_memory_region(stack.bottom, stack.bytes); }
#else
void before_switch(void**, const void*, std::size_t) {}
void after_switch(void*, const void**, std::size_t*) {}
void forget_frames(const Stack&) {}
#endif

}  // namespace

StackPool::~StackPool() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (const Stack& stack : stacks_) {
    forget_frames(stack);
    munmap(static_cast<char*>(stack.bottom) - page, stack.bytes + page);
  }
}

Stack StackPool::at(std::size_t index) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  while (stacks_.size() <= index) {
    void* const memory = mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return {};
    if (mprotect(memory, page, PROT_NONE) != 0) {
      munmap(memory, stack_bytes + page);
      return {};
    }
    stacks_.push_back({static_cast<char*>(memory) + page, stack_bytes});
  }
  return stacks_[index];
}

/// The switch itself, which differs between the two libraries.
struct Switch {
#ifdef QUARRY_BOOST_CONTEXT
  using Transfer = boost::context::detail::transfer_t;

  static void entry(Transfer from) {
    Fiber& fiber = *static_cast<Fiber*>(from.data);
    fiber.resumer_ = from.fctx;
    Fiber::enter(fiber);
  }
  static void make(Fiber& fiber) {
    void* const top = static_cast<char*>(fiber.stack_.bottom) + fiber.stack_.bytes;
    fiber.context_ = boost::context::detail::make_fcontext(top, fiber.stack_.bytes, &entry);
  }
  static void into(Fiber& fiber) {
    fiber.context_ = boost::context::detail::jump_fcontext(fiber.context_, &fiber).fctx;
  }
  static void out_of(Fiber& fiber) {
    fiber.resumer_ = boost::context::detail::jump_fcontext(fiber.resumer_, nullptr).fctx;
  }
  static void destroy(Fiber&) {}
#else
  struct Contexts {
    ucontext_t own;
    ucontext_t resumer;
  };
  static Contexts& contexts(Fiber& fiber) { return *static_cast<Contexts*>(fiber.context_); }

  /// makecontext passes ints.
  static void entry(unsigned high, unsigned low) {
    const auto address = static_cast<std::uintptr_t>(high) << 32 | low;
    Fiber::enter(*reinterpret_cast<Fiber*>(address));
  }
  static void make(Fiber& fiber) {
    if (fiber.context_ == nullptr) fiber.context_ = new Contexts;
    ucontext_t& own = contexts(fiber).own;
    getcontext(&own);
    own.uc_stack.ss_sp = fiber.stack_.bottom;
    own.uc_stack.ss_size = fiber.stack_.bytes;
    own.uc_link = nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(&fiber);
    makecontext(&own, reinterpret_cast<void (*)()>(&entry), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
  }
  static void into(Fiber& fiber) { swapcontext(&contexts(fiber).resumer, &contexts(fiber).own); }
  static void out_of(Fiber& fiber) { swapcontext(&contexts(fiber).own, &contexts(fiber).resumer); }
  static void destroy(Fiber& fiber) { delete static_cast<Contexts*>(fiber.context_); }
#endif
};

Fiber::~Fiber() { Switch::destroy(*this); }

void Fiber::start(const Stack& stack, Function function, void* argument) {
  stack_ = stack;
  function_ = function;
  argument_ = argument;
  forget_frames(stack);  // a fiber that was given up left its own
  Switch::make(*this);
}

void Fiber::enter(Fiber& fiber) {
  after_switch(nullptr, &fiber.resumer_stack_, &fiber.resumer_stack_bytes_);
  fiber.function_(fiber.argument_);
  for (;;) fiber.suspend();
}

void Fiber::resume() {
  void* fake = nullptr;
  before_switch(&fake, stack_.bottom, stack_.bytes);
  Switch::into(*this);
  after_switch(fake, nullptr, nullptr);
}

void Fiber::suspend() {
  void* fake = nullptr;
  before_switch(&fake, resumer_stack_, resumer_stack_bytes_);
  Switch::out_of(*this);
  after_switch(fake, &resumer_stack_, &resumer_stack_bytes_);
}

}  // namespace quarry::emulator
