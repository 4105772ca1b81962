/// Fragments to shared memory; see arch/ptx/store_matrix.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "arch/types.hpp"
#include "emulator/device.hpp"

namespace quarry::arch {

QUARRY_DEVICE void store_matrix_x4(SharedAddress line, const MatrixFragment& f,
                                   const emulator::Site& site = emulator::Site::current()) {
  emulator::store_matrix(line.value, false, f.v, site);
}
QUARRY_DEVICE void store_matrix_x4_transposed(SharedAddress line, const MatrixFragment& f,
                                              const emulator::Site& site = emulator::Site::current()) {
  emulator::store_matrix(line.value, true, f.v, site);
}
QUARRY_DEVICE void store_matrix_x2(SharedAddress line, const FragmentB& f,
                                   const emulator::Site& site = emulator::Site::current()) {
  emulator::store_matrix(line.value, false, f.v, site);
}
QUARRY_DEVICE void store_matrix_x2_transposed(SharedAddress line, const FragmentB& f,
                                              const emulator::Site& site = emulator::Site::current()) {
  emulator::store_matrix(line.value, true, f.v, site);
}

}  // namespace quarry::arch
