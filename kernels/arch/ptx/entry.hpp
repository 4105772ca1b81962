/// How device functions and kernel entries are declared.
#pragma once

/// A function of device code. Always inlined: accumulators live in registers, which have no address to pass.
#define QUARRY_DEVICE __device__ __forceinline__

/// A function of device code that is called. Its arguments are numbers: accumulators of the caller stay where
/// they are.
#define QUARRY_OUTLINED static __device__ __noinline__

/// In front of a loop whose body must exist once for each iteration, as register arrays need.
#define QUARRY_UNROLL _Pragma("unroll")

/// In front of a loop whose body must exist once, to keep machine code small.
#define QUARRY_ROLLED _Pragma("unroll 1")

namespace quarry::arch {

/// Blocks that a multiprocessor must hold at once, in __launch_bounds__: least_blocks of the config, where it
/// has such a function; 0 leaves it to the compiler.
template <class Config>
constexpr int least_blocks_of(const Config& config) {
  if constexpr (requires { least_blocks(config); }) {
    return least_blocks(config);
  } else {
    return 0;
  }
}

}  // namespace quarry::arch

/// Defines the entry `name` that runs `kernel<config>` on one parameter struct. An instantiation unit is a
/// list of these. Further arguments are template arguments that follow the config, such as an epilogue.
#define QUARRY_ENTRY(name, Params, kernel, config, ...)                                                \
  extern "C" __global__ void __launch_bounds__(threads(config), quarry::arch::least_blocks_of(config)) \
      name(const __grid_constant__ Params params) {                                                    \
    kernel<config __VA_OPT__(, ) __VA_ARGS__>(params);                                                 \
  }
