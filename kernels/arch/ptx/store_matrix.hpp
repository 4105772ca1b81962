/// Fragments to shared memory (PTX ISA, stmatrix): the inverse of load_matrix_x4.
#pragma once

#include "arch/ptx/entry.hpp"
#include "arch/types.hpp"

namespace quarry::arch {

/// Stores four 8 x 8 matrices of 16-bit elements. Lane i gives the address of line i % 8 (16 bytes, aligned)
/// of matrix i / 8, and holds of each matrix the elements 2 (i % 4) and 2 (i % 4) + 1 of line i / 4.
QUARRY_DEVICE void store_matrix_x4(SharedAddress line, const MatrixFragment& f) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(line.value),
               "r"(f.v[0]), "r"(f.v[1]), "r"(f.v[2]), "r"(f.v[3])
               : "memory");
}

/// The same of the matrices transposed: lane i holds elements i / 4 of lines 2 (i % 4) and 2 (i % 4) + 1.
QUARRY_DEVICE void store_matrix_x4_transposed(SharedAddress line, const MatrixFragment& f) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(line.value),
               "r"(f.v[0]), "r"(f.v[1]), "r"(f.v[2]), "r"(f.v[3])
               : "memory");
}

/// Two matrices; the addresses of lanes 0 to 15 count.
QUARRY_DEVICE void store_matrix_x2(SharedAddress line, const FragmentB& f) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(line.value), "r"(f.v[0]),
               "r"(f.v[1])
               : "memory");
}
QUARRY_DEVICE void store_matrix_x2_transposed(SharedAddress line, const FragmentB& f) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(line.value),
               "r"(f.v[0]), "r"(f.v[1])
               : "memory");
}

}  // namespace quarry::arch
