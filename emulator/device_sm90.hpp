/// What a thread of a kernel can do besides device.hpp on compute capability 9.0: clusters, mbarriers, bulk
/// tensor copies, kernels that overlap. As there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/site.hpp"

namespace quarry::emulator {

unsigned cluster_rank();
unsigned cluster_blocks();
unsigned cluster_index();
unsigned grid_clusters();
void cluster_arrive(const Site& site);
/// Hands on only which mbarriers there are (mbarrier_init_fence).
void cluster_arrive_relaxed(const Site& site);
void cluster_wait(const Site& site);
/// Reads shared memory of the cluster's block `rank`.
void peer_read(unsigned from, int rank, void* to, unsigned bytes, unsigned alignment, const Site& site);

void mbarrier_init(unsigned barrier, int arrivals, const Site& site);
void mbarrier_init_fence(const Site& site);
void mbarrier_arrive(unsigned barrier, const Site& site);
void mbarrier_arrive_expect(unsigned barrier, int bytes, const Site& site);
/// The copies that the thread has under way land now: one of the orders that the device may choose.
void mbarrier_arrive_copied(unsigned barrier, const Site& site);
void mbarrier_arrive_at(unsigned barrier, int rank, const Site& site);
void mbarrier_wait(unsigned barrier, int parity, const Site& site);

/// What a tensor map says, without types: extents innermost first.
struct Tensor {
  const std::byte* data;
  unsigned element_bytes;
  /// Whether loads round elements of four bytes to tf32.
  bool rounds_to_tf32;
  /// Bits 4 and up of an address are XORed with so many bits from bit 7 on: 0 to 3.
  unsigned swizzle_bits;
  /// The last extent and stride are of images.
  std::uint64_t extent[4];
  std::uint64_t stride[3];  ///< bytes
  unsigned box[3];
  /// How copies walk over images, columns and rows: quarry::PixelWalk. A step of 0: they do not.
  int lower[2];
  int upper[2];
  unsigned step[2];

  bool walks() const { return step[0] != 0; }
};

/// Where a box begins: elements along each extent; for pixels the distance to those that are brought.
struct BoxPlace {
  int at[4];
  int on[2] = {};
};

/// Lets this thread copy by a tensor map that a kernel may have written.
void acquire_tensor_map(const void* map);
/// Checks that it has, where the map lies in memory that the launch may write: the copy engine may know an
/// earlier map of that place (PTX ISA, fence.proxy.tensormap).
void check_tensor_map(const void* map, const Site& site);

/// Loads to the blocks of the cluster whose bits are set in `blocks`.
void tensor_load(unsigned to, const Tensor& tensor, const BoxPlace& place, unsigned barrier, unsigned blocks,
                 const Site& site);
/// The same of pixels, over images.
void tensor_load_pixels(unsigned to, const Tensor& tensor, const BoxPlace& place, unsigned barrier,
                        unsigned blocks, const Site& site);
void tensor_store(const Tensor& tensor, const BoxPlace& place, unsigned from, const Site& site);
void tensor_store_commit();
/// Waits until at most `pending` of the thread's groups of stores still read shared memory.
void tensor_store_wait_read(unsigned pending);

void wait_for_earlier_kernels();

}  // namespace quarry::emulator
