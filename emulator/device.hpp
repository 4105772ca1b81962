/// What a thread of a kernel can do: the functions that kernels/arch/emulated/ is made of. They act on the
/// thread that runs, check what it does, and do not return where that is a fault.
///
/// Addresses of shared memory are as in SharedMemory. `site` is the place of the kernel's source that a
/// report names.
#pragma once

#include <cstdint>

#include "emulator/site.hpp"

namespace quarry::emulator {

unsigned block_index();
unsigned grid_blocks();
int thread_index();
/// Met by the whole warp, as the instruction on the chip is.
int warp_index(const Site& site);

/// See shuffle and first_lane of the seam.
int shuffle(int value, int lane, const Site& site);
int first_lane(bool value, const Site& site);

/// First byte of the block's shared memory.
unsigned shared_base();
void shared_read(unsigned from, void* to, unsigned bytes, unsigned alignment, const Site& site);
/// From here on these bytes count as written before the launch, with nothing that means anything.
void shared_read_unwritten(unsigned first, unsigned bytes, const Site& site);
void shared_write(unsigned to, const void* from, unsigned bytes, unsigned alignment, const Site& site);
void global_read(const void* from, void* to, unsigned bytes, unsigned alignment, const Site& site);
void global_write(void* to, const void* from, unsigned bytes, unsigned alignment, const Site& site);

/// Starts a copy of `bytes` bytes, of which the first `valid` are read and the rest become zero.
void copy_async(unsigned to, const void* from, unsigned bytes, int valid, const Site& site);
void copy_async_commit();
/// Waits until at most `pending` of the thread's groups are under way.
void copy_async_wait(unsigned pending);

void block_barrier(const Site& site);
void named_barrier(int id, int threads, bool waits, const Site& site);
void warp_barrier(const Site& site);
/// See async_proxy_fence of the seam.
void async_proxy_fence(const Site& site);
int load_acquire(const int* from, const Site& site);
void store_release(int* to, int value, const Site& site);
int fetch_add(int* to, int value, const Site& site);

/// Four 8 x 8 matrices of 16-bit elements; see load_matrix_x4 of the seam.
void load_matrix(unsigned line, bool transposed, std::uint32_t (&fragment)[4], const Site& site);

/// Four or two such matrices to shared memory; see store_matrix_x4 of the seam.
void store_matrix(unsigned line, bool transposed, const std::uint32_t (&fragment)[4], const Site& site);
void store_matrix(unsigned line, bool transposed, const std::uint32_t (&fragment)[2], const Site& site);

/// The products of m16n8k16 by types of operands and sums.
void multiply_f16_f32(float (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                      const Site& site);
void multiply_bf16_f32(float (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                       const Site& site);
void multiply_f16_f16(std::uint32_t (&sum)[2], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                      const Site& site);

/// Those of m16n8k8.
void multiply_f16_f32_k8(float (&sum)[4], const std::uint32_t (&a)[2], std::uint32_t b, const Site& site);
void multiply_bf16_f32_k8(float (&sum)[4], const std::uint32_t (&a)[2], std::uint32_t b, const Site& site);
void multiply_f16_f16_k8(std::uint32_t (&sum)[2], const std::uint32_t (&a)[2], std::uint32_t b,
                         const Site& site);

/// The product of m16n8k32 by types of A and B.
enum class Bytes : std::uint8_t { s8_s8, s8_u8, u8_s8, u8_u8 };
void multiply_bytes(Bytes types, int (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                    const Site& site);

/// The product of m16n8k8 of f32 operands; for f64, of m8n8k4 for 16 rows, of m16n8k8 and of
/// m16n8k16.
void multiply_tf32_f32(float (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                       const Site& site);
void multiply_f64(double (&sum)[4], const double (&a)[2], double b, const Site& site);
void multiply_f64_k8(double (&sum)[4], const double (&a)[4], const double (&b)[2], const Site& site);
void multiply_f64_k16(double (&sum)[4], const double (&a)[8], const double (&b)[4], const Site& site);

}  // namespace quarry::emulator
