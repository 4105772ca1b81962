/// The words of the enums, there and back.
#include <string>

#include "basic/words.hpp"
#include "quarry/operation.hpp"
#include "quarry/tensor.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

TEST_CASE("Every type but none parses back", "[words]") {
  for (int i = 1; i < dtype_count; ++i) {
    const auto type = static_cast<DType>(i);
    const auto parsed = parse_dtype(to_string(type));
    INFO(to_string(type));
    REQUIRE(parsed);
    CHECK(*parsed == type);
  }
  CHECK(to_string(DType::none) == "none");
  CHECK_FALSE(parse_dtype("none"));
}

TEST_CASE("Every layout parses back", "[words]") {
  for (int i = 0; i < layout_count; ++i) {
    const auto parsed = parse_layout(to_string(static_cast<Layout>(i)));
    REQUIRE(parsed);
    CHECK(static_cast<int>(*parsed) == i);
  }
  CHECK(parse_layout("rows").status().code() == StatusCode::not_found);
  CHECK(parse_layout("rows").status().message() == "unknown layout `rows`; did you mean `row`?");
  CHECK(parse_layout("").status().code() == StatusCode::parse_error);
}

TEST_CASE("Every mode and activation parses back", "[words]") {
  for (int i = 0; i <= static_cast<int>(Mode::split_k_cluster); ++i) {
    const auto parsed = parse_mode(to_string(static_cast<Mode>(i)));
    REQUIRE(parsed);
    CHECK(static_cast<int>(*parsed) == i);
  }
  for (int i = 0; i <= static_cast<int>(Direction::wgrad); ++i) {
    const auto parsed = parse_direction(to_string(static_cast<Direction>(i)));
    REQUIRE(parsed);
    CHECK(static_cast<int>(*parsed) == i);
  }
  for (int i = 0; i <= static_cast<int>(Raster::along_m); ++i) {
    const auto parsed = parse_raster(to_string(static_cast<Raster>(i)));
    REQUIRE(parsed);
    CHECK(static_cast<int>(*parsed) == i);
  }
  for (int i = 0; i <= static_cast<int>(Activation::gelu_tanh); ++i) {
    const auto parsed = parse_activation(to_string(static_cast<Activation>(i)));
    REQUIRE(parsed);
    CHECK(static_cast<int>(*parsed) == i);
  }
}

TEST_CASE("Words are those of the documents", "[words]") {
  CHECK(to_string(DType::bf16) == "bf16");
  CHECK(to_string(DType::e4m3) == "e4m3");
  CHECK(to_string(DType::u4) == "u4");
  CHECK(to_string(Layout::row) == "row");
  CHECK(to_string(Layout::column) == "column");
  CHECK(to_string(Layout::row_interleaved32) == "row_interleaved32");
  CHECK(to_string(Layout::column_interleaved32) == "column_interleaved32");
  CHECK(to_string(LayoutTag::strided) == "strided");
  CHECK(to_string(LayoutTag::column_interleaved32) == "column_interleaved32");
  CHECK(to_string(Operation::gemm) == "gemm");
  CHECK(to_string(Mode::split_k_serial) == "split_k_serial");
  CHECK(to_string(Activation::gelu_tanh) == "gelu_tanh");
  CHECK(to_string(MathUnit::tensor_core) == "tensor_core");
  CHECK(to_string(Raster::along_m) == "along_m");
  CHECK(to_string(Schedule::one_tile) == "one_tile");
  CHECK(to_string(Schedule::stream_k) == "stream_k");
  CHECK(to_string(Mode::stream_k) == "stream_k");
  CHECK(to_string(CopyEngine::cp_async) == "cp_async");
  CHECK(to_string(Orientation::exchanged) == "exchanged");
  CHECK(to_string(Operand::workspace) == "workspace");
  CHECK(to_string(StatusCode::ok) == "ok");
  CHECK(to_string(StatusCode::invalid_arguments) == "invalid_arguments");
  CHECK(to_string(StatusCode::parse_error) == "parse_error");
}

TEST_CASE("A value outside its enum has a word too", "[words]") {
  CHECK(to_string(static_cast<DType>(200)) == "unknown");
  CHECK(to_string(static_cast<StatusCode>(99)) == "unknown");
}

TEST_CASE("An unknown word is refused with the nearest ones", "[words]") {
  const auto type = parse_dtype("fp16");
  REQUIRE_FALSE(type);
  CHECK(type.status().code() == StatusCode::not_found);
  CHECK(type.status().message() == "unknown type `fp16`; did you mean `f16` or `bf16`?");
  CHECK(parse_dtype("e4m4").status().message() == "unknown type `e4m4`; did you mean `e4m3` or `e5m2`?");
  for (const auto& [name, word] :
       {std::pair("half", "f16"), {"int8", "s8"}, {"Float", "f32"}, {"fp8_e4m3", "e4m3"}}) {
    CHECK(parse_dtype(name).status().message() ==
          "unknown type `" + std::string(name) + "`; did you mean `" + word + "`?");
  }
  CHECK(parse_activation("RELU").status().message() == "unknown activation `RELU`; did you mean `relu`?");
  CHECK(parse_mode("splitk_serial").status().message() ==
        "unknown mode `splitk_serial`; did you mean `split_k_serial`?");
}

TEST_CASE("Where no word is near, all are listed", "[words]") {
  CHECK(parse_mode("quux").status().message() ==
        "unknown mode `quux`; expected `gemm`, `split_k_serial`, `split_k_parallel`, "
        "`split_k_cluster` or `stream_k`");
}

TEST_CASE("Words that are none do no harm", "[words]") {
  CHECK(parse_dtype("").status().code() == StatusCode::parse_error);
  for (const std::string& text :
       {std::string("f16\n"), std::string("f16\0", 4), std::string(100000, 'f'), std::string("\xff\xfe")}) {
    const auto parsed = parse_dtype(text);
    REQUIRE_FALSE(parsed);
    const std::string message = parsed.status().message();
    CHECK(message.size() < 300);
    CHECK(message.find('\n') == message.npos);
    CHECK(message.find('\0') == message.npos);
    CHECK(message.find('\xff') == message.npos);
  }
}

}  // namespace
}  // namespace quarry
