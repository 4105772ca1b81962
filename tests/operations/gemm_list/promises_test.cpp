/// What callers promise of lists: what leading dimensions are multiples of, and the sizes that the host
/// counts.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "operations/gemm_list/lab/campaign.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/run_best.hpp"

using namespace quarry;
using test::run_best;

namespace {

constexpr std::size_t promise_bound = 64;
constexpr std::size_t promise_matrix = promise_bound * promise_bound;

/// -1, 0, 1 and 2 in f16, and as numbers.
constexpr std::array<std::uint16_t, 4> small_halves = {0xbc00, 0, 0x3c00, 0x4000};

/// Two problems in f16 within 64 x 64 x 64, whose sums are whole numbers. The second one is 9 x 20 x 21.
struct PromisedList {
  alignas(64) std::array<std::uint16_t, 2 * promise_matrix> a;
  alignas(64) std::array<std::uint16_t, 2 * promise_matrix> b;
  alignas(64) std::array<float, 2 * promise_matrix> out;
  std::vector<std::int32_t> sizes = {64, 64, 64, 9, 20, 21};
  std::vector<std::int32_t> leading = {64, 64, 64, 64, 21, 20, 20, 20};

  PromisedList() {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = small_halves[i * 7 % 61 % 4];
      b[i] = small_halves[i * 5 % 47 % 4];
    }
    clear();
  }

  void clear() { out.fill(-7); }

  GemmListArguments arguments(int alignment) const {
    GemmListArguments args;
    args.a = TensorView::row_major(a.data(), DType::f16, {2, 64, 64});
    args.b = TensorView::row_major(b.data(), DType::f16, {2, 64, 64});
    args.out = TensorView::row_major(out.data(), DType::f32, {2, 64, 64});
    args.sizes = TensorView::row_major(sizes.data(), DType::s32, {2, 3});
    args.leading = TensorView::row_major(leading.data(), DType::s32, {2, 4});
    args.leading_alignment = alignment;
    return args;
  }

  /// Whether the second problem's output is right, with these leading dimensions of A and B.
  bool is_right(std::size_t of_a, std::size_t of_b) const {
    const auto value = [](std::uint16_t half) {
      return static_cast<float>(std::ranges::find(small_halves, half) - small_halves.begin() - 1);
    };
    for (std::size_t i = 0; i < 9; ++i) {
      for (std::size_t j = 0; j < 20; ++j) {
        float sum = 0;
        for (std::size_t k = 0; k < 21; ++k)
          sum += value(a[promise_matrix + i * of_a + k]) * value(b[promise_matrix + k * of_b + j]);
        if (out[promise_matrix + i * 20 + j] != sum) return false;
      }
    }
    return out[promise_matrix + 9 * 20] == -7;
  }

  /// Whether nothing was written.
  bool is_clear() const {
    return std::ranges::all_of(out, [](float each) { return each == -7; });
  }
};

int alignment_of(const Kernel& kernel) { return kernel.metadata().operands.a.alignment; }

Status run_promised(const Kernel& kernel, const GemmListArguments& args) {
  const Result<std::size_t> bytes = kernel.workspace_size(args);
  if (!bytes) return bytes.status();
  std::vector<std::byte> memory(*bytes + 256);
  void* first = memory.data();
  std::size_t room = memory.size();
  std::align(256, *bytes, first, room);
  return kernel.run(args, {.workspace = {first, *bytes}});
}

/// Runs every kernel that takes the list; `check` says what must be true of each.
template <class Check>
void each_promised_kernel(PromisedList& list, const GemmListArguments& args, const Check& check) {
  const CandidateList found = get_kernels(args);
  INFO(found.status().message());
  REQUIRE_FALSE(found.empty());
  for (const auto& candidate : found) {
    const Kernel kernel(candidate);
    INFO(kernel.name());
    list.clear();
    check(kernel, run_promised(kernel, args));
  }
}

bool is_any_aligned(const GemmListArguments& args, int alignment) {
  const CandidateList found = get_kernels(args);
  return std::ranges::any_of(found,
                             [&](const auto& each) { return alignment_of(Kernel(each)) == alignment; });
}

