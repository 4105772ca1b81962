/// Every refusal makes one sentence that names what is at fault, what was expected and what was got.
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "quarry/status.hpp"
#include "quarry/types.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

std::string sentence(Reason reason, Operand operand, std::int64_t expected = 0, std::int64_t got = 0) {
  return Status(StatusCode::unsupported, reason, operand, expected, got).message();
}

std::int64_t number(auto value) { return static_cast<std::int64_t>(value); }

TEST_CASE("A status that is ok says so", "[status]") {
  const Status ok;
  CHECK(ok);
  CHECK(ok.code() == StatusCode::ok);
  CHECK(ok.message() == "ok");
}

TEST_CASE("A status with a text of its own says it", "[status]") {
  const Status status(StatusCode::not_found, "no such thing");
  CHECK_FALSE(status);
  CHECK(status.code() == StatusCode::not_found);
  CHECK(status.message() == "no such thing");
  const Status copy = status;
  CHECK(copy.message() == "no such thing");
}

TEST_CASE("A failure whose text is gone, or never was, says its code", "[status]") {
  Status status(StatusCode::not_found, "no such thing");
  const Status moved = std::move(status);
  CHECK(moved.message() == "no such thing");
  CHECK((status.message() == "not_found" || status.message() == "ok"));
  CHECK(sentence(Reason::text, Operand::a) == "unsupported");
}

TEST_CASE("A failure with another message keeps its reason and its operand", "[status]") {
  const Status status = Status(StatusCode::unsupported, Reason::rank, Operand::b, 2, 3).with_message("so");
  CHECK(status.message() == "so");
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.reason() == Reason::rank);
  CHECK(status.operand() == Operand::b);
}

TEST_CASE("A failure without a reason says its code", "[status]") {
  CHECK(sentence(Reason::none, Operand::none) == "unsupported");
}

TEST_CASE("A result gives its value, or another one", "[status]") {
  const Result<int> seven = 7;
  const Result<int> none = Status(StatusCode::not_found, "no such number");
  CHECK(seven.value_or(3) == 7);
  CHECK(none.value_or(3) == 3);
  using Text = Result<std::unique_ptr<int>>;
  CHECK(*Text(std::make_unique<int>(5)).value_or(nullptr) == 5);
  CHECK(Text(Status(StatusCode::not_found, "no such number")).value_or(nullptr) == nullptr);
}

TEST_CASE("A program can ask why a call refused", "[status]") {
  const quarry::Reason why =
      Status(StatusCode::unsupported, Reason::k_limit, Operand::none, 256, 300).reason();
  CHECK(why == Reason::k_limit);
  CHECK(Status().reason() == Reason::none);
}

