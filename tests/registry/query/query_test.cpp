// Finding kernels: the whole sentence, and each of its parts.
#include "registry/query/operation_info.hpp"
#include "support/gemm_rules.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "operations/gemm/normalise.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "registry/compile/store.hpp"
#include "registry/operation.hpp"
#include "registry/query/explain.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"
#include "support/same_answers.hpp"

namespace {

using namespace quarry;
using detail::Row;
using test::between;
using test::check_same;
using test::coin;
using test::Random;

using test::h200;
using test::on_h200;

std::vector<std::string_view> names(const CandidateList& list) {
  std::vector<std::string_view> all;
  for (const Candidate& candidate : list) all.push_back(candidate.name());
  return all;
}

/// Every row of the table that takes the arguments, one by one, in registry order.
std::vector<std::string_view> taken_one_by_one(const GemmArguments& args, const DeviceModel& device) {
  std::vector<std::string_view> all;
  for (const Row& row : detail::rows()) {
    GemmProblem problem;
    ChosenControls controls;
    if (test::resolve(row, args, {}, device, problem, controls)) all.push_back(row.metadata.name);
  }
  return all;
}

std::size_t rejected(const CandidateList& list) {
  std::size_t sum = 0;
  for (const Rejection& rejection : list.rejections()) sum += rejection.kernels;
  return sum;
}

std::size_t rows_of_keys(const GemmArguments& args) {
  GemmProblem problem;
  REQUIRE(test::normalise(args, problem));
  return detail::rows_of<detail::gemm::Rules>(problem).rows();
}

}  // namespace

TEST_CASE("the table is sorted as its indexes say", "[query]") {
  const auto ranges = detail::key_ranges();
  REQUIRE_FALSE(ranges.empty());
  std::size_t rows = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (i > 0) REQUIRE(ranges[i - 1].key < ranges[i].key);
    REQUIRE(detail::find_key(ranges, ranges[i].key) == &ranges[i]);
    REQUIRE(detail::find_key(ranges, ranges[i].key + 1) ==
            (i + 1 < ranges.size() && ranges[i + 1].key == ranges[i].key + 1 ? &ranges[i + 1] : nullptr));
    rows += ranges[i].end - ranges[i].begin;
    for (const Row& row : detail::rows().subspan(ranges[i].begin, ranges[i].end - ranges[i].begin)) {
      REQUIRE(detail::functional_key(row.metadata.operation, row.metadata.design.math, test::types_of(row),
                                     test::layouts_of(row),
                                     row.metadata.operands.scales != ScaleSupport::none,
                                     row.metadata.direction.value_or(Direction::fprop)) == ranges[i].key);
    }
  }
  CHECK(rows == detail::rows().size());
  CHECK(detail::find_key(ranges, 0) == nullptr);
  CHECK(detail::find_key({}, 7) == nullptr);
}

TEST_CASE("an answer holds exactly the kernels that take the problem", "[query]") {
  const auto seed = GENERATE(1U, 2U);
  INFO("seed " << seed);
  Random random(seed);
  const std::vector<DeviceModel> devices = test::some_devices();
  for (int i = 0; i < 100; ++i) {
    const GemmArguments args = test::problem_for(random, test::any_row(random));
    FindOptions options;
    options.device = &devices[random() % devices.size()];
    options.order = Order::registry;
    const CandidateList list = get_kernels(args, {}, options);
    CAPTURE(list.status().message());
    REQUIRE(names(list) == taken_one_by_one(args, *options.device));
    REQUIRE(list.matched() == list.size());
    REQUIRE(list.empty() == !list.status());
    for (const Candidate& candidate : list) REQUIRE(candidate.predicted_seconds() > 0);
  }
}

TEST_CASE("best first: by time, as registered where equal, cut off by the limit", "[query]") {
  Random random(6);
  for (int i = 0; i < 200; ++i) {
    GemmArguments args = test::problem_for(random, test::any_row(random));
    const CandidateList all = get_kernels(args, {}, on_h200());
    std::vector<Candidate> expected(all.begin(), all.end());
    std::stable_sort(expected.begin(), expected.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(a.predicted_seconds(), &detail::row_of(a)) <
             std::pair(b.predicted_seconds(), &detail::row_of(b));
    });
    for (std::size_t j = 0; j < expected.size(); ++j) check_same(all[j], expected[j]);
    FindOptions options = on_h200();
    options.limit = static_cast<std::size_t>(between(random, 1, 5));
    const CandidateList some = get_kernels(args, {}, options);
    REQUIRE(some.matched() == all.size());
    REQUIRE(some.size() == std::min(options.limit, all.size()));
    for (std::size_t j = 0; j < some.size(); ++j) check_same(some[j], all[j]);
  }
}

