/// Which configs break a constraint, and how this is said.
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/own_config_texts.hpp"

using namespace quarry;
using namespace quarry::test;

TEST_CASE("a config that breaks a constraint is refused with the constraint", "[own]") {
  const auto check = [](const std::string& what, const std::string& name) {
    const Result<Kernel> kernel = make_kernel(name);
    INFO(name);
    REQUIRE(!kernel);
    CHECK(kernel.status().code() == StatusCode::unsupported);
    CHECK_THAT(kernel.status().message(), Catch::Contains("`" + name + "`: ") && Catch::Contains(what));
    CHECK(!find_kernel(name));
  };
  const std::string sm80 = "gemm_sm80_f16_f16_f32_f16_rcr_";
  check("no matrix instruction", "gemm_sm80_f16_bf16_f32_f16_rcr_64x64x32_w2x2x1_s3_a8x8");
  check("no matrix instruction", "gemm_sm80_s8_s8_f32_s32_rcr_64x64x64_w2x2x1_s3_a8x8");
  check("no matrix instruction", "gemm_sm80_s8_u8_s32_f16_rcr_64x64x64_w2x2x1_s3_a8x8");
  check("no instruction transposes", "gemm_sm80_s8_s8_s32_s32_rrr_64x64x64_w2x2x1_s3_a8x8");
  check("no instruction transposes", "gemm_sm80_s8_s8_s32_s32_crc_64x64x64_w2x2x1_s3_a8x8");
  check("a multiple of 32 along K", "gemm_sm80_s8_s8_s32_s32_rcr_64x64x16_w2x2x1_s3_a8x8");
  check("1, 2, 4, 8 or 16", "gemm_sm80_s8_s8_s32_s32_rcr_64x64x64_w2x2x1_s3_a32x8");
  check("no matrix instruction", "gemm_sm80_f32_f32_f32_f32_rcr_64x64x32_w2x2x1_s3_a8x8");
  check("only for f16, bf16 and f64", "gemm_sm80_s8_s8_s32_s32_rcr_64x64x64_w2x2x1_s3_m16n8k8_a8x8");
  check("needs the schedule one_tile",
        "gemm_sm80_f64_f64_f64_f64_rcr_64x64x16_w2x2x1_s3_m16n8k8_stream_k_a2x2");
  check("multiple of 8 along K", "gemm_sm80_f64_f64_f64_f64_rcr_64x64x16_w2x2x4_s3_m16n8k8_a2x2");
  check("only for f64", sm80 + "64x64x32_w2x2x1_s3_m16n8k16_a8x8");
  check("multiple of 16 along K", "gemm_sm80_f64_f64_f64_f64_rcr_64x64x16_w2x2x2_s3_m16n8k16_a2x2");
  check("not a multiple of the warps", sm80 + "64x64x32_w3x2x1_s3_a8x8");
  check("multiple of 16 along M and N", sm80 + "64x64x32_w8x2x1_s3_a8x8");
  check("multiple of 16 along K", sm80 + "64x64x32_w2x2x4_s3_a8x8");
  check("128 accumulators", sm80 + "128x128x32_w1x2x1_s3_a8x8");
  check("1024 threads", sm80 + "256x256x32_w8x8x1_s3_a8x8");
  check("stages must be 2 to 8", sm80 + "64x64x32_w2x2x1_s1_a8x8");
  check("stages must be 2 to 8", sm80 + "64x64x32_w2x2x1_s9_a8x8");
  check("alignment must be", sm80 + "64x64x32_w2x2x1_s3_a16x8");
  check("fast_clamp can be chosen only for s8", sm80 + "64x64x32_w2x2x1_s3_fast_clamp_a8x8");
  check("fast_clamp can be chosen only for s8",
        "gemm_sm80_s8_s8_s32_s32_rcr_64x64x64_w2x2x1_s3_fast_clamp_a16x16");
  check("alignment must be", sm80 + "64x64x32_w2x2x1_s3_a8x3");
  check("shared memory", sm80 + "256x128x64_w4x2x1_s5_a8x8");
  check("share the copies of the tile of a evenly", sm80 + "96x32x64_w3x1x1_s3_a8x8");
  check("too few to copy the tile of a", sm80 + "64x16x256_w1x1x1_s2_a2x8");
  check("too few to copy the tile of b", sm80 + "16x64x128_w1x1x1_s2_a8x1");

  const std::string simt = "gemm_simt_f32_f32_f32_f32_rcr_";
  check("beside bytes, an operand is f16 or bf16", "gemm_simt_s8_f32_f32_f32_rcr_64x64x16_t4x4");
  check("beside bytes, an operand is f16 or bf16", "gemm_simt_s8_f16_f32_bf16_rcr_64x64x16_t4x4");
  check("no matrix instruction", "gemm_sm80_s8_f16_f16_f16_rcr_64x64x64_w2x2x1_s3_a16x8");
  check("no instruction transposes", "gemm_sm80_f16_s8_f32_f16_rrr_64x64x64_w2x2x1_s3_a8x16");
  check("1, 2, 4, 8 or 16", "gemm_sm80_f16_s8_f32_f16_rcr_64x64x64_w2x2x1_s3_a8x32");
  check("both f16, bf16, f32 or f64, or both s8 or u8", "gemm_simt_s32_s32_s32_s32_rcr_64x64x16_t4x4");
  check("must be f16, bf16, f32 or f64", "gemm_simt_f16_f16_s32_f16_rcr_64x64x16_t4x4");
  check("must be f16, bf16, f32 or f64", "gemm_simt_f16_f16_f32_s8_rcr_64x64x16_t4x4");
  check("summed in s32", "gemm_simt_s8_s8_f32_f32_rcr_64x64x16_t4x4");
  for (const std::string type : {"e4m3", "e5m2", "s4", "u4"}) {
    const std::string types = type + "_" + type + "_f32_f32";
    check("no matrix instruction", "gemm_sm80_" + types + "_rcr_64x64x64_w2x2x1_s3_a8x8");
    check("no matrix instruction", "gemm_sm80_f16_f16_f32_" + type + "_rcr_64x64x64_w2x2x1_s3_a8x8");
    const bool is_half_byte = type.front() != 'e';
    const std::string half_bytes = "s4 and u4 operands go with f16 or bf16";
    if (is_half_byte) check(half_bytes, "gemm_simt_" + types + "_rcr_64x64x16_t4x4");
    check("must be f16, bf16, f32 or f64", "gemm_simt_f16_f16_f32_" + type + "_rcr_64x64x16_t4x4");
    check("must be s32, s8, u8 or f32", "gemm_simt_s8_s8_s32_" + type + "_rcr_64x64x16_t4x4");
    check(is_half_byte ? half_bytes : "beside bytes, an operand is f16 or bf16",
          "gemm_simt_s8_" + type + "_f32_f32_rcr_64x64x16_t4x4");
  }
  for (const std::string types :
       {"e5m2_f16_f32_f16", "f32_e5m2_f32_f32", "e4m3_e4m3_f16_f16", "e4m3_e5m2_f32_f64"})
    check("e4m3 and e5m2 operands go with one another", "gemm_simt_" + types + "_rcr_64x64x16_t4x4");
  check("must be s32, s8, u8 or f32", "gemm_simt_u8_s8_s32_f16_rcr_64x64x16_t4x4");
  check("multiple of 4 along K", "gemm_simt_s8_s8_s32_s8_rcr_64x64x18_t4x4");
  check("f64", "gemm_simt_f64_f64_f32_f32_rcr_64x64x16_t4x4");
  check("f64", "gemm_simt_f64_f32_f32_f32_rcr_64x64x16_t4x4");
  check("f64", "gemm_simt_f32_f32_f64_f64_rcr_64x64x16_t4x4");
  check("sums must be", "gemm_simt_bf16_bf16_bf16_bf16_rcr_64x64x16_t4x4");
  check("multiple of a thread's part", simt + "64x64x16_t5x4");
  check("multiple of 4", simt + "66x64x16_t2x4");
  check("multiple of 4", simt + "64x66x16_t4x2");
  check("1024 threads", simt + "128x128x16_t2x2");
  check("whole warps", simt + "20x20x16_t4x4");
  check("128 accumulators", simt + "128x256x16_t8x32");
  check("shared memory", simt + "512x256x64_t16x8");
  check("2048 multiplications", simt + "64x64x64_t8x8");
  check("64 elements", simt + "8x64x64_t4x4");
  check("tile.k must divide 128", simt + "64x64x48_t4x4_block_scales");
  check("an s32 output is computed in s32", "gemm_simt_s8_s8_s32_s32_rcr_64x64x64_t4x4_block_scales");
  check("tile.k must divide 32", simt + "64x64x64_t4x4_group_scales");
  check("zero points are for weights of u4 and u8", "gemm_simt_f16_s4_f32_f16_rcr_64x64x16_t4x4_zero_points");
  for (const std::string weights : {"s4", "u4"}) {
    const std::string types = "f16_" + weights + "_f32_f16_";
    check("are for GEMM kernels", "grouped_gemm_simt_" + types + "rcr_64x64x16_t4x4");
    check("are for GEMM kernels", "gemm_list_simt_" + types + "rcr_64x64x16_t4x4");
    check("are for GEMM kernels", "conv2d_simt_fprop_" + types + "64x64x16_t4x4");
  }
}

