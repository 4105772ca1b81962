/// The probes of what compute capability 9.0 has besides, as entries; see probes.cu.
#include "tests/kernels/arch/probes/cluster.cuh"
#include "tests/kernels/arch/probes/matrix.cuh"
#include "tests/kernels/arch/probes/store_matrix.cuh"
#include "tests/kernels/arch/probes/tensor_copy.cuh"
#include "tests/kernels/arch/probes/warpgroup.cuh"
#include "tests/kernels/arch/probes/weights.cuh"

namespace arch = quarry::arch;
namespace probes = quarry::probes;

QUARRY_ENTRY(probe_mma_f64_k8, probes::ProbeParams, probes::mma_f64_k8, probes::usual)
QUARRY_ENTRY(probe_mma_f64_k16, probes::ProbeParams, probes::mma_f64_k16, probes::usual)

QUARRY_ENTRY(probe_f16_weights_of_e4m3, probes::ProbeParams, probes::f16_weights_of_e4m3, probes::usual)
QUARRY_ENTRY(probe_bf16_weights_of_e4m3, probes::ProbeParams, probes::bf16_weights_of_e4m3, probes::usual)

QUARRY_ENTRY(probe_store_matrix_x4, probes::ProbeParams, probes::store_matrix_x4, probes::usual)
QUARRY_ENTRY(probe_store_matrix_x4_transposed, probes::ProbeParams, probes::store_matrix_x4_transposed,
             probes::usual)
QUARRY_ENTRY(probe_store_matrix_x2, probes::ProbeParams, probes::store_matrix_x2, probes::usual)
QUARRY_ENTRY(probe_store_matrix_x2_transposed, probes::ProbeParams, probes::store_matrix_x2_transposed,
             probes::usual)

namespace quarry::probes {

/// A kernel for one combination of types and layouts.
template <class Input, arch::Major a_major, arch::Major b_major, class Sums>
struct Multiply {
  template <Block block>
  QUARRY_DEVICE static void run(const ProbeParams& params) {
    warpgroup_multiply<block, Input, a_major, b_major, Sums>(params);
  }
};

/// The same of operands contiguous along K.
template <class InputA, class InputB, class Sums>
struct MultiplyAlongK {
  template <Block block>
  QUARRY_DEVICE static void run(const ProbeParams& params) {
    warpgroup_multiply_along_k<block, InputA, InputB, Sums>(params);
  }
};

template <int n, int last>
struct MultiplyN {
  template <Block block>
  QUARRY_DEVICE static void run(const ProbeParams& params) {
    warpgroup_multiply_n<block, n, last>(params);
  }
};

/// The left operand in registers.
template <class Input, int... n>
struct MultiplyFragment {
  template <Block block>
  QUARRY_DEVICE static void run(const ProbeParams& params) {
    warpgroup_multiply_fragment<block, Input, n...>(params);
  }
};
using MultiplyFragmentBF16 = MultiplyFragment<arch::BF16, 8, 16, 32, 64, 96, 128, 256>;
using MultiplyFragmentF16 = MultiplyFragment<arch::F16, 8, 16, 32, 64, 96, 128, 256>;

/// 64 columns, with sums in f32, s32 or f16.
using WideSums = arch::WarpgroupSumsF32<64>;
using WholeSums = arch::WarpgroupSumsS32<64>;
using NarrowSums = arch::WarpgroupSumsF16<64>;

using MultiplyF16KK = Multiply<arch::F16, arch::Major::k, arch::Major::k, WideSums>;
using MultiplyF16KN = Multiply<arch::F16, arch::Major::k, arch::Major::mn, WideSums>;
using MultiplyF16MK = Multiply<arch::F16, arch::Major::mn, arch::Major::k, WideSums>;
using MultiplyF16MN = Multiply<arch::F16, arch::Major::mn, arch::Major::mn, WideSums>;
using MultiplyBF16KK = Multiply<arch::BF16, arch::Major::k, arch::Major::k, WideSums>;
using MultiplyBF16KN = Multiply<arch::BF16, arch::Major::k, arch::Major::mn, WideSums>;
using MultiplyBF16MK = Multiply<arch::BF16, arch::Major::mn, arch::Major::k, WideSums>;
using MultiplyBF16MN = Multiply<arch::BF16, arch::Major::mn, arch::Major::mn, WideSums>;
using MultiplyNarrowKK = Multiply<arch::F16, arch::Major::k, arch::Major::k, NarrowSums>;
using MultiplyNarrowKN = Multiply<arch::F16, arch::Major::k, arch::Major::mn, NarrowSums>;
using MultiplyNarrowMK = Multiply<arch::F16, arch::Major::mn, arch::Major::k, NarrowSums>;
using MultiplyNarrowMN = Multiply<arch::F16, arch::Major::mn, arch::Major::mn, NarrowSums>;
using MultiplyTf32 = MultiplyAlongK<arch::TF32, arch::TF32, WideSums>;
using MultiplyE4m3E4m3 = MultiplyAlongK<arch::E4M3, arch::E4M3, WideSums>;
using MultiplyE4m3E5m2 = MultiplyAlongK<arch::E4M3, arch::E5M2, WideSums>;
using MultiplyE5m2E4m3 = MultiplyAlongK<arch::E5M2, arch::E4M3, WideSums>;
using MultiplyE5m2E5m2 = MultiplyAlongK<arch::E5M2, arch::E5M2, WideSums>;
using MultiplyS8S8 = MultiplyAlongK<signed char, signed char, WholeSums>;
using MultiplyS8U8 = MultiplyAlongK<signed char, unsigned char, WholeSums>;
using MultiplyU8S8 = MultiplyAlongK<unsigned char, signed char, WholeSums>;
using MultiplyU8U8 = MultiplyAlongK<unsigned char, unsigned char, WholeSums>;
using MultiplyN64 = MultiplyN<8, 64>;
using MultiplyN128 = MultiplyN<72, 128>;
using MultiplyN192 = MultiplyN<136, 192>;
using MultiplyN256 = MultiplyN<200, 256>;

}  // namespace quarry::probes