TEST_CASE("Refusals of operands are sentences", "[status]") {
  CHECK(sentence(Reason::dtype, Operand::a, number(DType::f16), number(DType::bf16)) ==
        "Operand `a` is unsupported: expected f16, got bf16");
  CHECK(sentence(Reason::layout, Operand::b, number(Layout::row), number(Layout::column)) ==
        "Operand `b` is unsupported: expected row layout, got column layout");
  CHECK(sentence(Reason::layout, Operand::b, number(Layout::column), -1) ==
        "Operand `b` is unsupported: expected column layout, got neither row nor column layout");
  CHECK(sentence(Reason::pointer_alignment, Operand::out, 8, 2) ==
        "Operand `out` is misaligned: expected a pointer that is a multiple of 8 elements, got a multiple of "
        "2");
  CHECK(sentence(Reason::leading_alignment, Operand::a, 8, 36) ==
        "Operand `a` is misaligned: expected a leading dimension that is a multiple of 8 elements, got 36");
  CHECK(sentence(Reason::leading_alignment, Operand::leading, 8, 4) ==
        "`leading_alignment` promises too little: expected a multiple of 8 elements, got 4");
  CHECK(sentence(Reason::batch_alignment, Operand::b, 8, 1156) ==
        "Operand `b` is misaligned: expected a batch stride that is a multiple of 8 elements, got 1156");
  CHECK(sentence(Reason::tag, Operand::c, number(LayoutTag::column_interleaved32),
                 number(LayoutTag::strided)) ==
        "Operand `c` is stored differently from `out`: expected column_interleaved32, got strided");
  CHECK(
      sentence(Reason::tag, Operand::out, number(LayoutTag::strided), number(LayoutTag::row_interleaved32)) ==
      "Operand `out` is unsupported: expected strided, got row_interleaved32");
  CHECK(sentence(Reason::null_data, Operand::c) == "Operand `c` has no data: expected a pointer, got null");
  CHECK(sentence(Reason::missing, Operand::c) == "Operand `c` is missing: expected a value, got none");
  CHECK(sentence(Reason::mixed_devices, Operand::bias, number(Operand::out), number(Operand::out)) ==
        "Operand `bias` lies elsewhere: expected the device of `out`, got another one");
  CHECK(sentence(Reason::mixed_devices, Operand::bias, 1, 0) ==
        "Operand `bias` lies elsewhere: expected memory of CUDA device 1, got memory of device 0");
  CHECK(sentence(Reason::array_place, Operand::a) ==
        "Operand `a` lies elsewhere: expected its array of pointers in device memory, as the other operands, "
        "got host memory");
  CHECK(
      sentence(Reason::mode_array, Operand::b) ==
      "Mode `array` is unsupported: expected matrices by a pointer and a stride, got an array of pointers as "
      "`b`");
  CHECK(sentence(Reason::no_operand, Operand::a_scale) ==
        "Operand `a_scale` is unsupported: expected none, got a tensor");
  CHECK(sentence(Reason::output_overlap, Operand::out, 0, number(Operand::aux)) ==
        "Operand `out` overlaps `aux`: expected memory of its own, got memory of `aux`");
  CHECK(sentence(Reason::output_overlap, Operand::c, 1, number(Operand::out)) ==
        "Operand `c` overlaps `out`: expected memory of its own, or exactly the memory of `out`, got a part "
        "of it");
}

TEST_CASE("Refusals of shapes are sentences", "[status]") {
  CHECK(sentence(Reason::rows, Operand::b, 128, 64) ==
        "Operand `b` does not fit: expected 128 rows (K), got 64");
  CHECK(sentence(Reason::columns, Operand::b, 128, 64) ==
        "Operand `b` does not fit: expected 128 columns (N), got 64");
  CHECK(sentence(Reason::rows, Operand::out, 128, 64) ==
        "Operand `out` does not fit: expected 128 rows (M), got 64");
  CHECK(sentence(Reason::columns, Operand::a, 1, 2) ==
        "Operand `a` does not fit: expected 1 columns (K), got 2");
  CHECK(sentence(Reason::batch, Operand::a, 4, 2) ==
        "Operand `a` does not fit: expected a batch of 4, got 2");
  CHECK(sentence(Reason::extent, Operand::bias, 128, 64) ==
        "Operand `bias` does not fit: expected an extent of 128, got 64");
  CHECK(sentence(Reason::interleaved_extent, Operand::a, 32, 33) ==
        "Operand `a` is interleaved: expected extents that are multiples of 32, got 33");
  CHECK(sentence(Reason::rank, Operand::a, 2, 4) == "Operand `a` does not fit: expected rank 2, got rank 4");
  CHECK(sentence(Reason::negative_extent, Operand::a, 0, -3) ==
        "Operand `a` has a negative extent: expected 0 or more, got -3");
  CHECK(sentence(Reason::extent_limit, Operand::a, 2147483647, 2147483648) ==
        "Operand `a` is too large: expected an extent of at most 2147483647, got 2147483648");
  CHECK(sentence(Reason::negative_stride, Operand::a, 0, -1) ==
        "Operand `a` has a negative stride: expected 0 or more elements, got -1");
  CHECK(sentence(Reason::overlapping_stride, Operand::out, 64, 32) ==
        "Operand `out` overlaps itself: expected a stride of at least 64 elements, got 32");
  CHECK(sentence(Reason::overlapping_input, Operand::a, 64, 32) ==
        "Operand `a` overlaps itself: expected a leading dimension of at least 64 elements, of 0, or a view "
        "that says "
        "`overlapping`, got 32");
  CHECK(sentence(Reason::stride_limit, Operand::a, std::int64_t{1} << 40, std::int64_t{1} << 41) ==
        "Operand `a` has too large a stride: expected less than 1099511627776 bytes, got 2199023255552");
}

