/// Memory that ends while a kernel is compiled: the call says so, and the next one, with memory again,
/// compiles the kernel. Nobody waits for the call that failed.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <new>

#include "quarry/quarry.hpp"

namespace {

using namespace quarry;

/// Whether allocations of the size of machine code fail.
std::atomic<bool> is_short = false;

constexpr CompileOptions options = {.target = 80, .use_disk_cache = false, .force = true};

/// Prints what does not hold. @return the exit code
int failed(const char* what, const Status& status) {
  std::printf("%s: %s\n", what, status.message().c_str());
  return 1;
}

int check(const Kernel& kernel) {
  is_short = true;
  const Kernel alone[] = {kernel};
  const Status first = kernel.compile(options).status();
  const Status among_others = compile(alone, options)[0].status();
  is_short = false;
  if (first.code() != StatusCode::device_error) return failed("without memory", first);
  if (among_others.code() != StatusCode::device_error) return failed("on a thread", among_others);
  auto again = std::async(std::launch::async, [&] { return kernel.compile(options).status(); });
  if (again.wait_for(std::chrono::minutes(2)) != std::future_status::ready) {
    std::puts("the next call waits for one that failed");
    std::fflush(stdout);
    std::_Exit(1);  // it would be waited for
  }
  const Status status = again.get();
  return status ? 0 : failed("with memory again", status);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (is_short && bytes > 4 << 10) throw std::bad_alloc();
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main() {
  if (const Status there = compiler_status(); !there) {
    std::printf("skipped, as there is no compiler: %s\n", there.message().c_str());
    return 4;
  }
  const auto kernels = get_kernels(*Filter::parse("family == elementwise and cc == 80"));
  if (kernels.empty()) return failed("no kernel", {});
  return check(kernels.front());
}
