#include "emulator/warpgroup_product.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "basic/numbers.hpp"

namespace quarry::emulator {
namespace {

constexpr unsigned chunk_bytes = 16;

/// Elements of 16 bits in a chunk, and of a K that is not contiguous.
constexpr int half_elements = 8;
constexpr unsigned half_k = 16;

/// A matrix descriptor's fields, distances in bytes (PTX ISA, matrix descriptor format).
struct Descriptor {
  unsigned start;
  unsigned leading;
  unsigned stride;
  unsigned base_offset;
  /// Chunks of a line: 8, 4, 2, or 1 where nothing is permuted.
  unsigned line_chunks;

  /// The bytes of the line's chunks are permuted by the bits of the address above 128 bytes.
  unsigned permuted(unsigned address) const {
    return address ^ (address >> 3 & (line_chunks - 1) * chunk_bytes);
  }
};

constexpr std::uint64_t used_bits = 0x3fff | 0x3fffULL << 16 | 0x3fffULL << 32 | 7ULL << 49 | 3ULL << 62;

Descriptor decoded(std::uint64_t bits) {
  const auto field = [&](int shift) { return static_cast<unsigned>(bits >> shift & 0x3fff) * chunk_bytes; };
  constexpr unsigned line_chunks[] = {1, 8, 4, 2};
  return {field(0), field(16), field(32), static_cast<unsigned>(bits >> 49 & 7), line_chunks[bits >> 62]};
}

/// Where the chunk of row or column `i` begins that holds K from 8 `half` on.
unsigned chunk_along_k(const Descriptor& d, unsigned i, unsigned half) {
  const unsigned to_half = d.line_chunks == 1 ? half * d.leading : half * chunk_bytes;
  return d.start + i % 8 * d.line_chunks * chunk_bytes + i / 8 * d.stride + to_half;
}

/// Where the chunk begins that holds rows or columns from 8 `group` on at K = k.
unsigned chunk_along_mn(const Descriptor& d, unsigned group, unsigned k) {
  if (d.line_chunks == 1) return d.start + group * d.stride + k % 8 * chunk_bytes + k / 8 * d.leading;
  return d.start + group % d.line_chunks * chunk_bytes + group / d.line_chunks * d.leading +
         k % 8 * d.line_chunks * chunk_bytes + k / 8 * d.stride;
}

float value_of(std::uint16_t bits, bool bf16) {
  if (bf16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  // As f16_to_f32, without branches: the exponent is moved by a multiplication, which is exact.
  const std::uint32_t magnitude = bits & 0x7fffU;
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  const std::uint32_t special = magnitude >= 0x7c00 ? 0x7f800000U : 0;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | (bits & 0x8000U) << 16);
}

/// The numbers of a chunk of so many bytes an element.
template <class Stored, class Value>
int values_of(const std::byte* chunk, float* values, Value value) {
  constexpr int count = chunk_bytes / sizeof(Stored);
  Stored stored[count];
  std::memcpy(stored, chunk, sizeof stored);
  for (int i = 0; i < count; ++i) values[i] = value(stored[i]);
  return count;
}

/// @return how many there are
int values_of(const std::byte* chunk, ProductInput type, float* values) {
  using Byte = std::uint8_t;
  switch (type) {
    case ProductInput::f16:
      return values_of<std::uint16_t>(chunk, values, [](auto bits) { return value_of(bits, false); });
    case ProductInput::bf16:
      return values_of<std::uint16_t>(chunk, values, [](auto bits) { return value_of(bits, true); });
    case ProductInput::tf32:  // what is below 10 bits of mantissa is not read
      return values_of<std::uint32_t>(chunk, values,
                                      [](auto x) { return std::bit_cast<float>(x & ~0x1fffU); });
    case ProductInput::e4m3: return values_of<Byte>(chunk, values, host::e4m3_to_f32);
    case ProductInput::e5m2: return values_of<Byte>(chunk, values, host::e5m2_to_f32);
    case ProductInput::s8:
      return values_of<std::int8_t>(chunk, values, [](auto x) { return static_cast<float>(x); });
    case ProductInput::u8:
      return values_of<Byte>(chunk, values, [](auto x) { return static_cast<float>(x); });
  }
  return 0;
}

constexpr int most_chunk_elements = 16;

/// Rows that are multiplied together.
constexpr int block_m = 4;

/// The products of some rows with eight columns.
void multiply_block(const float (*a)[most_product_k], const float (&b)[most_product_k][group_columns],
                    int product_k, float (&products)[block_m][group_columns]) {
  float sums[block_m][group_columns] = {};
  for (int k = 0; k < product_k; ++k) {
    for (int row = 0; row < block_m; ++row) {
      for (int column = 0; column < group_columns; ++column) sums[row][column] += a[row][k] * b[k][column];
    }
  }
  std::memcpy(products, sums, sizeof sums);
}

void round_to_f16(float& x) { x = host::f16_to_f32(host::f32_to_f16(x)); }

/// Calls f(sum, part) for each sum of a thread, in order: a word in f32, the half `part` of one in f16.
template <class Sums, class Function>
void for_each_sum(Sums& sums, int n, unsigned thread, Function f) {
  const unsigned row = thread / 32 * 16 + thread % 32 / 4;
  const unsigned column = thread % 4 * 2;
  for (int group = 0; group < n / group_columns; ++group) {
    auto& columns = sums.v[group];
    f(columns[row][column], columns[row][column + 1]);
    f(columns[row + 8][column], columns[row + 8][column + 1]);
  }
}

}  // namespace

std::string find_chunks(std::uint64_t descriptor, int extent, bool along_mn, std::span<unsigned> chunks) {
  if ((descriptor & ~used_bits) != 0) return "gives a matrix descriptor with bits set that mean nothing";
  const Descriptor d = decoded(descriptor);
  if (d.base_offset != 0) {
    return "gives a matrix descriptor with a base offset, which the emulator does not model";
  }
  const auto lines = static_cast<unsigned>(extent);
  std::size_t next = 0;
  if (along_mn) {
    for (unsigned k = 0; k < half_k; ++k) {
      for (unsigned group = 0; group < lines / 8; ++group) {
        chunks[next++] = d.permuted(chunk_along_mn(d, group, k));
      }
    }
  } else {
    for (unsigned i = 0; i < lines; ++i) {
      for (unsigned half = 0; half < 2; ++half) chunks[next++] = d.permuted(chunk_along_k(d, i, half));
    }
  }
  return "";
}

void read_a(ProductOperands& operands, const ProductShape& shape, std::span<const unsigned> chunks,
            const SharedMemory& memory) {
  float values[most_chunk_elements];
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto count = static_cast<std::size_t>(values_of(memory.at(chunks[i]), shape.a, values));
    if (shape.a_along_m) {
      const std::size_t k = i / (product_m / half_elements);
      const std::size_t row = i % (product_m / half_elements) * half_elements;
      for (std::size_t j = 0; j < half_elements; ++j) operands.a[row + j][k] = values[j];
    } else {
      std::memcpy(&operands.a[i / 2][i % 2 * count], values, count * sizeof(float));
    }
  }
}

