// Accounts: what predicted times are made of, from the model that ranks.
#include <algorithm>
#include <cmath>

#include "lab/problems/fresh_seed.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/random_reduction.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using test::Random;

/// Checks the account of each candidate of a query. @return candidates
template <class Arguments>
std::size_t check_accounts(const Arguments& arguments, const FindOptions& options) {
  const CandidateList found = get_kernels(arguments, {}, options);
  for (const Candidate& candidate : found) {
    CAPTURE(candidate.name());
    const Result<Account> account = account_of(candidate, arguments, options);
    REQUIRE(account);
    // One model: the same number, in the width in which candidates keep it.
    REQUIRE(static_cast<float>(account->seconds) == static_cast<float>(candidate.predicted_seconds()));
    for (const double part : account->seconds_of) {
      REQUIRE(std::isfinite(part));
      REQUIRE(part >= 0);
    }
    REQUIRE((*account)[account->limit()] == std::ranges::max(account->seconds_of));
    REQUIRE(account->bytes >= 0);
    REQUIRE(account->waves >= 0);
    // No part is longer than the whole, except for what overlaps within a K tile, which the model lets hide.
    REQUIRE((*account)[TimePart::launch] <= account->seconds * (1 + 1e-9));
    REQUIRE((*account)[TimePart::memory] <= account->seconds * (1 + 1e-9));
  }
  return found.size();
}

FindOptions on(const DeviceModel& device, std::size_t max_workspace) {
  return {.max_workspace = max_workspace, .device = &device};
}

}  // namespace

TEST_CASE("accounts: the whole is the predicted time of the candidate, for any GEMM, device and workspace") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  std::size_t candidates = 0;
  for (int i = 0; i < 150; ++i) {
    const GemmArguments args = test::problem_for(random, test::any_row(random));
    for (const DeviceModel& device : device_models())
      candidates += check_accounts(args, on(device, random() % 2 == 0 ? SIZE_MAX : random() % (1U << 22)));
  }
  CHECK(candidates > 1000);
}

TEST_CASE("accounts: sums are exchanged where K is cut, and only there") {
  const DeviceModel device = test::device_named("h200");
  const auto exchange = [&](Controls controls, std::string_view name) {
    GemmArguments args = test::plain_problem(512, 512, 8192);
    args.controls = controls;
    const Filter family = *Filter::parse("family == " + std::string(name));
    const CandidateList found = get_kernels(args, family, on(device, SIZE_MAX));
    REQUIRE_FALSE(found.empty());
    return (*account_of(found.front(), args, on(device, SIZE_MAX)))[TimePart::exchange];
  };
  for (const char* family : {"gemm_sm80", "gemm_sm90"}) {
    CHECK(exchange({.mode = Mode::gemm}, family) == 0);
    CHECK(exchange({.mode = Mode::split_k_parallel, .split_k_slices = 4}, family) > 0);
  }
}

TEST_CASE("accounts: the fewer blocks of gemm_sm90, the better math, copies and waits hide each other") {
  const DeviceModel device = test::device_named("h200");
  const FindOptions options = on(device, SIZE_MAX);
  int few = 0;
  int many = 0;
  for (const int size : {64, 128, 512, 1280}) {
    // So few K tiles that they hide nothing of device memory.
    GemmArguments args = test::plain_problem(size, size, 640);
    args.controls.mode = Mode::gemm;
    for (const Candidate& c : get_kernels(args, *Filter::parse("schedule == one_tile"), options)) {
      const Account account = *account_of(c, args, options);
      const double parts[] = {account[TimePart::math], account[TimePart::copies], account[TimePart::latency]};
      const double longest = std::ranges::max(parts);
      const double others = parts[0] + parts[1] + parts[2] - longest;
      double step = account.seconds;
      for (const TimePart part : {TimePart::launch, TimePart::memory, TimePart::ends, TimePart::epilogue})
        step -= account[part];
      const double shown = (step - longest) / others;
      CAPTURE(size, c.name(), account.waves, shown);
      REQUIRE(others > 0);
      if (account.waves < 0.1) CHECK(shown < 0.05);
      if (account.waves > 0.6 && account.waves <= 1) CHECK(shown > 0.1);
      few += account.waves < 0.1;
      many += account.waves > 0.6 && account.waves <= 1;
    }
  }
  CHECK(few > 10);
  CHECK(many > 5);
}

