/// The properties of a device that the ranking uses. A plain value, so kernels can be ranked for a device
/// that this machine does not have.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "quarry/status.hpp"

namespace quarry {

/// Rates of the tensor cores through mma.sync, relative to DeviceModel::tensor_flops_per_clock (16-bit
/// operands) or, for f64, to DeviceModel::fma_f64_flops_per_clock.
struct MmaRates {
  double tf32 = 0.5;  ///< NVIDIA A100 and H100 white papers, as the next one
  double int8 = 2;
  /// f64 by m8n8k4. 0: by compute capability, 2 on 8.x (A100 white paper) and 1 from 9.0 on (measured, H200).
  double f64_m8n8k4 = 0;
  double f64_m16n8k16 = 2;  ///< measured, H200; m16n8k8 has the same rate; both need 9.0

  friend constexpr bool operator==(const MmaRates&, const MmaRates&) = default;
};

/// Rates of the tensor cores through wgmma (compute capability 9.0).
struct WgmmaRates {
  /// Operations a clock and multiprocessor, 16-bit operands. Fitted to an H200; the white paper says 4,096.
  double flops_per_clock = 3970;
  double tf32 = 0.5;  ///< relative to that, as the next one: H100 white paper
  double int8 = 2;    ///< fp8 has the same

  friend constexpr bool operator==(const WgmmaRates&, const WgmmaRates&) = default;
};

/// Copies to the shared memory of one multiprocessor, in clocks.
struct CopyRates {
  /// For each byte from L2 while all multiprocessors copy.
  double clocks_per_byte = 0;
  /// From the request to the arrival: for copies by threads, from device memory; for bulk copies, of a K tile
  /// from L2.
  double latency = 0;

  friend constexpr bool operator==(const CopyRates&, const CopyRates&) = default;
};

/// Rates and capacities of the memories.
struct MemoryRates {
  /// Loads and cp.async of threads: set by hand with the first kernels, not fitted since.
  CopyRates thread_copies = {1.0 / 40, 700};
  /// Bulk copies (TMA) of stages without bytes: fitted to 570 random problems on an H100 and an H200. The
  /// rest down to kept_operand_bytes: fitted to an H200.
  CopyRates bulk_copies = {0.0155, 1436};
  /// The share by which bulk_copies.latency is longer if a copy comes from device memory.
  double device_latency = 0.71;
  /// The share of bulk_copies.clocks_per_byte that remains while few other multiprocessors copy.
  double alone_share = 0.42;
  /// By how much clocks_per_byte grows if rows begin in the middle of L2 lines.
  double split_lines = 2.15;
  /// The same if L2 lines hold several rows that many tiles read: their requests meet there. 64 rows of 16
  /// bytes that 528 tiles of 64x128 share take 13.4 us on an H200, and 7.0 as rows of 128 bytes. Fitted to
  /// the choices for 1,039 problems on an H200.
  double crowded_lines = 8;
  /// Bytes of an operand that stay in L2 while the other operand passes through it: about half of the L2 of
  /// an H200.
  double kept_operand_bytes = 24e6;
  /// Bytes of shared memory a clock: 32 banks of 4 bytes (CUDA C++ programming guide).
  double shared_bytes_per_clock = 128;
  /// How many times faster than device memory partial sums are written and read, because most of them stay in
  /// L2. Set by hand with the first split-K kernels.
  double partial_sums_speedup = 1.5;
  /// What a copy to another layout reaches of DeviceModel::memory_bandwidth, bytes read and written. Measured
  /// on an H100, less LaunchCosts::copy: 25.7 MB 12.5 to 13.1 us, 102.8 MB 40.5, 268 MB 100.4, so 2.76e12
  /// bytes a second of 3.0e12.
  double copy_share = 0.92;

  friend constexpr bool operator==(const MemoryRates&, const MemoryRates&) = default;
};

/// What launches cost, in seconds.
struct LaunchCosts {
  /// From the launch of an empty kernel to its end, and for each further operation on the stream: set by hand
  /// with the first kernels.
  double first = 2.5e-6;
  double next = 1.8e-6;
  /// With overlapping launches (programmatic dependent launch): the time between two launches in addition to
  /// their work, and the time of the reduction that follows. Fitted to an H200; the reduction and
  /// cluster_turn again, to the choices for 1,127 problems, 2026-12-01.
  double overlapped = 1.7e-6;
  double overlapped_reduction = 8e-6;
  /// From the end of one kernel to the first results of the next one: the least time of a reduction alone.
  /// Set by hand.
  double reduction = 3e-6;
  /// A copy to another layout (reorder_matrix), in addition to what its bytes take at
  /// MemoryRates::copy_share: alone, and as a further step of a launch. Measured on an H100: of 4 KB, which
  /// move in no time, alone 3.2 to 3.3 us; three of them as steps around a convolution 9.5 to 10.0 us.
  double copy = 3.3e-6;

