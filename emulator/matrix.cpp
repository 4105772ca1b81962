/// The warp's matrix functions: fragments are spread over lanes as the PTX ISA says (mma.m16n8k16, ldmatrix).
#include <cstring>

#include "basic/numbers.hpp"
#include "emulator/block.hpp"
#include "emulator/device.hpp"
#include "emulator/matrix.hpp"
#include "emulator/patterns.hpp"

namespace quarry::emulator {
namespace {

constexpr int m = 16;
constexpr int n = 8;
constexpr int k = 16;

/// Where the operands of a multiplication lie among what lanes hand in.
constexpr std::size_t words_a = 4;
constexpr std::size_t words_b = 2;

std::uint16_t half_of(std::uint32_t word, int part) { return static_cast<std::uint16_t>(word >> 16 * part); }

float value_of(std::uint16_t bits, bool bf16) {
  return bf16 ? host::bf16_to_f32(bits) : host::f16_to_f32(bits);
}

/// The operands of a warp as matrices. Lane l holds rows l / 4 and l / 4 + 8 of A, column l / 4 of B, and of
/// both the pairs of K from 2 (l % 4) and from 2 (l % 4) + 8 on.
void gather(const Warp& warp, bool bf16, float (&a)[m][k], float (&b)[k][n]) {
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::size_t group = lane / 4;
    const std::size_t pair = lane % 4 * 2;
    for (std::size_t word = 0; word < words_a; ++word) {
      for (int part = 0; part < 2; ++part) {
        const std::size_t column = pair + word / 2 * 8 + static_cast<std::size_t>(part);
        a[group + word % 2 * 8][column] = value_of(half_of(warp.in[lane][word], part), bf16);
      }
    }
    for (std::size_t word = 0; word < words_b; ++word) {
      for (int part = 0; part < 2; ++part) {
        const std::size_t row = pair + word * 8 + static_cast<std::size_t>(part);
        b[row][group] = value_of(half_of(warp.in[lane][words_a + word], part), bf16);
      }
    }
  }
}

/// The products of a warp, each output's summed in order of K.
void multiply(const float (&a)[m][k], const float (&b)[k][n], float (&products)[m][n]) {
  for (int row = 0; row < m; ++row) {
    float sums[n] = {};
    for (int i = 0; i < k; ++i) {
      for (int column = 0; column < n; ++column) sums[column] += a[row][i] * b[i][column];
    }
    std::memcpy(products[row], sums, sizeof sums);
  }
}

/// Sums of lane l: columns 2 (l % 4) and 2 (l % 4) + 1 of row l / 4, then of row l / 4 + 8.
float product_of(const float (&products)[m][n], std::size_t lane, std::size_t i) {
  return products[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
}

void complete_f32(Warp& warp, bool bf16) {
  float a[m][k];
  float b[k][n];
  float products[m][n];
  gather(warp, bf16, a, b);
  multiply(a, b, products);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) {
      const float sum = std::bit_cast<float>(warp.in[lane][words_a + words_b + i]);
      warp.out[lane][i] = std::bit_cast<std::uint32_t>(sum + product_of(products, lane, i));
    }
  }
}

void complete_f16(Warp& warp) {
  float a[m][k];
  float b[k][n];
  float products[m][n];
  gather(warp, false, a, b);
  multiply(a, b, products);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t word = 0; word < 2; ++word) {
      const std::uint32_t pair = warp.in[lane][words_a + words_b + word];
      std::uint32_t result = 0;
      for (int part = 0; part < 2; ++part) {
        const float sum = host::f16_to_f32(half_of(pair, part));
        const float total = sum + product_of(products, lane, word * 2 + static_cast<std::size_t>(part));
        result |= static_cast<std::uint32_t>(host::f32_to_f16(total)) << 16 * part;
      }
      warp.out[lane][word] = result;
    }
  }
}

void multiply_f32(Collective collective, float (&sum)[4], const std::uint32_t (&a)[4],
                  const std::uint32_t (&b)[2], void (*complete)(Warp&), const Site& site) {
  std::uint32_t words[4];
  std::memcpy(words, sum, sizeof words);
  hand_in(a, b, words, site);
  Thread& thread = *current;
  thread.block->meet(thread, collective, site, complete);
  std::memcpy(sum, thread.block->warp_of(thread).out[thread.lane()].data(), sizeof sum);
}

void complete_load(Warp& warp, bool transposed) {
  // Each lane has put its line of 8 elements into four words.
  std::uint16_t lines[32][8];
  for (std::size_t lane = 0; lane < 32; ++lane) std::memcpy(lines[lane], warp.in[lane].data(), 16);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t matrix = 0; matrix < 4; ++matrix) {
      const std::size_t across = lane / 4;
      const std::size_t pair = lane % 4 * 2;
      const auto* const first = lines[matrix * 8];
      const auto element = [&](std::size_t i) -> std::uint32_t {
        return transposed ? first[(pair + i) * 8 + across] : first[across * 8 + pair + i];
      };
      warp.out[lane][matrix] = element(0) | element(1) << 16;
    }
  }
}

/// Puts the 8 elements of each line of `matrices` matrices, spread over lanes, into four words of the lane
/// that names the line.
void complete_store(Warp& warp, std::size_t matrices, bool transposed) {
  std::uint16_t lines[32][8];
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t matrix = 0; matrix < matrices; ++matrix) {
      auto* const first = lines[matrix * 8];
      for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t across = lane / 4;
        const std::size_t along = lane % 4 * 2 + i;
        first[transposed ? along * 8 + across : across * 8 + along] =
            half_of(warp.in[lane][matrix], static_cast<int>(i));
      }
    }
  }
  for (std::size_t lane = 0; lane < matrices * 8; ++lane) std::memcpy(warp.out[lane].data(), lines[lane], 16);
}