TEST_CASE("a filter leaves out, and is asked of what would be taken", "[query]") {
  const GemmArguments args = test::plain_problem(512, 512, 512);
  const CandidateList all = get_kernels(args, {}, on_h200());
  const auto wide = [](const KernelMetadata& k) { return k.design.tile.n >= 128; };
  const CandidateList some = get_kernels(args, wide, on_h200());
  REQUIRE_FALSE(some.empty());
  CHECK(some.size() < all.size());
  std::vector<std::string_view> expected;
  for (const Candidate& c : all) {
    if (wide(c.metadata())) expected.push_back(c.name());
  }
  CHECK(names(some) == expected);

  const CandidateList none = get_kernels(
      args, [](const KernelMetadata&) { return false; }, on_h200());
  CHECK(none.empty());
  CHECK(none.matched() == 0);
  CHECK(none.status().code() == StatusCode::filtered_out);
  CHECK_THAT(none.status().message(),
             Catch::Contains(std::to_string(all.size()) + ": The filter leaves it out"));

  FindOptions best = on_h200();
  best.limit = 1;
  const CandidateList first = get_kernels(args, wide, best);
  CHECK(first.front().name() == some.front().name());
  CHECK(get_kernels(args, {}, best).front().name() ==
        all.front().name());  // no answer to another filter is remembered
}

TEST_CASE("explanations tell refusals apart that are texts", "[query]") {
  detail::Tally tally;
  for (const char* const text : {"one", "other", "other"})
    tally.count(detail::Verdict::unsupported, {StatusCode::unsupported, text});
  for (const int needed : {8, 16})  // of what is composed, the first one stands for all
    tally.count(detail::Verdict::unsupported,
                {StatusCode::unsupported, Reason::pointer_alignment, Operand::a, needed, 1});
  const std::vector<Rejection> rejections = tally.rejections();
  REQUIRE(rejections.size() == 3);
  CHECK((rejections[0].reason == "other" && rejections[0].kernels == 2));
  CHECK(rejections[1].kernels == 2);
  CHECK((rejections[2].reason == "one" && rejections[2].kernels == 1));
  CHECK_THAT(tally.why_empty().message(), Catch::Contains("2: other") && Catch::Contains("1: one"));
}

TEST_CASE("options of unknown values are refused", "[query]") {
  const GemmArguments args = test::plain_problem(64, 64, 64);
  for (const FindOptions& options : {FindOptions{.order = static_cast<Order>(9)},
                                     FindOptions{.availability = static_cast<Availability>(9)}}) {
    const CandidateList list = get_kernels(args, {}, options);
    CHECK(list.empty());
    CHECK(list.status().code() == StatusCode::invalid_arguments);
    CHECK_THAT(list.status().message(), Catch::Contains("has the unknown value 9"));
    CHECK(find_best(args, {}, options).status().code() == StatusCode::invalid_arguments);
  }
}

TEST_CASE("explanations count every kernel of the keys once", "[query]") {
  Random random(8);
  for (int i = 0; i < 200; ++i) {
    const GemmArguments args = test::problem_for(random, test::any_row(random));
    FindOptions options = on_h200();
    options.explain = true;
    options.limit = coin(random) ? 1 : 1000000;
    if (coin(random)) options.max_workspace = 0;
    const Filter filter =
        coin(random) ? Filter() : Filter([](const KernelMetadata& k) { return k.design.tile.m != 64; });
    const CandidateList list = get_kernels(args, filter, options);
    CAPTURE(list.status().message());
    REQUIRE(list.matched() + rejected(list) == rows_of_keys(args));
    for (std::size_t j = 1; j < list.rejections().size(); ++j) {
      REQUIRE(list.rejections()[j - 1].kernels >= list.rejections()[j].kernels);
    }
    std::set<std::string> reasons;
    for (const Rejection& r : list.rejections()) reasons.insert(r.reason);
    REQUIRE(reasons.size() == list.rejections().size());
    options.explain = false;
    REQUIRE(get_kernels(args, filter, options).rejections().empty());
  }
}