TEST_CASE("a family that reads no groups of scales has no word for them", "[own]") {
  for (const std::string name :
       {"gemm_sm80_f16_f16_f32_f16_rcr_64x64x64_w2x2x1_s3_a8x8",
        "gemm_sm90_bf16_bf16_f32_bf16_rcr_64x64x64_c1x1_s6_one_tile_a8x8",
        "grouped_gemm_simt_f16_f16_f32_f16_rcr_64x64x16_t4x4",
        "grouped_gemm_sm90_e4m3_e4m3_f32_bf16_rcr_64x128x128_c1x1_s4_ping_pong_a16x16"}) {
    INFO(name);
    CHECK(make_kernel(name + "_block_scales").status().code() != StatusCode::parse_error);
    CHECK_FALSE(make_kernel(name + "_group_scales"));
  }
}

TEST_CASE("works that are handed over need shared memory beside what gemm_sm90 needs", "[own]") {
  const std::string config = "bf16_bf16_f32_bf16_rcr_128x152x64_c1x1_s6_cooperative_a8x8";
  CHECK(make_kernel("gemm_sm90_" + config));
  const Result<Kernel> kernel = make_kernel("gemm_list_sm90_" + config);
  REQUIRE(!kernel);
  CHECK(kernel.status().code() == StatusCode::unsupported);
  CHECK_THAT(kernel.status().message(),
             Catch::Contains("it needs 232464 bytes of shared memory, more than any device has"));
}

