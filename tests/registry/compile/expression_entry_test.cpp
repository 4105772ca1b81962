/// Entries with an expression compiled in: their sources, and that they compile.
#include <string>

#include "operations/common/expression/interned.hpp"
#include "quarry/quarry.hpp"
#include "registry/compile/compiler.hpp"
#include "registry/compile/sources.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

const detail::InternedExpression& kept(std::string_view text, std::string_view with,
                                       DType sum = DType::none) {
  const Result<Expression> expression = Expression::parse(text, *expression::Declarations::parse(with, sum));
  INFO(expression.status().message());
  REQUIRE(expression);
  return *detail::interned(*expression);
}

constexpr std::string_view cases[][2] = {
    {"out = x + y", "x=bf16:row,y=bf16:row,out=bf16:row"},
    {"out = x", "x=f32:row,out=bf16:row"},
    {"out = gelu(x) * s; low = f64(tanh(x)) + d; bytes = x",
     "x=f16:row,s=f32:scalar,d=f64:per_row,out=f16:row,low=f64:row,bytes=s8:row"},
    {"out = max(x, y) * 3", "x=s8:row,y=u8:col,out=s32:row"},
    {"out = select(x < y, erf(x), log(y))", "x=e4m3:row,y=e5m2:per_column,out=f32:row"},
    {"out = 1", "out=u8:row"},
};

}  // namespace

TEST_CASE("entries with an expression have sources, which depend on it", "[compiler][elementwise]") {
  const auto& sum = kept(cases[0][0], cases[0][1]);
  const std::string name = detail::entry_name_with("elementwise_v8_u4", sum);
  const Result<detail::EntrySource> source = detail::entry_source(name);
  INFO(source.status().message());
  REQUIRE(source);
  CHECK(source->text.find("QUARRY_ENTRY(" + name + ",") != std::string::npos);
  CHECK(source->config.find("out = x + y with x=bf16:row,y=bf16:row,out=bf16:row") != std::string::npos);
  const auto& cast = kept(cases[1][0], cases[1][1]);
  const auto other = detail::entry_source(detail::entry_name_with("elementwise_v8_u4", cast));
  REQUIRE(other);
  CHECK(other->config != source->config);

  const auto refused = [](const std::string& entry, std::string_view why) {
    const Status status = detail::entry_source(entry).status();
    CHECK(status.code() == StatusCode::not_found);
    CHECK(status.message().find(why) != std::string::npos);
  };
  refused("elementwise_v8_u4_x0000000000000001", "no expression of its number");
  refused(detail::entry_name_with("elementwise_v3_u4", sum), "elements");
  refused(detail::entry_name_with("reorder_matrix_s8", sum), "take no expressions");
}

TEST_CASE("reductions of split-K have no code for pairs and reductions of an expression",
          "[compiler][reduce]") {
  const std::string name = detail::entry_name_with(
      "reduce_split_k_f32_f32", kept("out = sum; m = row_max(sum)", "out=f32:row,m=f32:per_row", DType::f32));
  const Status status = detail::entry_source(name).status();
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.message().find("gated pairs or reductions") != std::string::npos);
}

TEST_CASE("entries with an expression compile", "[compiler][elementwise]") {
  const Result<const detail::Compiler*> compiler = detail::find_compiler(CompilerBackend::automatic);
  if (!compiler) return;
  for (const auto& [text, with] : cases) {
    const std::string name = detail::entry_name_with("elementwise_v4_u2", kept(text, with));
    const Result<detail::EntrySource> source = detail::entry_source(name);
    INFO(text << ": " << source.status().message());
    REQUIRE(source);
    const auto code = (*compiler)->compile({source->text, name, 90, source->only_cc});
    INFO(code.status().message());
    REQUIRE(code);
    CHECK(code->resources.spill_bytes == 0);
  }
}