TEST_CASE("wrong combinations of integer types are refused with the rule that they break", "[query]") {
  const auto why = [](DType a, DType b, DType accumulator, DType out) {
    GemmArguments args = test::plain_problem(64, 64, 64, a);
    args.b.dtype = b;
    args.out.dtype = out;
    args.accumulator = accumulator;
    const Status status = get_kernels(args).status();
    CHECK(status.code() == StatusCode::no_kernel);
    const std::string message = status.message();
    return message.substr(message.rfind(": ") + 2);
  };
  using enum DType;
  CHECK(why(s8, f16, s32, s32).find("go with one another, or with f16 or bf16") != std::string::npos);
  CHECK(why(s32, s32, s32, s32) == "integer operands are s8 or u8");
  CHECK(why(u8, s8, f32, f32) == "s8 and u8 operands are summed in s32");
  CHECK(why(u8, u8, s32, f16) == "s8 and u8 operands have an output of s32, s8, u8 or f32");
  CHECK(why(f16, f16, s32, f16) == "only s8 and u8 operands are summed in s32");
  CHECK(why(f16, f16, f32, s8) == "only s8 and u8 operands have an integer output");
}

TEST_CASE("types that no kernel takes are refused by name", "[query]") {
  const auto why = [](DType a, DType b, DType out) {
    GemmArguments args = test::plain_problem(64, 64, 64, a);
    args.b.dtype = b;
    args.out.dtype = out;
    for (int i = 0; i < 2; ++i) {  // what was asked before is answered as if it were new
      const CandidateList found = get_kernels(args);
      CHECK(found.empty());
      CHECK(found.status().code() == StatusCode::no_kernel);
    }
    const std::string message = get_kernels(args).status().message();
    return message.substr(message.rfind(": ") + 2);
  };
  using enum DType;
  const std::string pairs =
      "e4m3 and e5m2 operands go with one another; sums are f32, the output is e4m3, e5m2, f16, bf16 or f32";
  const std::string mixed =
      "beside f16 or bf16 of A, B may be e4m3 (not e5m2); A is e4m3 or e5m2 only where B is, too; sums are "
      "f32, the output is f32 or of A's type";
  CHECK(why(f16, e5m2, f16) == mixed);
  CHECK(why(bf16, e5m2, f32) == mixed);
  CHECK(why(e4m3, f16, f16) == mixed);
  CHECK(why(e5m2, bf16, bf16) == mixed);
  CHECK(why(bf16, e4m3, f16) == mixed);
  CHECK(why(f32, e4m3, f32) == pairs);
  CHECK(why(e4m3, s8, bf16).find("s8 and u8 operands go with one another, or with f16 or bf16") == 0);
  CHECK(why(e4m3, e4m3, s32) == pairs);
  CHECK(why(e4m3, e5m2, f64) == pairs);
  CHECK(why(f16, f16, e4m3) == "only e4m3 and e5m2 operands have an output of e4m3 or e5m2");
  const std::string half_bytes =
      "s4 and u4 are types of B, beside f16 or bf16 of A; sums are f32, the output is f32 or of A's type";
  CHECK(why(s4, s4, s32) == half_bytes);
  CHECK(why(u4, f16, f16) == half_bytes);
  CHECK(why(f32, s4, f32) == half_bytes);
  CHECK(why(f16, s4, bf16) == half_bytes);
  CHECK(why(s8, s8, s4) == "s8 and u8 operands have an output of s32, s8, u8 or f32");
  CHECK(why(f16, f16, u4) == "only s8 and u8 operands have an integer output");
}