TEST_CASE("accounts: copies of rows that share lines of L2 are slow where many tiles read them") {
  const FindOptions options = on(test::device_named("h200"), SIZE_MAX);
  const Filter filter =
      *Filter::parse("name == gemm_sm90_e4m3_e4m3_f32_bf16_rcr_64x256x128_c1x1_s4_ping_pong_a16x16");
  // Seconds to copy the one K tile of each output tile.
  const auto copies = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t ld) {
    GemmArguments args = test::plain_problem(m, n, k, DType::e4m3);
    args.a = TensorView::row_major(nullptr, DType::e4m3, {m, k}, ld);
    args.b = TensorView::column_major(nullptr, DType::e4m3, {k, n}, ld);
    args.out = TensorView::row_major(nullptr, DType::bf16, {m, n});
    const CandidateList found = get_kernels(args, filter, options);
    REQUIRE(found.size() == 1);
    return (*account_of(found.front(), args, options))[TimePart::copies];
  };
  // Rows of 16 bytes: of the 256 columns of B each tile of 64x256 copies most. 76 tiles share them.
  const double crowded = copies(4838, 2048, 16, 16);
  CHECK(crowded > 5 * copies(4838, 2048, 16, 128));
  CHECK(crowded > 5 * copies(4838, 2048, 128, 128));
  CHECK(crowded > 5 * copies(64, 2048, 16, 16));  // each row of B is read by one tile
}

TEST_CASE("accounts: limits of well-known problems") {
  const DeviceModel device = test::device_named("h200");
  const auto limit = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const GemmArguments args = test::plain_problem(m, n, k);
    const Result<Candidate> best = find_best(args, {}, on(device, SIZE_MAX));
    REQUIRE(best);
    const Account account = *account_of(*best, args, on(device, SIZE_MAX));
    CHECK(account.operations == 2.0 * static_cast<double>(m * n * k));
    return account.limit();
  };
  CHECK(limit(8192, 8192, 8192) == TimePart::math);
  CHECK(limit(16, 65536, 4096) == TimePart::memory);
  CHECK(limit(16, 16, 16) == TimePart::launch);
}

TEST_CASE("accounts: reductions, copies and elementwise work") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const DeviceModel device = test::device_named("a100");
  for (const detail::Row& row : test::reduction_rows())
    CHECK(check_accounts(test::random_reduction(random, row, 400), on(device, SIZE_MAX)) > 0);
  const ReorderArguments copy = {.from = TensorView::row_major(nullptr, DType::f16, {512, 256}),
                                 .to = TensorView::column_major(nullptr, DType::f16, {512, 256})};
  CHECK(check_accounts(copy, on(device, SIZE_MAX)) > 0);
  CHECK(account_of(get_kernels(copy).front(), copy)->bytes == 2 * 2 * 512 * 256);
}

TEST_CASE("accounts: an output without elements takes no time") {
  const GemmArguments args = test::plain_problem(0, 64, 64);
  const Account account = *account_of(get_kernels(args).front(), args);
  CHECK(account.seconds == 0);
  CHECK(account.operations == 0);
}

TEST_CASE("accounts fail as candidates do") {
  const DeviceModel a100 = test::device_named("a100");
  const Filter hopper = *Filter::parse("family == gemm_sm90 and a.dtype == f16 and out.dtype == f16");
  const Kernel kernel = get_kernels(hopper).front();
  const GemmArguments args = test::plain_problem(64, 64, 64, DType::bf16);
  for (const auto& [arguments, device] :
       {std::pair{args, test::device_named("h200")}, std::pair{test::plain_problem(64, 64, 64), a100}}) {
    const FindOptions options = on(device, SIZE_MAX);
    const Status status = account_of(kernel, arguments, options).status();
    CHECK_FALSE(status);
    CHECK(status.message() == candidate_of(kernel, arguments, options).status().message());
  }
  const ReorderArguments other = {.from = TensorView::row_major(nullptr, DType::f16, {8, 8}),
                                  .to = TensorView::row_major(nullptr, DType::f16, {8, 8})};
  CHECK(account_of(kernel, other).status().code() == StatusCode::unsupported);
}

TEST_CASE("every part of a time has a word of its own") {
  for (int i = 0; i < time_part_count; ++i) {
    CHECK(to_string(static_cast<TimePart>(i)) != "unknown");
    for (int j = 0; j < i; ++j)
      CHECK(to_string(static_cast<TimePart>(i)) != to_string(static_cast<TimePart>(j)));
  }
  CHECK(to_string(static_cast<TimePart>(time_part_count)) == "unknown");
}
