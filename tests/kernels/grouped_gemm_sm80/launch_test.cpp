// The host side of grouped_gemm_sm80: what it refuses, its launches.
#include <algorithm>
#include <string>

#include "grouped_gemm/family.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/prepared_launch.hpp"

namespace {

using namespace quarry;
using test::check_refused;
using test::launch_of;

Kernel kernel_of(const std::string& layouts, const std::string& rest = "128x128x32_w2x2x1_s4_a8x8") {
  return test::required_kernel("grouped_gemm_sm80_bf16_bf16_f32_bf16_" + layouts + "_" + rest);
}

Kernel narrow_kernel_of(const std::string& layouts) { return kernel_of(layouts, "64x64x64_w2x2x1_s3_a1x1"); }

TensorView fake(char layout, std::initializer_list<std::int64_t> extents) {
  return layout == 'r' ? TensorView::row_major(nullptr, DType::bf16, extents)
                       : TensorView::column_major(nullptr, DType::bf16, extents);
}

/// Three groups of each form, of 600 rows or positions of K in all.
GroupedGemmArguments contiguous(const std::string& layouts) {
  return {.a = fake(layouts[0], {600, 256}),
          .b = fake(layouts[1], {3, 256, 512}),
          .out = fake('r', {600, 512}),
          .sizes = TensorView::vector(nullptr, DType::s32, 3)};
}
GroupedGemmArguments masked(const std::string& layouts) {
  return {.a = fake(layouts[0], {3, 200, 256}),
          .b = fake(layouts[1], {3, 256, 512}),
          .out = fake('r', {3, 200, 512}),
          .sizes = TensorView::vector(nullptr, DType::s32, 3),
          .sizes_are = SizesAre::counts};
}
GroupedGemmArguments ragged(const std::string& layouts) {
  return {.a = fake(layouts[0], {256, 600}),
          .b = fake(layouts[1], {600, 512}),
          .out = fake('r', {3, 256, 512}),
          .sizes = TensorView::vector(nullptr, DType::s32, 3)};
}

}  // namespace

TEST_CASE("forms whose groups may begin within a copied piece are for an alignment of 1", "[grouped_gemm]") {
  for (const std::string layouts : {"rrr", "rcr", "crr", "ccr"}) {
    INFO(layouts);
    const Kernel kernel = kernel_of(layouts);
    CHECK(kernel.supports(masked(layouts)));
    if (layouts[0] == 'r') {
      CHECK(kernel.supports(contiguous(layouts)));
      check_refused(
          kernel, ragged(layouts),
          "Ragged K is unsupported by a kernel whose A is row-major, except with an alignment of 1");
    } else {
      check_refused(kernel, contiguous(layouts),
                    "Contiguous groups are unsupported by a kernel whose A is column-major, except with an "
                    "alignment of 1");
    }
    const Kernel narrow = narrow_kernel_of(layouts);
    CHECK(narrow.supports(contiguous(layouts)));
    CHECK(narrow.supports(masked(layouts)));
    CHECK(narrow.supports(ragged(layouts)));
  }
  CHECK(kernel_of("crr").supports(ragged("crr")));
  check_refused(kernel_of("ccr"), ragged("ccr"),
                "Ragged K is unsupported by a kernel whose B is column-major, except with an alignment of 1");
}

TEST_CASE("grouped_gemm_sm80 refuses what its copies do not take", "[grouped_gemm]") {
  GroupedGemmArguments bad = contiguous("rrr");
  bad.a.assumed_alignment = 8;
  check_refused(
      kernel_of("rrr"), bad,
      "Operand `a` is misaligned: expected a pointer that is a multiple of 8 elements, got a multiple of 4");
  CHECK(narrow_kernel_of("rrr").supports(bad));
  bad = contiguous("rrr");
  bad.b.strides[0] = 256 * 512 + 4;
  CHECK(kernel_of("rrr").supports(bad).reason() == Reason::batch_alignment);
  bad = contiguous("rrr");
  bad.b.strides[1] = 0;
  check_refused(kernel_of("rrr"), bad,
                "Operand `b` overlaps itself: expected a stride of at least 512 elements, got 0");
  bad = masked("rrr");
  bad.a.strides[0] = 0;  // all groups have the same rows
  CHECK(kernel_of("rrr").supports(bad));
}

TEST_CASE("a launch of grouped_gemm_sm80 has no more blocks than tiles, and no workspace", "[grouped_gemm]") {
  const auto prepared = launch_of(kernel_of("rrr"), contiguous("rrr"));
  const Launch& launch = prepared->launch;
  CHECK(launch.steps.count == 1);
  CHECK(launch.steps[0].grid == (600 / 128 + 3) * 4);  // each group has a tile that is not whole
  CHECK(launch.workspace_bytes == 0);
  GroupedGemmArguments many = contiguous("rrr");
  many.a = fake('r', {100000, 256});
  many.out = fake('r', {100000, 512});
  const unsigned blocks = launch_of(kernel_of("rrr"), many)->launch.steps[0].grid;
  CHECK(blocks >= 132);
  CHECK(blocks < 132 * 8);
}

TEST_CASE("types that grouped_gemm_sm80 cannot have are refused by name", "[grouped_gemm]") {
  const auto message = [](const std::string& rest) {
    return make_kernel("grouped_gemm_sm80_" + rest).status().message();
  };
  CHECK(message("f32_f32_f32_f32_rrr_128x128x32_w2x2x1_s4_a4x4").find("no matrix instruction") !=
        std::string::npos);
  CHECK(message("s8_s8_s32_s8_rrr_128x128x64_w2x2x1_s4_a16x16").find("contiguous along K") !=
        std::string::npos);
  CHECK(message("bf16_bf16_f32_bf16_rrc_128x128x32_w2x2x1_s4_a8x8").find("the output has any strides") !=
        std::string::npos);
  CHECK(message("s8_s8_s32_s8_CRC_64x64x64_w2x2x1_s4_a16x16").find("interleaved") != std::string::npos);
}

TEST_CASE("each form finds tensor cores before plain instructions", "[grouped_gemm]") {
  for (const std::string layouts : {"rrr", "rcr", "crr", "ccr"}) {
    for (const GroupedGemmArguments& args : {contiguous(layouts), masked(layouts), ragged(layouts)}) {
      const CandidateList found = get_kernels(args, *Filter::parse("family != grouped_gemm_sm90"));
      INFO(layouts << " " << found.status().message());
      REQUIRE(found.size() >= 2);
      CHECK(found.front().metadata().family == "grouped_gemm_sm80");
      CHECK(std::ranges::any_of(
          found, [](const Candidate& each) { return each.metadata().family == "grouped_gemm_simt"; }));
    }
  }
}
