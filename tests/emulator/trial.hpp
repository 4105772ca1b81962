/// Small kernels on the emulator: some right, some wrong on purpose, and what must be said of those.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "arch/sm90.hpp"
#include "emulator/launch.hpp"

namespace quarry::test {

/// What the small kernels work on. Between these arrays, before the first and behind the last lie 256 bytes
/// that no kernel may touch.
struct Operands {
  static constexpr int numbers = 1024;
  static constexpr int counter_count = 16;

  const int* in;  ///< `numbers` of them, input(i) each
  int* out;       ///< as many, never written
  int* counters;  ///< `counter_count`, 0 each
  int argument;   ///< whatever a test wants to tell
};

/// What `in` holds.
constexpr int input(int i) { return 3 * i + 7; }

using Kernel = void (*)(const Operands&);

/// How a kernel is launched.
struct Setup {
  unsigned grid = 1;
  unsigned threads = 64;
  unsigned shared_memory = 1024;
  bool blocks_wait = false;
  int argument = 0;
  emulator::MemoryChecks checks = {};
  int host_threads = 1;
  unsigned cluster = 1;
  bool dependent = false;
};

/// How it went.
struct Trial {
  emulator::Outcome outcome;
  std::vector<int> out;
};

/// Runs a kernel once.
Trial run_once(Kernel kernel, const Setup& setup, std::uint64_t seed = 0,
               emulator::CopyTiming copies = emulator::CopyTiming::late);

/// Remembers the line below the one that calls this as the place `name`, for `caught`.
void mark(const char* name, const emulator::Site& site = emulator::Site::current());

/// The text by which a fault names the place that the kernel marked `name`: file and line.
std::string place(const std::string& name);

/// A map of numbers of an operand: `extent` of them along each extent, dense.
TensorMap map_of(const int* data, std::array<unsigned, 3> extent, std::array<unsigned, 3> box,
                 TensorSwizzle swizzle = TensorSwizzle::none);

/// A map as the emulator reads it.
TensorMap map_of(const TensorMapFields& fields);

/// Requires that the kernel is found out with every seed tried and every timing of copies, by a fault that
/// has a thread and all of `words` in it; "@name" stands for the place marked `name`.
void caught(Kernel kernel, const Setup& setup, const std::vector<std::string>& words);

/// Requires that the kernel passes with many seeds and every timing of copies, and leaves `out` as expected
/// there where `expected` says something.
void fine(Kernel kernel, const Setup& setup, const std::vector<int>& expected = {});

}  // namespace quarry::test