TEST_CASE("a gemm_narrow_sm80 config that breaks a constraint is refused with the constraint", "[own]") {
  const auto check = [](const std::string& what, const std::string& name) {
    const Result<Kernel> kernel = make_kernel("gemm_narrow_sm80_" + name);
    INFO(name);
    REQUIRE(!kernel);
    CHECK(kernel.status().code() == StatusCode::unsupported);
    CHECK_THAT(kernel.status().message(), Catch::Contains(what));
  };
  CHECK(make_kernel("gemm_narrow_sm80_bf16_u4_f32_f32_rcr_16x96x384_w1x1x3_s5"));
  CHECK(make_kernel("gemm_narrow_sm80_bf16_s8_f32_f32_rcr_16x96x384_w1x1x3_s3"));
  CHECK(make_kernel("gemm_narrow_sm80_bf16_u8_f32_f32_rcr_16x96x384_w1x1x3_s2_zero_points"));
  CHECK(make_kernel("gemm_narrow_sm80_bf16_s4_f32_f32_rcr_16x96x384_w1x2x3_s4_block_scales_direct"));
  check("more than 32 pieces of B", "bf16_s8_f32_f32_rcr_8x256x128_w1x1x1_s2");
  check("scales of staged loads are group_scales or zero_points",
        "bf16_s4_f32_f32_rcr_8x32x1024_w1x1x8_s2_block_scales");
  check("scales of direct loads are block_scales", "bf16_s4_f32_f32_rcr_8x32x1024_w1x1x8_s2_direct");
  check("scales of direct loads are block_scales",
        "bf16_u4_f32_f32_rcr_8x32x1024_w1x1x8_s2_zero_points_direct");
  check("direct loads are of weights of 4 bits",
        "bf16_s8_f32_f32_rcr_8x32x1024_w1x1x8_s2_block_scales_direct");
  check("tiles of 16 x 64 a warp at most", "bf16_s4_f32_f32_rcr_32x32x1024_w1x1x8_s2_block_scales_direct");
  check("tiles of 16 x 64 a warp at most", "bf16_s4_f32_f32_rcr_8x96x1024_w1x1x8_s2_block_scales_direct");
  check("stages of direct loads must be 2 or 4",
        "bf16_s4_f32_f32_rcr_8x32x1024_w1x1x8_s3_block_scales_direct");
  check("zero points are for weights of u4 and u8", "bf16_s8_f32_f32_rcr_16x96x384_w1x1x3_s3_zero_points");
  for (const std::string types : {"s4_f16_f32_f16", "f16_e4m3_f32_f16", "f16_s4_f16_f16", "f16_s4_f32_bf16",
                                  "f16_f16_f32_f16", "f32_s4_f32_f32", "f16_s4_f32_s8"})
    check("A must be f16 or bf16 and B s4, u4, s8 or u8", types + "_rcr_16x64x512_w1x1x4_s4");
  const std::string types = "f16_s4_f32_f16_";
  for (const std::string layouts : {"rrr", "ccr", "rcc"})
    check("weights are contiguous along K", types + layouts + "_16x64x512_w1x1x4_s4");
  check("one along M", types + "rcr_16x64x512_w2x1x4_s4");
  check("tile.k must be 128 for each warp", types + "rcr_16x64x256_w1x1x4_s4");
  check("more than 1024 threads", types + "rcr_64x256x640_w1x8x5_s2");
  check("multiple of 8 up to 128", types + "rcr_12x64x512_w1x1x4_s4");
  check("multiple of 8 up to 128", types + "rcr_136x64x512_w1x1x4_s4");
  check("multiple of 32 a warp", types + "rcr_16x48x512_w1x1x4_s4");
  check("multiple of 32 a warp", types + "rcr_16x512x128_w1x8x1_s2");
  check("cannot share the copies of A", types + "rcr_8x96x128_w1x3x1_s2");
  check("more than 2048 sums", types + "rcr_128x32x128_w1x1x1_s2");
  check("stages must be 2 to 8", types + "rcr_16x64x512_w1x1x4_s9");
  check("stages must be 2 to 8", types + "rcr_16x64x512_w1x1x4_s1");
  check("more shared memory", types + "rcr_64x256x128_w1x8x1_s8");
}

