/// How device functions and kernel entries are declared; see arch/ptx/entry.hpp.
#pragma once

#include "emulator/entry.hpp"

#define QUARRY_DEVICE inline
#define QUARRY_OUTLINED static

/// Nothing needs a body of its own for each iteration here, and fewer compile faster.
#define QUARRY_UNROLL
#define QUARRY_ROLLED

/// Defines the entry `name`, an emulator::Entry that runs `kernel<config>` on one parameter struct. Further
/// arguments are template arguments that follow the config, such as an epilogue.
#define QUARRY_ENTRY(name, Params, kernel, config, ...)                                 \
  extern "C" const quarry::emulator::Entry name;                                        \
  const quarry::emulator::Entry name = {                                                \
      [](const void* params) {                                                          \
        kernel<config __VA_OPT__(, ) __VA_ARGS__>(*static_cast<const Params*>(params)); \
      },                                                                                \
      threads(config)};