TEST_CASE("entries of products and of reductions with an expression compile",
          "[compiler][gemm][conv2d][grouped_gemm][gemm_list]") {
  struct Case {
    std::string_view kernel;
    DType sum;
    std::string_view text;
    std::string_view with;
  };
  const Case products[] = {
      {"gemm_simt_f32_f32_f32_f32_rcr_64x64x16_t4x4", DType::f32, "out = gelu(sum + bias) * gate",
       "bias=f32:per_column,gate=f32:col,out=f32:row"},
      {"gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s3_a8x8", DType::f32,
       "z = sum * s; out = relu(z) + r", "s=f32:scalar,r=f16:per_row,z=f64:row,out=f16:row"},
      {"gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x1_s4_cooperative_a8x8", DType::f32,
       "z = sum + bias; out = gelu(z) * gate", "bias=bf16:per_column,gate=bf16:row,z=f32:row,out=bf16:row"},
      {"gemm_sm90_s8_s8_s32_s8_rcr_128x128x128_c1x1_s4_cooperative_a16x16", DType::s32, "out = f32(sum) * s",
       "s=f32:per_column,out=s8:row"},
      {"conv2d_simt_fprop_f32_f32_f32_f32_64x64x16_t4x4", DType::f32, "out = silu(sum + bias)",
       "bias=f32:per_column,out=f32:row"},
      {"conv2d_sm80_fprop_bf16_bf16_f32_bf16_64x64x64_w2x2x1_s4_analytic_a8x8", DType::f32,
       "z = sum + bias; out = gelu(z) + x", "bias=bf16:per_column,x=bf16:row,z=f32:row,out=bf16:row"},
      {"conv2d_sm90_fprop_bf16_bf16_f32_bf16_128x256x64_c2x1_s4_cooperative", DType::f32,
       "z = sum + bias; out = gelu(z) + x", "bias=bf16:per_column,x=bf16:row,z=f32:row,out=bf16:row"},
      {"conv2d_sm90_wgrad_f16_f16_f32_f32_128x128x64_c1x1_s6_ping_pong", DType::f32, "out = sum * s + x",
       "s=f32:scalar,x=f32:row,out=f32:row"},
      {"grouped_gemm_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4", DType::f32, "out = silu(gate(sum)) * up(sum)",
       "out=f32:row"},
      {"grouped_gemm_sm80_bf16_bf16_f32_bf16_rcr_128x128x32_w2x2x1_s4_a8x8", DType::f32,
       "z = sum + bias; s = group_max(abs(z)) / 448; out = z / s",
       "bias=bf16:per_column,s=f32:col,out=bf16:row"},
      {"grouped_gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c1x1_s4_cooperative_a8x8", DType::f32,
       "z = sum + bias; out = gelu(z) * r", "bias=bf16:per_column,r=f32:per_row,z=f32:row,out=bf16:row"},
      {"grouped_gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c1x1_s4_cooperative_a8x8", DType::f32,
       "out = silu(gate(sum)) * up(sum)", "out=bf16:row"},
      {"grouped_gemm_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4", DType::f32,
       "out = sum; r = row_sum(sum); c = column_max(sum); m = max(sum)",
       "r=f32:per_row,c=f32:per_column,m=f32:scalar,out=f32:row"},
      {"grouped_gemm_sm80_bf16_bf16_f32_bf16_rcr_128x128x32_w2x2x1_s4_a8x8", DType::f32,
       "out = sum; c = column_sum(sum)", "c=f32:per_column,out=bf16:row"},
      {"grouped_gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x1_s4_cooperative_a8x8", DType::f32,
       "out = sum; r = row_max(abs(sum)); c = column_sum(sum); s = sum(sum)",
       "r=f32:per_row,c=f32:per_column,s=f32:scalar,out=bf16:row"},
      {"gemm_list_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4", DType::f32, "out = silu(gate(sum)) * up(sum)",
       "out=f32:row"},
      {"gemm_list_sm80_bf16_bf16_f32_bf16_rrr_128x128x32_w2x2x1_s4_a8x8", DType::f32,
       "out = silu(gate(sum)) * up(sum)", "out=bf16:row"},
      {"gemm_list_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x1_s4_cooperative_a8x8", DType::f32,
       "out = silu(gate(sum)) * up(sum)", "out=bf16:row"},
      {"gemm_list_sm90_bf16_bf16_f32_bf16_rrr_128x128x64_c1x1_s6_ping_pong_a8x8", DType::f32,
       "z = silu(gate8(sum)) * up8(sum); out = z", "z=f32:row,out=bf16:row"},
      {"gemm_list_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4", DType::f32,
       "out = sum; r = row_sum(sum); c = column_max(sum); m = max(sum)",
       "r=f32:per_row,c=f32:per_column,m=f32:scalar,out=f32:row"},
      {"gemm_list_sm80_bf16_bf16_f32_bf16_rrr_128x128x32_w2x2x1_s4_a8x8", DType::f32,
       "out = sum; c = column_sum(sum)", "c=f32:per_column,out=bf16:row"},
      {"gemm_list_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x1_s4_cooperative_a8x8", DType::f32,
       "out = sum; r = row_max(abs(sum)); c = column_sum(sum); s = sum(sum)",
       "r=f32:per_row,c=f32:per_column,s=f32:scalar,out=bf16:row"},
      {"reduce_split_k_f32_bf16", DType::f32, "z = sum + bias; out = gelu(z) * gate",
       "bias=bf16:per_column,gate=bf16:row,z=f32:row,out=bf16:row"},
      {"reduce_split_k_f64_f16", DType::f64, "out = f32(sum) * s", "s=f32:scalar,out=f16:row"},
      {"reduce_split_k_s32_u8", DType::s32, "out = f32(sum) * s", "s=f32:per_row,out=u8:row"}};
  const Result<const detail::Compiler*> compiler = detail::find_compiler(CompilerBackend::automatic);
  for (const Case& each : products) {
    const std::string name = detail::entry_name_with(each.kernel, kept(each.text, each.with, each.sum));
    const Result<detail::EntrySource> source = detail::entry_source(name);
    INFO(name << ": " << source.status().message());
    REQUIRE(source);
    CHECK(source->text.find("::Parameters<quarry::") != std::string::npos);
    if (!compiler) continue;
    const auto code = (*compiler)->compile({source->text, name, 90, source->only_cc});
    INFO(code.status().message());
    REQUIRE(code);
    CHECK(code->resources.spill_bytes == 0);
  }
}