/// Problems in f32 within 70 x 66 x 5, whose sizes the host is told otherwise.
struct CountedList {
  std::vector<float> a, b, out;
  std::vector<std::int32_t> sizes, promised;
  std::int64_t count;

  explicit CountedList(std::int64_t problems) : count(problems) {
    const auto all = static_cast<std::size_t>(problems);
    a.assign(all * 70 * 5, 1);
    b.assign(all * 5 * 66, 1);
    out.assign(all * 70 * 66, -7);
    for (std::size_t i = 0; i < all; ++i) sizes.insert(sizes.end(), {70, 66, 5});
    promised = sizes;
  }

  GemmListArguments arguments() const {
    GemmListArguments args;
    args.a = TensorView::row_major(a.data(), DType::f32, {count, 70, 5});
    args.b = TensorView::row_major(b.data(), DType::f32, {count, 5, 66});
    args.out = TensorView::row_major(out.data(), DType::f32, {count, 70, 66});
    args.sizes = TensorView::row_major(sizes.data(), DType::s32, {count, 3});
    args.host_sizes = promised;
    args.schedule = ListSchedule::host;
    return args;
  }
};

}  // namespace

TEST_CASE("gemm_list: leading dimensions of which nothing is promised are right in every kernel",
          "[gemm_list]") {
  const auto list = std::make_unique<PromisedList>();
  for (const bool clamps : {false, true}) {
    GemmListArguments args = list->arguments(1);
    args.clamp_host_sizes = clamps;
    REQUIRE(run_best(args));
    CHECK(list->is_right(21, 20));
    each_promised_kernel(*list, args, [&](const Kernel& kernel, const Status& done) {
      INFO(done.message());
      CHECK(done);
      CHECK(alignment_of(kernel) == 1);
      CHECK(list->is_right(21, 20));
    });
  }
}

TEST_CASE("gemm_list: a promise of leading dimensions lets aligned kernels in", "[gemm_list]") {
  const auto list = std::make_unique<PromisedList>();
  list->leading = {64, 64, 64, 64, 24, 32, 20, 20};
  GemmListArguments args = list->arguments(8);
  CHECK(is_any_aligned(args, 8));
  each_promised_kernel(*list, args, [&](const Kernel&, const Status& done) {
    INFO(done.message());
    CHECK(done);
    CHECK(list->is_right(24, 32));
  });
  // 12 is a multiple of 4 alone, and 16 and 24 of 8.
  for (const int promise : {1, 2, 4, 7, 12, 20}) CHECK_FALSE(is_any_aligned(list->arguments(promise), 8));
  for (const int promise : {16, 24, 64}) CHECK(is_any_aligned(list->arguments(promise), 8));
  args = list->arguments(1);
  args.leading.reset();
  CHECK(is_any_aligned(args, 8));
}

TEST_CASE("gemm_list: lines of operands that have one need no promise", "[gemm_list]") {
  GemmListArguments args;
  args.a = TensorView::row_major(nullptr, DType::f16, {2, 1, 64});
  args.b = TensorView::column_major(nullptr, DType::f16, {2, 64, 1});
  args.out = TensorView::row_major(nullptr, DType::f32, {2, 1, 1});
  args.sizes = TensorView::row_major(nullptr, DType::s32, {2, 3});
  args.leading = TensorView::row_major(nullptr, DType::s32, {2, 4});
  CHECK(is_any_aligned(args, 8));
  args.a = TensorView::row_major(nullptr, DType::f16, {2, 2, 64});
  args.out = TensorView::row_major(nullptr, DType::f32, {2, 2, 1});
  CHECK_FALSE(is_any_aligned(args, 8));
}

TEST_CASE("gemm_list: a broken promise of leading dimensions is refused, or rounded", "[gemm_list]") {
  const auto list = std::make_unique<PromisedList>();
  GemmListArguments args = list->arguments(8);
  REQUIRE(is_any_aligned(args, 8));
  each_promised_kernel(*list, args, [&](const Kernel& kernel, const Status& done) {
    if (alignment_of(kernel) == 1) {
      CHECK(done);
      CHECK(list->is_right(21, 20));
      return;
    }
    CHECK(done.message() ==
          "Operand `leading` is wrong at problem 1: for a it is 21, and `leading_alignment` promises a "
          "multiple of 8");
    CHECK(list->is_clear());
  });
  args.clamp_host_sizes = true;
  each_promised_kernel(*list, args, [&](const Kernel& kernel, const Status& done) {
    CHECK(done);
    CHECK((alignment_of(kernel) == 1 ? list->is_right(21, 20) : list->is_right(24, 24)));
  });
}