void read_a(ProductOperands& operands, const ProductShape& shape, std::span<const std::uint32_t> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t thread = i / fragment_words;
    const std::size_t matrix = i % fragment_words;
    const std::size_t row = thread / 32 * 16 + thread % 32 / 4 + matrix % 2 * 8;
    const std::size_t k = thread % 4 * 2 + matrix / 2 * 8;
    const bool bf16 = shape.a == ProductInput::bf16;
    operands.a[row][k] = value_of(static_cast<std::uint16_t>(words[i] & 0xffff), bf16);
    operands.a[row][k + 1] = value_of(static_cast<std::uint16_t>(words[i] >> 16), bf16);
  }
}

void read_b(ProductOperands& operands, const ProductShape& shape, std::span<const unsigned> chunks,
            const SharedMemory& memory) {
  const auto groups = static_cast<std::size_t>(shape.n) / half_elements;
  float values[most_chunk_elements];
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto count = static_cast<std::size_t>(values_of(memory.at(chunks[i]), shape.b, values));
    if (shape.b_along_n) {
      std::memcpy(operands.b[i % groups][i / groups], values, half_elements * sizeof(float));
    } else {
      const std::size_t column = i / 2;
      for (std::size_t j = 0; j < count; ++j)
        operands.b[column / group_columns][i % 2 * count + j][column % group_columns] = values[j];
    }
  }
}

namespace {

/// Adds up all products; `add(sum, products)` takes the products of one sum.
template <class Add>
void multiply_by(const ProductOperands& operands, const ProductShape& shape, bool accumulate,
                 ProductSums& sums, const Add& add) {
  for (int group = 0; group < shape.n / group_columns; ++group) {
    for (int row = 0; row < product_m; row += block_m) {
      float products[block_m][group_columns];
      multiply_block(&operands.a[row], operands.b[group], shape.k(), products);
      auto* const into = &sums.v[group][row];
      if (!accumulate) std::memset(into, 0, sizeof products);
      for (int i = 0; i < block_m; ++i) {
        for (int column = 0; column < group_columns; ++column)
          into[i][column] = add(into[i][column], products[i][column]);
      }
    }
    if (shape.sum != ProductSum::f16) continue;
    for (auto& row : sums.v[group]) {
      for (float& x : row) round_to_f16(x);
    }
  }
}

}  // namespace

void multiply(const ProductOperands& operands, const ProductShape& shape, bool accumulate,
              ProductSums& sums) {
  if (shape.sum != ProductSum::s32)
    return multiply_by(operands, shape, accumulate, sums,
                       [](float sum, float product) { return sum + product; });
  multiply_by(operands, shape, accumulate, sums, [](float sum, float product) {
    constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const std::int64_t exact = std::bit_cast<std::int32_t>(sum) + static_cast<std::int64_t>(product);
    return std::bit_cast<float>(static_cast<std::int32_t>(std::clamp(exact, least, most)));
  });
}

void get_words(const ProductSums& sums, const ProductShape& shape, unsigned thread, SumWord* words) {
  if (shape.sum == ProductSum::f16) {
    for_each_sum(sums, shape.n, thread, [&](float low, float high) {
      *words++ = host::f32_to_f16(low) | static_cast<std::uint32_t>(host::f32_to_f16(high)) << 16;
    });
  } else {
    for_each_sum(sums, shape.n, thread, [&](float low, float high) {
      *words++ = std::bit_cast<std::uint32_t>(low);
      *words++ = std::bit_cast<std::uint32_t>(high);
    });
  }
}

void set_words(ProductSums& sums, const ProductShape& shape, unsigned thread, const SumWord* words) {
  if (shape.sum == ProductSum::f16) {
    for_each_sum(sums, shape.n, thread, [&](float& low, float& high) {
      low = host::f16_to_f32(static_cast<std::uint16_t>(*words & 0xffff));
      high = host::f16_to_f32(static_cast<std::uint16_t>(*words++ >> 16));
    });
  } else {
    for_each_sum(sums, shape.n, thread, [&](float& low, float& high) {
      low = std::bit_cast<float>(*words++);
      high = std::bit_cast<float>(*words++);
    });
  }
}

}  // namespace quarry::emulator