TEST_CASE("all pairs of bytes have kernels of every output and layout, and s32 sums unless told", "[query]") {
  for (const DType a : {DType::s8, DType::u8}) {
    for (const DType b : {DType::s8, DType::u8}) {
      for (const DType out : {DType::s32, DType::s8, DType::u8, DType::f32}) {
        for (int layouts = 0; layouts < 8; ++layouts) {
          const auto make = [&](int bit) {
            return (layouts >> bit & 1) != 0 ? &TensorView::column_major : &TensorView::row_major;
          };
          const GemmArguments args = {.a = make(0)(nullptr, a, {40, 50}, 61),
                                      .b = make(1)(nullptr, b, {50, 60}, 61),
                                      .out = make(2)(nullptr, out, {40, 60}, 61)};
          const CandidateList found = get_kernels(args, {}, on_h200());
          CAPTURE(to_string(a), to_string(b), to_string(out), layouts);
          REQUIRE_FALSE(found.empty());
          CHECK(found.front().metadata().operands.accumulator == DType::s32);
        }
      }
    }
  }
}

TEST_CASE("an empty answer says why", "[query]") {
  GemmArguments args = test::plain_problem(64, 64, 64);
  args.b.extents[0] = 65;
  CHECK(get_kernels(args).status().code() == StatusCode::invalid_arguments);

  args = test::plain_problem(64, 64, 64);
  args.b.dtype = DType::bf16;
  const Status mixed = get_kernels(args).status();
  CHECK(mixed.code() == StatusCode::no_kernel);
  CHECK(mixed.message() ==
        "No kernel is registered for operands a f16 row, b bf16 column, accumulator f32, out f16 row");

  args = test::plain_problem(64, 64, 64);
  args.controls.split_k_slices = 1000;
  const Status too_many = get_kernels(args, {}, on_h200()).status();
  CHECK(too_many.code() == StatusCode::unsupported);
  CHECK_THAT(too_many.message(), Catch::Contains("split_k_slices"));

  args = test::plain_problem(64, 64, 64);
  FindOptions options = on_h200();
  options.limit = 0;
  CHECK(get_kernels(args, {}, options).status().code() == StatusCode::filtered_out);
  CHECK(get_kernels(args, {}, options).matched() > 0);

  DeviceModel broken = h200();
  broken.multiprocessors = 0;
  options.device = &broken;
  CHECK(get_kernels(args, {}, options).status().code() == StatusCode::invalid_arguments);
}

TEST_CASE("an extent of 1 finds kernels of both layouts", "[query]") {
  const CandidateList list = get_kernels(test::plain_problem(64, 1, 64), {}, on_h200());
  std::set<Layout> of_b;
  std::set<Layout> of_out;
  for (const Candidate& c : list) {
    of_b.insert(c.metadata().operands.b.layout);
    of_out.insert(c.metadata().operands.out.layout);
  }
  CHECK(of_b.size() == 2);
  CHECK(of_out.size() == 2);
}

TEST_CASE("only precompiled kernels where they are asked for", "[query]") {
  const GemmArguments args = test::plain_problem(1024, 1024, 1024);
  FindOptions options = on_h200();
  options.availability = Availability::precompiled;
  options.explain = true;
  const CandidateList all = get_kernels(args, {}, on_h200());
  const CandidateList list = get_kernels(args, {}, options);
  const auto count =
      std::count_if(all.begin(), all.end(), [](const Candidate& c) { return c.precompiled(90); });
  CHECK(list.size() == static_cast<std::size_t>(count));
  CHECK(std::all_of(list.begin(), list.end(), [](const Candidate& c) { return c.precompiled(90); }));
  CHECK(list.size() + rejected(list) == rows_of_keys(args));
  for (const Row& row : detail::rows()) {
    const bool held = detail::entries()[row.entry].unit >= 0;
    const auto has = [](int cc) { return std::ranges::count(detail::precompiled_targets(), cc) > 0; };
    // A unit of kernels for one compute capability alone holds no code for the others.
    const KernelMetadata& kernel = row.metadata;
    const auto runs_on = [&](int cc) { return cc >= kernel.cc && cc <= kernel.max_cc.value_or(cc); };
    if (detail::kept_artifact(row.entry, 80) || detail::kept_artifact(row.entry, 90)) continue;
    REQUIRE(Kernel(row).precompiled(90) == (held && runs_on(90) && has(90)));
    REQUIRE(Kernel(row).precompiled(80) == (held && runs_on(80) && has(80)));
    REQUIRE(Kernel(row).precompiled(86) == (held && runs_on(86) && (has(80) || has(86))));
    REQUIRE_FALSE(Kernel(row).precompiled(70));
    REQUIRE_FALSE(Kernel(row).precompiled(100));
  }
}