#define QUARRY_MULTIPLY_ENTRY(name, type) \
  QUARRY_ENTRY(probe_warpgroup_multiply_##name, probes::ProbeParams, probes::type::run, probes::usual)

QUARRY_MULTIPLY_ENTRY(f16_f32_kk, MultiplyF16KK)
QUARRY_MULTIPLY_ENTRY(f16_f32_kn, MultiplyF16KN)
QUARRY_MULTIPLY_ENTRY(f16_f32_mk, MultiplyF16MK)
QUARRY_MULTIPLY_ENTRY(f16_f32_mn, MultiplyF16MN)
QUARRY_MULTIPLY_ENTRY(bf16_f32_kk, MultiplyBF16KK)
QUARRY_MULTIPLY_ENTRY(bf16_f32_kn, MultiplyBF16KN)
QUARRY_MULTIPLY_ENTRY(bf16_f32_mk, MultiplyBF16MK)
QUARRY_MULTIPLY_ENTRY(bf16_f32_mn, MultiplyBF16MN)
QUARRY_MULTIPLY_ENTRY(f16_f16_kk, MultiplyNarrowKK)
QUARRY_MULTIPLY_ENTRY(f16_f16_kn, MultiplyNarrowKN)
QUARRY_MULTIPLY_ENTRY(f16_f16_mk, MultiplyNarrowMK)
QUARRY_MULTIPLY_ENTRY(f16_f16_mn, MultiplyNarrowMN)
QUARRY_MULTIPLY_ENTRY(tf32, MultiplyTf32)
QUARRY_MULTIPLY_ENTRY(e4m3_e4m3, MultiplyE4m3E4m3)
QUARRY_MULTIPLY_ENTRY(e4m3_e5m2, MultiplyE4m3E5m2)
QUARRY_MULTIPLY_ENTRY(e5m2_e4m3, MultiplyE5m2E4m3)
QUARRY_MULTIPLY_ENTRY(e5m2_e5m2, MultiplyE5m2E5m2)
QUARRY_MULTIPLY_ENTRY(s8_s8, MultiplyS8S8)
QUARRY_MULTIPLY_ENTRY(s8_u8, MultiplyS8U8)
QUARRY_MULTIPLY_ENTRY(u8_s8, MultiplyU8S8)
QUARRY_MULTIPLY_ENTRY(u8_u8, MultiplyU8U8)
QUARRY_MULTIPLY_ENTRY(n64, MultiplyN64)
QUARRY_MULTIPLY_ENTRY(n128, MultiplyN128)
QUARRY_MULTIPLY_ENTRY(n192, MultiplyN192)
QUARRY_MULTIPLY_ENTRY(n256, MultiplyN256)

QUARRY_MULTIPLY_ENTRY(fragment_bf16, MultiplyFragmentBF16)
QUARRY_MULTIPLY_ENTRY(fragment_f16, MultiplyFragmentF16)

QUARRY_ENTRY(probe_registers, probes::ProbeParams, probes::registers, probes::WholeMultiprocessor{128})

QUARRY_ENTRY(probe_cluster_indices, probes::ProbeParams, probes::cluster_indices, probes::usual)
QUARRY_ENTRY(probe_cluster_exchange, probes::ProbeParams, probes::cluster_exchange, probes::usual)
QUARRY_ENTRY(probe_mbarrier_copies, probes::ProbeParams, probes::mbarrier_copies, probes::usual)
QUARRY_ENTRY(probe_mbarrier_ring, probes::ProbeParams, probes::mbarrier_ring, probes::usual)
QUARRY_ENTRY(probe_mbarrier_token, probes::ProbeParams, probes::mbarrier_token, probes::usual)
QUARRY_ENTRY(probe_overlapping_kernels, probes::ProbeParams, probes::overlapping_kernels, probes::usual)
QUARRY_ENTRY(probe_tensor_load, probes::ProbeParams, probes::tensor_load, probes::usual)
QUARRY_ENTRY(probe_tensor_map, probes::ProbeParams, probes::tensor_map, probes::usual)
QUARRY_ENTRY(probe_tensor_load_multicast, probes::ProbeParams, probes::tensor_load_multicast, probes::usual)
QUARRY_ENTRY(probe_tensor_load_pixels, probes::ProbeParams, probes::tensor_load_pixels, probes::usual)
QUARRY_ENTRY(probe_tensor_load_pixels_multicast, probes::ProbeParams, probes::tensor_load_pixels_multicast,
             probes::usual)
QUARRY_ENTRY(probe_tensor_store, probes::ProbeParams, probes::tensor_store, probes::usual)
