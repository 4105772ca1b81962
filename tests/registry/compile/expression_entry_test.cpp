/// Entries with an expression compiled in: their sources, and that they compile.
#include <string>

#include "operations/common/expression/interned.hpp"
#include "quarry/quarry.hpp"
#include "registry/compile/compiler.hpp"
#include "registry/compile/sources.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

const detail::InternedExpression& kept(std::string_view text, std::string_view with) {
  const Result<Expression> expression =
      Expression::parse(text, *expression::Declarations::parse(with, DType::none));
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