TEST_CASE("Refusals of devices, controls and workspaces are sentences", "[status]") {
  CHECK(sentence(Reason::compute_capability, Operand::none, 80, 75) ==
        "The device is unsupported: expected compute capability at least 8.0, got 7.5");
  CHECK(sentence(Reason::compute_capability, Operand::none, 90, 100) ==
        "The device is unsupported: expected compute capability at most 9.0, got 10.0");
  CHECK(sentence(Reason::shared_memory, Operand::none, 166912, 101376) ==
        "The device is unsupported: expected 166912 bytes of shared memory for a block, got 101376");
  CHECK(sentence(Reason::mode, Operand::none, 0, number(Mode::split_k_serial)) ==
        "Control `mode` is unsupported: expected a mode that the kernel permits, got split_k_serial");
  CHECK(sentence(Reason::split_k_slices, Operand::none, 16, 32) ==
        "Control `split_k_slices` is unsupported: expected 1 to 16, got 32");
  CHECK(sentence(Reason::k_limit, Operand::none, 256, 257) ==
        "K is unsupported: expected at most 256, got 257");
  CHECK(sentence(Reason::swizzle, Operand::none, 0, 3) ==
        "Control `swizzle` is unsupported: expected 1, 2, 4 or 8, got 3");
  CHECK(sentence(Reason::control, Operand::none, 0, number(detail::ControlName::swizzle)) ==
        "Control `swizzle` is unsupported: expected it unset, got a value");
  CHECK(sentence(Reason::control, Operand::none, 0, number(detail::ControlName::multiprocessors)) ==
        "Control `multiprocessors` is unsupported: expected it unset, got a value");
  CHECK(sentence(Reason::multiprocessors, Operand::none, 4, 2) ==
        "Control `multiprocessors` is unsupported: expected at least 4, got 2");
  CHECK(sentence(Reason::workspace_size, Operand::workspace, 1024, 0) ==
        "Operand `workspace` is too small: expected 1024 bytes, got 0");
  CHECK(sentence(Reason::workspace_alignment, Operand::workspace, 256) ==
        "Operand `workspace` is misaligned: expected a multiple of 256 bytes, got another address");
  CHECK(sentence(Reason::grid_limit, Operand::none, 10, 11) ==
        "The problem is too large: expected at most 10 blocks, got 11");
}

TEST_CASE("Any reason with any numbers is one line with expected and got", "[status]") {
  constexpr std::int64_t numbers[] = {0, -1, 1000, std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max()};
  std::set<std::string> about;
  for (std::int64_t reason = number(Reason::dtype); reason <= number(Reason::grid_limit); ++reason) {
    for (int operand = 0; operand <= number(last_operand); ++operand) {
      for (const std::int64_t value : numbers) {
        const std::string message =
            sentence(static_cast<Reason>(reason), static_cast<Operand>(operand), value, value);
        INFO("reason " << reason << ": " << message);
        CHECK(message.find(": expected ") != message.npos);
        CHECK(message.find(", got ") != message.npos);
        CHECK(message.find('\n') == message.npos);
      }
    }
    about.insert(sentence(static_cast<Reason>(reason), Operand::a, 1, 2));
  }
  // No two reasons are told alike.
  CHECK(about.size() == static_cast<std::size_t>(number(Reason::grid_limit) - number(Reason::dtype) + 1));
}

TEST_CASE("A result is a value or a status", "[status]") {
  const Result<int> value = 3;
  REQUIRE(value);
  CHECK(*value == 3);
  CHECK(value.status());
  const Result<int> none = Status(StatusCode::no_device, "none");
  CHECK_FALSE(none);
  CHECK(none.status().code() == StatusCode::no_device);
}

}  // namespace
}  // namespace quarry