TEST_CASE("gemm_list: kernels that need more than is promised say so", "[gemm_list]") {
  const auto list = std::make_unique<PromisedList>();
  const CandidateList found = get_kernels(list->arguments(8));
  const auto aligned =
      std::ranges::find_if(found, [](const auto& each) { return alignment_of(Kernel(each)) == 8; });
  REQUIRE(aligned != found.end());
  const Kernel kernel(*aligned);
  const GemmListArguments args = list->arguments(4);
  const Status refused = kernel.supports(args);
  CHECK(refused.message() ==
        "`leading_alignment` promises too little: expected a multiple of 8 elements, got 4");
  CHECK(refused.operand() == Operand::leading);
  const auto fault = [&](const GemmListArguments& of) {
    return lab::gemm_list::fault_of_refusal(refused, kernel.metadata(), of, default_device_model());
  };
  CHECK(fault(args) == "");
  CHECK(fault(list->arguments(8)) != "");
  for (const int wrong : {0, -8}) {
    CHECK(get_kernels(list->arguments(wrong)).status().message() ==
          "`leading_alignment` is " + std::to_string(wrong) + ": expected 1 or more elements");
  }
}

TEST_CASE("gemm_list: sizes that the host counts are refused where they make no sense", "[gemm_list]") {
  CountedList list(2);
  REQUIRE(run_best(list.arguments()));
  const auto check = [&](std::size_t place, std::int32_t extent, const std::string& words) {
    list.promised = list.sizes;
    list.promised[place] = extent;
    GemmListArguments args = list.arguments();
    CHECK(get_kernels(args).status().message() == "`host_sizes` is wrong at problem " + words);
    args.schedule = ListSchedule::device;  // a hint
    CHECK_FALSE(get_kernels(args).empty());
    args.schedule = ListSchedule::host;
    args.clamp_host_sizes = true;
    CHECK(run_best(args));
  };
  check(0, -5, "0: its M is -5, which is negative");
  check(4, 67, "1: its N is 67, and the bound is 66");
  check(5, 999, "1: its K is 999, and the bound is 5");
  list.promised[5] = 999;
  GemmListArguments args = list.arguments();
  args.epilogue.alpha = 0;  // K is not looked at
  CHECK(run_best(args));
}

TEST_CASE("gemm_list: the host finds sizes that have other tiles than were promised", "[gemm_list]") {
  CountedList list(3);
  list.promised = {70, 66, 5, 64, 66, 5, 70, 66, 5};
  const GemmListArguments args = list.arguments();
  CHECK(run_best(args).message() ==
        "Operand `sizes` is wrong at problem 1: it has 4 tiles of 64x64, and `host_sizes` promised 2, as "
        "`schedule` is host");
  CHECK(std::ranges::all_of(list.out, [](float each) { return each == -7; }));
  list.promised = {65, 65, 0, 70, 66, 5, 66, 65, 1};  // other sizes of the same tiles
  CHECK(run_best(list.arguments()));
  CHECK(std::ranges::all_of(list.out, [](float each) { return each == 5; }));
  list.promised.assign(9, 0);
  GemmListArguments clamped = list.arguments();
  CHECK_FALSE(run_best(clamped));
  clamped.clamp_host_sizes = true;
  CHECK(run_best(clamped));
  list.promised = list.sizes;
  list.sizes[3] = 71;
  CHECK(run_best(list.arguments()).message() ==
        "Operand `sizes` is wrong at problem 1: its M is 71, and the bound is 70");

  CountedList many(150);  // stretches of three problems
  many.promised[3 * 100] = 1;
  CHECK(run_best(many.arguments()).message() ==
        "Operand `sizes` is wrong at problems 99 to 101: they have 12 tiles of 64x64, and `host_sizes` "
        "promised 10, as `schedule` is host");
}
