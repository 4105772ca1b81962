/// The warp's products of bytes (PTX ISA, mma.m16n8k32 of .s8 and .u8, with .satfinite).
#include <algorithm>
#include <cstring>
#include <limits>

#include "emulator/block.hpp"
#include "emulator/device.hpp"
#include "emulator/matrix.hpp"

namespace quarry::emulator {
namespace {

constexpr std::size_t m = 16;
constexpr std::size_t n = 8;
constexpr std::size_t k = 32;

/// Byte i of a word, the first one in its lowest bits.
template <class Byte>
int byte_of(std::uint32_t word, std::size_t i) {
  return static_cast<Byte>(word >> 8 * i);
}

int saturated(std::int64_t sum) {
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(std::clamp<std::int64_t>(sum, Limits::min(), Limits::max()));
}

/// Lane l holds columns 4 (l % 4) to 4 (l % 4) + 3 of rows l / 4 and l / 4 + 8 of A, then the same 16 columns
/// further on; and those rows of column l / 4 of B. Sums as for m16n8k16.
template <class A, class B>
void complete(Warp& warp) {
  ++current->block->count().matrix_multiplies;
  int a[m][k];
  int b[k][n];
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const auto& in = warp.in[lane];
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t first = lane % 4 * 4;
      for (std::size_t word = 0; word < 4; ++word) {
        a[lane / 4 + word % 2 * 8][first + word / 2 * 16 + i] = byte_of<A>(in[word], i);
      }
      for (std::size_t word = 0; word < 2; ++word) {
        b[first + word * 16 + i][lane / 4] = byte_of<B>(in[4 + word], i);
      }
    }
  }
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = lane / 4 + i / 2 * 8;
      const std::size_t column = lane % 4 * 2 + i % 2;
      int product = 0;  // of 32 products, which cannot overflow
      for (std::size_t j = 0; j < k; ++j) product += a[row][j] * b[j][column];
      const auto sum = static_cast<std::int32_t>(warp.in[lane][6 + i]);
      warp.out[lane][i] = static_cast<std::uint32_t>(saturated(std::int64_t{sum} + product));
    }
  }
}

}  // namespace

void multiply_bytes(Bytes types, int (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                    const Site& site) {
  struct Meeting {
    Collective collective;
    void (*complete)(Warp&);
  };
  using S8 = std::int8_t;
  using U8 = std::uint8_t;
  static constexpr Meeting meetings[] = {{Collective::multiply_s8_s8, complete<S8, S8>},
                                         {Collective::multiply_s8_u8, complete<S8, U8>},
                                         {Collective::multiply_u8_s8, complete<U8, S8>},
                                         {Collective::multiply_u8_u8, complete<U8, U8>}};
  std::uint32_t words[4];
  std::memcpy(words, sum, sizeof words);
  hand_in(a, b, words, site);
  Thread& thread = *current;
  const Meeting& meeting = meetings[static_cast<std::size_t>(types)];
  thread.block->meet(thread, meeting.collective, site, meeting.complete);
  std::memcpy(sum, thread.block->warp_of(thread).out[thread.lane()].data(), sizeof sum);
}

}  // namespace quarry::emulator