/// No kernel of gemm_sm90 has this config, and the message says why.
static void check_refused_on_hopper(const std::string& what, const std::string& name) {
  const Result<Kernel> kernel = make_kernel("gemm_sm90_" + name);
  INFO(name);
  REQUIRE(!kernel);
  CHECK(kernel.status().code() == StatusCode::unsupported);
  CHECK_THAT(kernel.status().message(), Catch::Contains(what));
}

TEST_CASE("a gemm_sm90 config with scales that breaks a constraint is refused with the constraint", "[own]") {
  const auto check = check_refused_on_hopper;
  const std::string e4m3 = "e4m3_e4m3_f32_bf16_rcr_", bf16 = "bf16_bf16_f32_bf16_rcr_";
  check("registers for sums", e4m3 + "128x256x128_c1x1_s3_cooperative_a16x16_block_scales");
  check("tile.k must be 64 or 128", e4m3 + "64x32x256_c1x1_s4_one_tile_a16x16_block_scales");
  check("block_scales need 3 stages", e4m3 + "64x32x128_c1x1_s2_one_tile_a16x16_block_scales");
  check("brings no scales", bf16 + "64x64x64_c1x1_s4_one_tile_cp_async_a4x4_vector_scales");
  check("sums that are scaled", "f16_f16_f16_f16_rcr_128x128x64_c1x1_s4_cooperative_a8x8_vector_scales");
  check("an s32 output is computed in s32",
        "s8_s8_s32_s32_rcr_64x32x128_c1x1_s4_one_tile_a16x16_vector_scales");
}

