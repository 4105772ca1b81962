/// The product of one matrix instruction of a warpgroup, and its operands in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "emulator/shared_memory.hpp"
#include "emulator/warpgroup.hpp"

namespace quarry::emulator {

inline constexpr int product_m = 64;
inline constexpr int most_product_k = 32;

/// Words of a thread's part of an A in registers.
inline constexpr unsigned fragment_words = 4;
inline constexpr int most_product_n = 256;

/// Columns of sums that lie together.
inline constexpr int group_columns = 8;

/// Chunks, of 16 bytes, of an operand of so many rows (of A) or columns (of B): 32 bytes along K.
constexpr unsigned chunks_of(int extent) { return static_cast<unsigned>(extent * 2); }

/// The addresses of an operand's chunks, as a matrix descriptor says (PTX ISA, wgmma: matrix descriptor,
/// canonical layouts). Contiguous along K: of each row its two chunks; otherwise: of each k the chunks of all
/// rows.
/// @param chunks chunks_of(extent) of them
/// @return what is wrong with the descriptor, "" where nothing is
std::string find_chunks(std::uint64_t descriptor, int extent, bool along_mn, std::span<unsigned> chunks);

/// Operands as numbers.
struct ProductOperands {
  float a[product_m][most_product_k];
  float b[most_product_n / group_columns][most_product_k][group_columns];
};

/// Takes over an operand's bytes. @param chunks as find_chunks gave them; they exist
void read_a(ProductOperands& operands, const ProductShape& shape, std::span<const unsigned> chunks,
            const SharedMemory& memory);
/// The same of an A in registers, four words of each thread. See MatrixFragment: a warp has 16 rows.
void read_a(ProductOperands& operands, const ProductShape& shape, std::span<const std::uint32_t> words);
void read_b(ProductOperands& operands, const ProductShape& shape, std::span<const unsigned> chunks,
            const SharedMemory& memory);

/// Sums of 64 rows, eight columns after eight. Of s32, the bits.
struct ProductSums {
  float v[most_product_n / group_columns][product_m][group_columns];
};

/// Products summed in order of K, in f32, and then added to the sums, or in place of them. f16 sums are
/// rounded. Those of bytes are exact, and are added as s32, which end at the nearest number that s32 has.
void multiply(const ProductOperands& operands, const ProductShape& shape, bool accumulate, ProductSums& sums);

/// The words of thread `thread` of the warpgroup among the sums, to it and from it. See WarpgroupSumsF32.
void get_words(const ProductSums& sums, const ProductShape& shape, unsigned thread, SumWord* words);
void set_words(ProductSums& sums, const ProductShape& shape, unsigned thread, const SumWord* words);

}  // namespace quarry::emulator
