/// The warp's products of 32- and 64-bit elements (PTX ISA, mma.m16n8k8 of .tf32; mma.m8n8k4, m16n8k8 and
/// m16n8k16 of .f64).
#include <bit>
#include <cmath>
#include <cstring>

#include "emulator/block.hpp"
#include "emulator/device.hpp"
#include "emulator/matrix.hpp"

namespace quarry::emulator {
namespace {

constexpr std::size_t n = 8;

/// A word as the matrix unit reads it: the lower 13 bits do not count.
float tf32_of(std::uint32_t word) { return std::bit_cast<float>(word & ~0x1fffU); }

/// Lane l holds column l % 4 of rows l / 4 and l / 4 + 8 of A, then column l % 4 + 4 of both; and rows l % 4
/// and l % 4 + 4 of column l / 4 of B. Sums as for m16n8k16.
void complete_tf32(Warp& warp) {
  constexpr std::size_t k = 8;
  float a[16][k];
  float b[k][n];
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const auto& in = warp.in[lane];
    for (std::size_t i = 0; i < 4; ++i) a[lane / 4 + i % 2 * 8][lane % 4 + i / 2 * 4] = tf32_of(in[i]);
    for (std::size_t i = 0; i < 2; ++i) b[lane % 4 + i * 4][lane / 4] = tf32_of(in[4 + i]);
  }
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = lane / 4 + i / 2 * 8;
      const std::size_t column = lane % 4 * 2 + i % 2;
      float product = 0;
      for (std::size_t j = 0; j < k; ++j) product += a[row][j] * b[j][column];
      warp.out[lane][i] = std::bit_cast<std::uint32_t>(std::bit_cast<float>(warp.in[lane][6 + i]) + product);
    }
  }
}

double f64_of(const std::uint32_t* words) {
  double value;
  std::memcpy(&value, words, sizeof value);
  return value;
}

/// Lane l holds column l % 4 of rows l / 4 and l / 4 + 8 of A, and row l % 4 of column l / 4 of B; of K,
/// `steps` times four, one after another.
template <std::size_t steps>
void complete_f64(Warp& warp) {
  constexpr std::size_t k = 4 * steps;
  constexpr std::size_t words_a = 4 * steps;
  constexpr std::size_t words_b = 2 * steps;
  double a[16][k];
  double b[k][n];
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t* const in = warp.in[lane].data();
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t at = lane % 4 + 4 * step;
      for (std::size_t i = 0; i < 2; ++i) a[lane / 4 + i * 8][at] = f64_of(in + 4 * step + 2 * i);
      b[at][lane / 4] = f64_of(in + words_a + 2 * step);
    }
  }
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = lane / 4 + i / 2 * 8;
      double sum = f64_of(&warp.in[lane][words_a + words_b + 2 * i]);
      for (std::size_t j = 0; j < k; ++j) sum = std::fma(a[row][j], b[j][lane % 4 * 2 + i % 2], sum);
      std::memcpy(&warp.out[lane][2 * i], &sum, sizeof sum);
    }
  }
}

template <std::size_t steps>
void multiply_f64(Collective collective, double (&sum)[4], const double (&a)[2 * steps],
                  const double (&b)[steps], void (*complete)(Warp&), const Site& site) {
  std::uint32_t words_a[4 * steps];
  std::uint32_t words_b[2 * steps];
  std::uint32_t words_sum[8];
  std::memcpy(words_a, a, sizeof words_a);
  std::memcpy(words_b, b, sizeof words_b);
  std::memcpy(words_sum, sum, sizeof words_sum);
  hand_in(words_a, words_b, words_sum, site);
  Thread& thread = *current;
  thread.block->meet(thread, collective, site, complete);
  std::memcpy(sum, thread.block->warp_of(thread).out[thread.lane()].data(), sizeof sum);
}

}  // namespace

void multiply_tf32_f32(float (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                       const Site& site) {
  std::uint32_t words[4];
  std::memcpy(words, sum, sizeof words);
  hand_in(a, b, words, site);
  Thread& thread = *current;
  thread.block->meet(thread, Collective::multiply_tf32_f32, site, [](Warp& warp) {
    ++current->block->count().matrix_multiplies;
    complete_tf32(warp);
  });
  std::memcpy(sum, thread.block->warp_of(thread).out[thread.lane()].data(), sizeof sum);
}

void multiply_f64(double (&sum)[4], const double (&a)[2], double b, const Site& site) {
  multiply_f64<1>(
      Collective::multiply_f64, sum, a, {b},
      [](Warp& warp) {
        current->block->count().matrix_multiplies += 2;
        complete_f64<1>(warp);
      },
      site);
}

void multiply_f64_k8(double (&sum)[4], const double (&a)[4], const double (&b)[2], const Site& site) {
  multiply_f64<2>(
      Collective::multiply_f64_k8, sum, a, b,
      [](Warp& warp) {
        ++current->block->count().matrix_multiplies;
        complete_f64<2>(warp);
      },
      site);
}

void multiply_f64_k16(double (&sum)[4], const double (&a)[8], const double (&b)[4], const Site& site) {
  multiply_f64<4>(
      Collective::multiply_f64_k16, sum, a, b,
      [](Warp& warp) {
        ++current->block->count().matrix_multiplies;
        complete_f64<4>(warp);
      },
      site);
}

}  // namespace quarry::emulator