TEST_CASE("a gemm_sm90 config with weights that breaks a constraint is refused with the constraint",
          "[own]") {
  const auto check = check_refused_on_hopper;
  const std::string types = "f16_s4_f32_f16_", shape = "rcr_16x128x128_c1x1_s4_one_tile_exchanged_a8x32";
  CHECK(make_kernel("gemm_sm90_" + types + "rcr_96x64x256_c1x1_s3_one_tile_exchanged_a8x32_group_scales"));
  for (const std::string wrong : {"f16_s4_f16_f16_", "f16_s4_f32_bf16_", "f32_u4_f32_f32_"})
    check("no matrix instruction has these types", wrong + shape + "_group_scales");
  CHECK(make_kernel("gemm_sm90_f16_u4_f32_f16_" + shape + "_zero_points"));
  check("zero_points are for weights of u4 and u8", types + shape + "_zero_points");
  check("weights have group_scales", types + shape);
  check("weights have group_scales", types + shape + "_vector_scales");
  check("group_scales are for weights", "f16_f16_f32_f16_rcr_64x64x64_c1x1_s6_one_tile_a8x8_group_scales");
  check("weights are B", "s4_f16_f32_f16_" + shape + "_group_scales");
  check("orientation is exchanged", types + "rcr_128x16x128_c1x1_s4_one_tile_a8x32_group_scales");
  check("orientation is exchanged", types + "rcr_128x16x128_c1x1_s4_one_tile_a8x32");
  const auto refused = [&](const std::string& what, const std::string& name) {
    check(what, types + name + "_exchanged_a8x32_group_scales");
  };
  for (const std::string layouts : {"rrr", "ccr", "crr"})
    refused("weights are contiguous along K", layouts + "_16x128x128_c1x1_s4_one_tile");
  refused("brings no weights", "rcr_16x128x128_c1x1_s4_one_tile_cp_async");
  refused("no ping_pong schedule", "rcr_64x128x128_c1x1_s4_ping_pong");
  refused("tile.k must be 128 or 256 with weights of 4 bits", "rcr_16x128x64_c1x1_s4_one_tile");
  refused("tile.m must be 8, 16, 32, 64, 96, 128 or 256 with weights", "rcr_24x128x128_c1x1_s4_one_tile");
  refused("cluster.n must be 1 with weights", "rcr_16x64x128_c1x2_s8_one_tile");
  CHECK(make_kernel("gemm_sm90_" + types + "rcr_16x64x128_c2x1_s8_one_tile_exchanged_a8x32_group_scales"));
  check("alignment must be 8 and 32", types + "rcr_16x128x128_c1x1_s4_one_tile_exchanged_a8x16_group_scales");

  const std::string bytes = "rcr_16x128x128_c1x1_s4_one_tile_exchanged_a8x16_";
  CHECK(make_kernel("gemm_sm90_bf16_s8_f32_f32_" + bytes + "group_scales_k2"));
  CHECK(make_kernel("gemm_sm90_f16_u8_f32_f16_" + bytes + "zero_points"));
  check("zero_points are for weights of u4 and u8", "f16_s8_f32_f16_" + bytes + "zero_points");
  CHECK(make_kernel("gemm_sm90_f16_e4m3_f32_f16_" + bytes + "group_scales"));
  check("no matrix instruction has these types", "f16_e5m2_f32_f16_" + bytes + "group_scales");
  check("zero_points are for weights of u4 and u8", "f16_e4m3_f32_f16_" + bytes + "zero_points");
  check("weights have group_scales", "f16_s8_f32_f16_" + bytes + "vector_scales");
  check("tile.k must be 128 with weights of 8 bits",
        "f16_s8_f32_f16_rcr_16x128x256_c1x1_s3_one_tile_exchanged_a8x16_group_scales");
  check("weights are B", "s8_f16_f32_f16_" + bytes + "group_scales");
}

