/// Texts of configs, right and wrong.
#pragma once

#include <string>
#include <string_view>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

namespace quarry::test {

inline const std::string good =
    R"({"family": "gemm_sm80", "a": "f16", "b": "f16", "accumulator": "f32", "out": "f16", "layouts": "rcr", )"
    R"("tile": [96, 64, 48], "warps": [2, 2, 1], "stages": 3, "alignment": [8, 8]})";
/// Of a family with words; those left out are tma and direct.
inline const std::string good_sm90 =
    R"({"family": "gemm_sm90", "a": "bf16", "b": "bf16", "accumulator": "f32", "out": "bf16", )"
    R"("layouts": "rcr", "tile": [128, 96, 64], "cluster": [2, 1], "stages": 5, "schedule": "ping_pong", )"
    R"("alignment": [8, 8]})";
inline const std::string good_sm90_name = "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x96x64_c2x1_s5_ping_pong_a8x8";
inline const std::string good_name = "gemm_sm80_f16_f16_f32_f16_rcr_96x64x48_w2x2x1_s3_a8x8";

inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != text.npos);
  return text.replace(at, what.size(), by);
}

/// The message of a text that cannot be read.
inline std::string refused(std::string_view text) {
  const Result<Kernel> kernel = make_kernel(text);
  INFO(text.substr(0, 300));
  REQUIRE(!kernel);
  INFO(kernel.status().message());
  CHECK(kernel.status().code() == StatusCode::parse_error);
  return kernel.status().message();
}

}  // namespace quarry::test
