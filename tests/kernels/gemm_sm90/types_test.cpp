// Configs of gemm_sm90 by type: what its matrix instructions take, and what messages say of the rest.
#include <string>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

constexpr const char* fp8 = "gemm_sm90_e4m3_e5m2_f32_bf16_rcr_128x128x128_c1x1_s6_cooperative_a16x16";
constexpr const char* bytes = "gemm_sm90_s8_u8_s32_s8_rcr_128x128x128_c1x1_s6_cooperative_a16x16";
constexpr const char* tf32 = "gemm_sm90_f32_f32_f32_f32_rcr_128x128x32_c1x1_s6_cooperative_fast_tf32_a4x4";

/// `name` with `part` in place of `old`.
std::string with(std::string name, const std::string& old, const std::string& part) {
  const std::size_t at = name.find(old);
  REQUIRE(at != std::string::npos);
  return name.replace(at, old.size(), part);
}

void check_refused(const std::string& name, const std::string& why) {
  const Result<Kernel> kernel = make_kernel(name);
  INFO(name);
  REQUIRE_FALSE(kernel);
  CHECK(kernel.status().code() == StatusCode::unsupported);
  CHECK_THAT(std::string(kernel.status().message()), Catch::Contains(why));
}

/// Its operands are copied in front of the code of operands that are contiguous along K.
void check_reorders(const std::string& name) {
  const Result<Kernel> kernel = make_kernel(name);
  INFO(name);
  REQUIRE(kernel);
  CHECK(kernel->metadata().design.reorders);
  CHECK(kernel->metadata().operands.a.alignment == 1);
}

}  // namespace

TEST_CASE("gemm_sm90 has 8-bit floating point, bytes and tf32, 32 bytes of K an instruction") {
  const Result<Kernel> eight = make_kernel(fp8);
  REQUIRE(eight);
  CHECK(eight->metadata().design.instruction->k == 32);
  CHECK(eight->metadata().design.math == Math::exact);
  const Result<Kernel> wide = make_kernel(tf32);
  REQUIRE(wide);
  CHECK(wide->metadata().design.instruction->k == 8);
  CHECK(wide->metadata().design.math == Math::fast_tf32);
  const Result<Kernel> whole = make_kernel(bytes);
  REQUIRE(whole);
  CHECK(whole->metadata().design.instruction->k == 32);
  CHECK(whole->metadata().modes.split_k_parallel);
  CHECK_FALSE(whole->metadata().modes.split_k_serial);
  for (const char* const name : {fp8, tf32, bytes}) {
    CHECK(make_kernel(with(with(name, "cooperative", "cooperative_exchanged"), "_rcr_", "_rcc_")));
    const std::string aligned = name == tf32 ? "_a4x4" : "_a16x16";
    for (const char* const layouts : {"_rcr_", "_rrr_", "_crr_", "_ccr_"})
      check_reorders(with(with(name, "_rcr_", layouts), aligned, "_a1x1"));
    check_refused(with(name, "_rcr_", "_rrr_"), "contiguous along K");
    check_refused(with(with(name, "cooperative", "cooperative_cp_async"), "128x128", "64x64"), "cp_async");
  }
}

TEST_CASE("gemm_sm90 copies operands of 16 bits in their own layout") {
  const std::string half = "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x1_s4_cooperative_a8x8";
  for (const char* const layouts : {"_rcr_", "_rrr_", "_crr_", "_ccr_"})
    check_reorders(with(with(half, "_rcr_", layouts), "_a8x8", "_a1x1"));
  check_refused(with(half, "_a8x8", "_a1x8"), "alignment must be 8 and 8");
  check_refused(with(with(half, "c2x1", "c1x1"), "_a8x8", "_cp_async_a1x1"), "alignment must be 2 or 4");
}

TEST_CASE("what gemm_sm90 lacks of other types is named") {
  check_refused(with(tf32, "_fast_tf32", ""), "no matrix instruction");
  check_refused(with(tf32, "fast_tf32", "fast_f16"), "no matrix instruction");
  check_refused(with(fp8, "_a16x16", "_fast_tf32_a16x16"), "no matrix instruction");
  check_refused(with(fp8, "_f32_bf16_", "_f32_f64_"), "no matrix instruction");
  check_refused(with(fp8, "_f32_bf16_", "_f16_f16_"), "no matrix instruction");
  check_refused(with(bytes, "_s32_s8_", "_s32_f16_"), "no matrix instruction");
  check_refused(with(bytes, "_s32_s8_", "_f32_f32_"), "no matrix instruction");
  check_refused(with(bytes, "128x128x128", "128x120x128"), "tile.n must be a multiple of 16");
  check_refused(with(with(bytes, "_s32_s8_", "_s32_s32_"), "128x128x128", "128x40x128"),
                "with operands of bytes");
  check_refused(with(bytes, "128x128x128", "128x24x128"), "where the output has bytes");
  check_refused(with(fp8, "a16x16", "a8x8"), "alignment must be 16 and 16");
  check_refused(with(tf32, "a4x4", "a8x8"), "alignment must be 4 and 4");
  check_refused(with(fp8, "128x128x128", "128x128x48"), "tile.k must be a multiple of 32");
  check_refused(with(tf32, "128x128x32", "128x128x36"), "tile.k must be a multiple of 8");
  check_refused(with(fp8, "128x128x128", "128x128x160"), "tile.k must be up to 128 or a multiple of 128");
}