TEST_CASE("a gemm_sm90 config whose K groups break a constraint is refused with the constraint", "[own]") {
  const auto check = check_refused_on_hopper;
  const std::string weights = "f16_s4_f32_f16_rcr_", end = "_exchanged_a8x32_group_scales";
  const auto refused = [&](const std::string& what, const std::string& shape, const std::string& groups) {
    check(what, weights + shape + end + groups);
  };
  CHECK(make_kernel("gemm_sm90_" + weights + "16x128x128_c1x1_s8_one_tile" + end + "_k2"));
  check("k_groups are for weights", "f16_f16_f32_f16_rcr_64x64x64_c1x1_s6_one_tile_a8x8_k2");
  refused("k_groups are for weights", "16x128x128_c1x1_s4_cooperative", "_k2");
  refused("stages must be a multiple of k_groups", "16x64x128_c1x1_s8_one_tile", "_k3");
  refused("cluster.n must be 1 with weights", "8x64x256_c1x4_s12_one_tile", "_k4");
  refused("more than 1024 threads", "16x128x128_c1x1_s8_one_tile", "_k4");
  refused("the sums of k_groups do not fit", "128x128x128_c1x1_s3_one_tile", "_k3");
}

TEST_CASE("a gemm_sm90 config that breaks a constraint is refused with the constraint", "[own]") {
  const auto check = [](const std::string& what, const std::string& name) {
    const Result<Kernel> kernel = make_kernel("gemm_sm90_" + name);
    INFO(name);
    REQUIRE(!kernel);
    CHECK(kernel.status().code() == StatusCode::unsupported);
    CHECK_THAT(kernel.status().message(),
               Catch::Contains("`gemm_sm90_" + name + "`: ") && Catch::Contains(what));
  };
  check("no matrix instruction", "f16_bf16_f32_f16_rcr_128x128x64_c1x1_s4_cooperative_a8x8");
  check("no matrix instruction", "f32_f32_f32_f32_rcr_128x128x64_c1x1_s4_cooperative_a8x8");
  check("no matrix instruction", "f16_f16_f32_bf16_rcr_128x128x64_c1x1_s4_cooperative_a8x8");
  check("no matrix instruction", "f16_f16_f16_f32_rcr_128x128x64_c1x1_s4_cooperative_a8x8");
  check("no matrix instruction", "bf16_bf16_bf16_bf16_rcr_128x128x64_c1x1_s4_cooperative_a8x8");
  check("no matrix instruction", "s8_s8_s32_f16_rcr_128x128x64_c1x1_s4_cooperative_a16x16");

  const std::string rcr = "bf16_bf16_f32_bf16_rcr_", rrr = "bf16_bf16_f32_bf16_rrr_";
  const std::string ccr = "bf16_bf16_f32_bf16_ccr_";
  check("tile.m must be 64, 128, 192 or 256", rcr + "96x128x64_c1x1_s4_cooperative_a8x8");
  check("tile.m must be 64, 128, 192 or 256", rcr + "320x64x64_c1x1_s2_cooperative_a8x8");
  check("tile.n must be 64, 128, 192 or 256", rcr + "128x96x64_c1x1_s4_cooperative_exchanged_a8x8");
  check("tile.n must be a multiple of 8", rcr + "128x100x64_c1x1_s4_cooperative_a8x8");
  check("tile.n must be a multiple of 8", rcr + "128x264x64_c1x1_s2_cooperative_a8x8");
  check("tile.m must be a multiple of 8", rcr + "12x128x64_c1x1_s4_cooperative_exchanged_a8x8");
  check("tile.n must be a multiple of 16", rrr + "128x136x64_c1x1_s4_cooperative_a8x8");
  check("tile.m must be a multiple of 16", ccr + "24x128x64_c1x1_s4_cooperative_exchanged_a8x8");
  check("tile.k must be a multiple of 16", rcr + "128x128x40_c1x1_s4_cooperative_a8x8");
  check("tile.k must be a multiple of 16", rcr + "64x64x320_c1x1_s2_one_tile_a8x8");
  check("tile.k must be up to 64 or a multiple of 64", rcr + "128x128x96_c1x1_s4_cooperative_a8x8");

  check("cluster must be", rcr + "128x128x64_c8x1_s4_cooperative_a8x8");
  check("cluster must be", rcr + "128x128x64_c4x2_s4_cooperative_a8x8");
  check("cluster must be", rcr + "128x128x64_c1x3_s4_cooperative_a8x8");
  // Blocks whose shared operand cannot be cut in eights of lines load it in turns, if its lines are along K.
  check("cannot share the copies", rrr + "128x128x16_c4x1_s4_cooperative_a8x8");
  CHECK(make_kernel("gemm_sm90_" + rcr + "128x24x64_c2x1_s4_cooperative_a8x8"));
  CHECK(make_kernel("gemm_sm90_" + rrr + "24x128x64_c1x2_s4_cooperative_exchanged_a8x8"));

  check("cooperative schedule needs", rcr + "64x128x64_c1x1_s4_cooperative_a8x8");
  check("tile.n must be 128 or more", rcr + "128x64x64_c1x1_s4_cooperative_exchanged_a8x8");
  check("ping_pong schedule", rcr + "192x64x64_c1x1_s4_ping_pong_a8x8");
  check("needs tile.n 64 or 128", rcr + "64x256x64_c1x1_s4_ping_pong_exchanged_a8x8");
  check("256 registers for sums", rcr + "256x256x64_c1x1_s2_cooperative_a8x8");
  check("256 registers for sums", rcr + "128x256x64_c1x1_s3_ping_pong_a8x8");
  check("208 registers for sums", rcr + "256x208x64_c1x1_s2_cooperative_a8x8");
  // Three warpgroups that multiply start with 128 registers a thread.
  check("104 registers for sums, and can have 102", rcr + "192x208x64_c1x1_s3_cooperative_a8x8");
  CHECK(make_kernel("gemm_sm90_" + rcr + "192x192x64_c1x1_s3_cooperative_a8x8"));

  check("alignment must be 8 and 8", rcr + "128x128x64_c1x1_s4_cooperative_a8x4");
  check("alignment must be 8 and 8", rcr + "128x128x64_c1x1_s4_cooperative_a16x16");
  check("cp_async needs 3 stages", rcr + "128x128x64_c1x1_s2_cooperative_cp_async_a4x4");
  check("cp_async needs 3 stages", rcr + "64x64x64_c1x1_s2_one_tile_cp_async_a2x4");
  check("cluster must be 1x1", rcr + "128x128x64_c2x1_s4_cooperative_cp_async_a4x4");
  check("no ping_pong schedule", rcr + "128x128x64_c1x1_s4_ping_pong_cp_async_a4x4");
  check("alignment must be 2 or 4", rcr + "128x128x64_c1x1_s4_cooperative_cp_async_a8x8");
  check("alignment must be 2 or 4", rcr + "128x128x64_c1x1_s4_cooperative_cp_async_a1x4");
  check("tile.k must be 64", rcr + "128x128x32_c1x1_s4_cooperative_cp_async_a4x4");
  check("multiple of 64", rrr + "128x96x64_c1x1_s4_cooperative_cp_async_a4x4");
  const std::string bytes = "e4m3_e4m3_f32_bf16_rcr_";
  CHECK(make_kernel("gemm_sm90_" + bytes + "128x64x128_c1x1_s6_cooperative_cp_async_a4x8"));
  check("alignment must be 4 or 8", bytes + "128x64x128_c1x1_s6_cooperative_cp_async_a2x4");
  check("alignment must be 4 or 8", bytes + "128x64x128_c1x1_s6_cooperative_cp_async_a16x16");
  check("tile.k must be 128", bytes + "128x64x64_c1x1_s6_cooperative_cp_async_a4x4");
  check("contiguous along K", "e4m3_e4m3_f32_bf16_rrr_128x64x128_c1x1_s6_cooperative_cp_async_a4x4");
  check("16 and 8 bits", "f32_f32_f32_f32_rcr_64x8x32_c1x1_s6_one_tile_cp_async_fast_tf32_a2x2");

  check("stages must be 2 to 12", rcr + "64x64x64_c1x1_s1_one_tile_a8x8");
  check("stages must be 2 to 12", rcr + "64x16x16_c1x1_s13_one_tile_a8x8");
  check("multiple of 1024 bytes", rcr + "64x8x16_c1x1_s4_one_tile_a8x8");
  check("bytes of shared memory, more than any device has", rcr + "128x256x64_c1x1_s5_cooperative_a8x8");
}