template <std::size_t matrices>
void store_matrices(unsigned line, bool transposed, const std::uint32_t (&fragment)[matrices],
                    const Site& site) {
  constexpr unsigned line_bytes = 16;
  constexpr bool four = matrices == 4;
  Thread& thread = *current;
  Warp& warp = thread.block->warp_of(thread);
  std::memcpy(warp.in[thread.lane()].data(), fragment, sizeof fragment);
  if (transposed) {
    thread.block->meet(thread, four ? Collective::store_4_transposed : Collective::store_2_transposed, site,
                       [](Warp& all) { complete_store(all, matrices, true); });
  } else {
    thread.block->meet(thread, four ? Collective::store_4 : Collective::store_2, site,
                       [](Warp& all) { complete_store(all, matrices, false); });
  }
  if (thread.lane() >= matrices * 8) return;
  std::uint32_t words[4];
  std::memcpy(words, warp.out[thread.lane()].data(), sizeof words);
  shared_write_by(MemoryInstruction::matrix_store, line, words, line_bytes, line_bytes, site);
}

}  // namespace

void hand_in(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
             std::span<const std::uint32_t> sum, const Site& site) {
  Thread& thread = *current;
  std::uint32_t* word = thread.block->warp_of(thread).in[thread.lane()].data();
  const auto take = [&](std::span<const std::uint32_t> words, const char* name) {
    for (const std::uint32_t value : words) {
      *word++ = value;
      if (value != never_set) continue;
      thread.block->fail(thread, [&] {
        return thread_text(thread.index, thread.block->index()) + " multiplies a fragment of " + name +
               " that was never set, at " + text_of(site);
      });
    }
  };
  take(a, "A");
  take(b, "B");
  take(sum, "the sums");
}

void store_matrix(unsigned line, bool transposed, const std::uint32_t (&fragment)[4], const Site& site) {
  store_matrices(line, transposed, fragment, site);
}

void store_matrix(unsigned line, bool transposed, const std::uint32_t (&fragment)[2], const Site& site) {
  store_matrices(line, transposed, fragment, site);
}

void load_matrix(unsigned line, bool transposed, std::uint32_t (&fragment)[4], const Site& site) {
  constexpr unsigned line_bytes = 16;
  Thread& thread = *current;
  Warp& warp = thread.block->warp_of(thread);
  // Bytes are looked at when the lane arrives: later, it could not be said who was at fault.
  std::uint32_t words[4];
  shared_read_by(MemoryInstruction::matrix_load, line, words, line_bytes, line_bytes, site);
  std::memcpy(warp.in[thread.lane()].data(), words, sizeof words);
  if (transposed) {
    thread.block->meet(thread, Collective::load_matrix_transposed, site,
                       [](Warp& all) { complete_load(all, true); });
  } else {
    thread.block->meet(thread, Collective::load_matrix, site, [](Warp& all) { complete_load(all, false); });
  }
  std::memcpy(fragment, warp.out[thread.lane()].data(), sizeof fragment);
}

namespace {

void complete_f16_f32(Warp& warp) {
  ++current->block->count().matrix_multiplies;
  complete_f32(warp, false);
}

void complete_bf16_f32(Warp& warp) {
  ++current->block->count().matrix_multiplies;
  complete_f32(warp, true);
}

void multiply_f16(Collective collective, std::uint32_t (&sum)[2], const std::uint32_t (&a)[4],
                  const std::uint32_t (&b)[2], const Site& site) {
  hand_in(a, b, sum, site);
  Thread& thread = *current;
  thread.block->meet(thread, collective, site, [](Warp& warp) {
    ++current->block->count().matrix_multiplies;
    complete_f16(warp);
  });
  std::memcpy(sum, thread.block->warp_of(thread).out[thread.lane()].data(), sizeof sum);
}

}  // namespace

void multiply_f16_f32(float (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                      const Site& site) {
  multiply_f32(Collective::multiply_f16_f32, sum, a, b, complete_f16_f32, site);
}

void multiply_bf16_f32(float (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                       const Site& site) {
  multiply_f32(Collective::multiply_bf16_f32, sum, a, b, complete_bf16_f32, site);
}

void multiply_f16_f16(std::uint32_t (&sum)[2], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                      const Site& site) {
  multiply_f16(Collective::multiply_f16_f16, sum, a, b, site);
}

// What m16n8k8 multiplies is the first half of the K of m16n8k16: with zeros in the other, they are the same.

void multiply_f16_f32_k8(float (&sum)[4], const std::uint32_t (&a)[2], std::uint32_t b, const Site& site) {
  multiply_f32(Collective::multiply_f16_f32_k8, sum, {a[0], a[1], 0, 0}, {b, 0}, complete_f16_f32, site);
}

void multiply_bf16_f32_k8(float (&sum)[4], const std::uint32_t (&a)[2], std::uint32_t b, const Site& site) {
  multiply_f32(Collective::multiply_bf16_f32_k8, sum, {a[0], a[1], 0, 0}, {b, 0}, complete_bf16_f32, site);
}

void multiply_f16_f16_k8(std::uint32_t (&sum)[2], const std::uint32_t (&a)[2], std::uint32_t b,
                         const Site& site) {
  multiply_f16(Collective::multiply_f16_f16_k8, sum, {a[0], a[1], 0, 0}, {b, 0}, site);
}

}  // namespace quarry::emulator
