/// How device functions and kernel entries are declared.
#pragma once

/// A function of device code. Always inlined: accumulators live in registers, which have no address to pass.
#define QUARRY_DEVICE __device__ __forceinline__

/// In front of a loop whose body must exist once for each iteration, as register arrays need.
#define QUARRY_UNROLL _Pragma("unroll")

/// In front of a loop whose body must exist once, to keep machine code small.
#define QUARRY_ROLLED _Pragma("unroll 1")

/// Defines the entry `name` that runs `kernel<config>` on one parameter struct. An instantiation unit is a
/// list of these.
#define QUARRY_ENTRY(name, Params, kernel, config)              \
  extern "C" __global__ void __launch_bounds__(threads(config)) \
      name(const __grid_constant__ Params params) {             \
    kernel<config>(params);                                     \
  }