TEST_CASE("workspaces keep to the maximum, and to what the kernel says", "[query]") {
  Random random(12);
  for (int i = 0; i < 200; ++i) {
    GemmArguments args = test::problem_for(random, test::any_row(random));
    FindOptions options;
    options.max_workspace = coin(random) ? 0 : static_cast<std::size_t>(between(random, 1, 1 << 24));
    const CandidateList list = get_kernels(args, {}, options);
    for (const Candidate& c : list) {
      CAPTURE(c.name());
      REQUIRE(c.workspace() <= options.max_workspace);
      const Result<std::size_t> bytes = c.workspace_size(args);
      REQUIRE(bytes);
      REQUIRE(*bytes == c.workspace());
      if (args.controls.mode) REQUIRE(c.controls().mode == args.controls.mode);
      if (args.controls.split_k_slices) REQUIRE(c.controls().split_k_slices == args.controls.split_k_slices);
      if (args.controls.swizzle) REQUIRE(c.controls().swizzle == args.controls.swizzle);
      if (args.controls.raster) REQUIRE(c.controls().raster == args.controls.raster);
    }
  }
  // Nobody is left out for a workspace that it can do without.
  const GemmArguments args = test::plain_problem(256, 256, 8192);
  FindOptions options = on_h200();
  options.max_workspace = 0;
  CHECK(get_kernels(args, {}, options).size() == get_kernels(args, {}, on_h200()).size());
}

TEST_CASE("lists of kernels without a problem", "[query]") {
  const std::vector<Kernel> all = get_kernels();
  REQUIRE(all.size() == detail::rows().size());
  for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(&detail::row_of(all[i]) == &detail::rows()[i]);
  const std::vector<Kernel> some =
      get_kernels([](const KernelMetadata& k) { return k.operands.a.dtype == DType::f16; });
  CHECK(some.size() < all.size());
  CHECK(some.size() == static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Kernel& k) {
          return k.metadata().operands.a.dtype == DType::f16;
        })));
}

TEST_CASE("every kernel is found by its name, and no other name", "[query]") {
  for (const Row& row : detail::rows()) {
    const Result<Kernel> kernel = find_kernel(row.metadata.name);
    REQUIRE(kernel);
    REQUIRE(&detail::row_of(*kernel) == &row);
  }
  // A wrong name is compared with all others for the message: a sample is enough.
  for (std::size_t i = 0; i < detail::rows().size(); i += 23) {
    REQUIRE_FALSE(find_kernel(std::string(detail::rows()[i].metadata.name) + "x"));
  }
  std::string name(detail::rows().front().metadata.name);
  name.back() = '\x7f';
  for (const std::string& wrong : {std::string(), name, std::string("gemm"), std::string(100000, 'g')}) {
    const Result<Kernel> kernel = find_kernel(wrong);
    REQUIRE_FALSE(kernel);
    CHECK(kernel.status().code() == StatusCode::not_found);
    CHECK(kernel.status().message().size() < 1000);
  }
  CHECK_THAT(find_kernel(name).status().message(),
             Catch::Contains("`" + std::string(detail::rows().front().metadata.name) + "`"));
}

TEST_CASE("many threads ask at once", "[query]") {
  std::vector<GemmArguments> problems;
  std::vector<CandidateList> expected;
  Random random(21);
  const FindOptions best = {.limit = 1};
  for (int i = 0; i < 20; ++i) {
    problems.push_back(test::problem_for(random, test::any_row(random)));
    expected.push_back(test::find_afresh(problems.back(), {}, best));
  }
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      DeviceModel device = h200();
      device.memory_bandwidth *= 1.5;  // a device that none of them has seen
      FindOptions other = best;
      other.device = &device;
      for (std::size_t i = 0; i < 300; ++i) {
        const std::size_t p = (i * 7 + t) % problems.size();
        const CandidateList list = get_kernels(problems[p], {}, best);
        wrong[t] += list.size() != expected[p].size();
        if (!list.empty()) wrong[t] += list.front().name() != expected[p].front().name();
        wrong[t] += get_kernels(problems[p], {}, other).size() > 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}