  friend constexpr bool operator==(const LaunchCosts&, const LaunchCosts&) = default;
};

/// The cost of exchanging partial sums of a tile between blocks, in clocks, in addition to the traffic.
struct ExchangeCosts {
  /// To hand a tile of split_k_serial or stream_k to the next block. Set by hand with the first kernels.
  double turn = 1500;
  /// In a cluster, fitted to an H200: for synchronising the slices before and after, for each slice beyond
  /// the first, and for each round in which every thread reads four sums from every block.
  double cluster_turn = 1750;
  double cluster_slice = 20;
  double cluster_round = 870;

  friend constexpr bool operator==(const ExchangeCosts&, const ExchangeCosts&) = default;
};

/// By how much the parts of measured times are longer than what the model adds up from rates (see TimePart).
/// `exchange` is that between the blocks of a launch, `reduction` that by a launch of its own
/// (split_k_parallel).
struct TimeFactors {
  double launch = 1;
  double memory = 1;
  double math = 1;
  double copies = 1;
  double latency = 1;
  double ends = 1;
  double epilogue = 1;
  double exchange = 1;
  double reduction = 1;

  friend constexpr bool operator==(const TimeFactors&, const TimeFactors&) = default;
};

/// The factors of kernels that multiply matrices, by what multiplies: FMA instructions, mma.sync, or wgmma.
/// Fitted by tools/calibrate.py; 1: nothing was measured.
struct Calibration {
  TimeFactors simt = {};
  TimeFactors mma = {};
  TimeFactors wgmma = {};

  friend constexpr bool operator==(const Calibration&, const Calibration&) = default;
};

/// Rates and costs of a device by unit. The built-in models use the defaults, so a model made by hand may
/// keep them. "Fitted to an H200" means: about 300 kernels and orders of tiles on each of 39 bf16 problems.
/// The fitted numbers are valid only together, and together with the constants of
/// kernels/gemm_sm90/estimate.cpp.
struct DeviceRates {
  MmaRates mma = {};
  WgmmaRates wgmma = {};
  /// Operations a clock and multiprocessor of dp4a: 64 instructions of four products and their sum (CUDA C++
  /// programming guide, throughput of arithmetic instructions).
  double dp4a_ops_per_clock = 2.0 * 4 * 64;
  MemoryRates memory = {};
  LaunchCosts launch = {};
  ExchangeCosts exchange = {};
  Calibration calibration = {};

  friend constexpr bool operator==(const DeviceRates&, const DeviceRates&) = default;
};

struct DeviceModel {
  /// Short name: "a100", "h100", "h200", or the driver's name of a real device (at most 63 bytes).
  char name[64] = {};
  /// Compute capability as 80 or 90.
  int cc = 0;
  int multiprocessors = 0;
  /// Bytes of shared memory that one block may have, and that one multiprocessor has for all its blocks.
  int shared_memory_per_block = 0;
  int shared_memory_per_multiprocessor = 0;
  int registers_per_multiprocessor = 65536;
  int threads_per_multiprocessor = 2048;
  std::int64_t l2_bytes = 0;
  /// Bytes a second from device memory, as measured or as the data sheet says.
  double memory_bandwidth = 0;
  /// Clock under load, in Hz.
  double clock = 0;
  /// Floating-point operations a clock and multiprocessor: f16 and bf16 through mma.sync, f32 and f64 FMA.
  double tensor_flops_per_clock = 0;
  double fma_f32_flops_per_clock = 0;
  double fma_f64_flops_per_clock = 0;
  /// Blocks that a multiprocessor holds at once, and registers that a thread can have (CUDA C++ programming
  /// guide, compute capabilities 8.0 and 9.0).
  int blocks_per_multiprocessor = 32;
  int registers_per_thread = 255;
  /// Bytes of shared memory that the driver takes from each block (CUDA C++ programming guide, from 8.0 on).
  int reserved_shared_memory = 1024;
  DeviceRates rates = {};

  friend constexpr bool operator==(const DeviceModel&, const DeviceModel&) = default;
};

/// Whether kernels can be ranked by a model: sizes are above 0, rates and costs from 1e-20 to 1e20. At most
/// 4096 multiprocessors have at least 16,384 registers each, and room for a block of 1,024 threads; at most
/// 2^24 registers, 2^16 threads and 2^28 bytes of shared memory, of which the driver takes no more than there
/// are.
bool is_complete(const DeviceModel& model);

/// What the calibration of a model was fitted to (DeviceRates::calibration).
struct CalibrationSource {
  /// The measured device, as the driver calls it: "NVIDIA H200". Empty for factors that no measurement gave.
  std::string_view device = {};
  /// Whether it is a device of the model's kind, so that its predictions were compared with measured times.
  bool is_own = false;
  /// Whether it has the model's compute capability. If not, nothing like the model's device was measured.
  bool is_same_architecture = false;
};
CalibrationSource calibration_source(const DeviceModel& model);

/// The built-in models: A100, H100 and H200 in their SXM form.
std::span<const DeviceModel> device_models();

/// A built-in model by name. Fails with not_found and the existing names.
Result<DeviceModel> find_device_model(std::string_view name);

/// The model of CUDA device `device` of this machine. Fails with no_device if there is no such device or no
/// driver.
Result<DeviceModel> device_model(int device);

/// The default model: CUDA device 0 if there is one, otherwise the H200.
const DeviceModel& default_device_model();

}  // namespace quarry
