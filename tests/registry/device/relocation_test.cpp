/// Relocations of launches: they name every place of the image that depends on where operands lie, as the
/// caller names these.
#include <cstring>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "launch.hpp"
#include "operations/gemm/operation.hpp"
#include "operations/reduce_split_k/operation.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/prepared.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_rules.hpp"
#include "support/random_reduction.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using detail::Row;
using test::coin;
using test::Random;

/// Addresses of operands that nobody reads, far from each other, of one of several sets.
class Addresses {
 public:
  explicit Addresses(std::uintptr_t set) : base_((set + 1) << 56) {}
  const void* operator()(Operand operand) const {
    return reinterpret_cast<const void*>(base_ + (static_cast<std::uintptr_t>(operand) << 48));
  }
  bool has(std::uintptr_t address) const { return address >> 56 == base_ >> 56; }

 private:
  std::uintptr_t base_;
};

void set(std::optional<TensorView>& view, const void* data) {
  if (view) view->data = data;
}

template <class Arguments>
void place(Arguments& args, const Addresses& at) {
  args.out.data = at(Operand::out);
  set(args.c, at(Operand::c));
  Epilogue& e = args.epilogue;
  set(e.bias, at(Operand::bias));
  set(e.scale, at(Operand::scale));
  set(e.residual, at(Operand::residual));
  set(e.aux, at(Operand::aux));
  if (e.alpha.pointer != nullptr) e.alpha.pointer = at(Operand::alpha);
  if (e.beta.pointer != nullptr) e.beta.pointer = at(Operand::beta);
  if constexpr (requires { args.partials; }) {
    args.partials.data = at(Operand::partials);
  } else {
    args.a.data = at(Operand::a);
    args.b.data = at(Operand::b);
  }
}

PlanOperands pointers_of(const Addresses& at) {
  PlanOperands pointers;
  for (int i = 0; i <= static_cast<int>(last_operand); ++i)
    pointers[static_cast<Operand>(i)] = at(static_cast<Operand>(i));
  return pointers;
}

/// False where the row does not take the problem.
bool launch_of(const Row& row, const GemmArguments& args, Launch& launch) {
  static const DeviceModel device = test::device_named("h200");
  GemmProblem problem;
  ChosenControls controls;
  if (!test::resolve(row, args, {}, device, problem, controls)) return false;
  detail::gemm::family_of(row).launch(row.entry_config, problem, controls, launch);
  return true;
}

bool launch_of(const Row& row, const ReduceSplitKArguments& args, Launch& launch) {
  static const DeviceModel device = test::device_named("h200");
  ReduceProblem problem;
  if (!test::resolve(row, args, device, problem)) return false;
  detail::reduce_split_k::family_of(row).launch(row.entry_config, problem, launch);
  return true;
}

/// Whether some word of the image is an address of the set.
bool has_address(const Launch& launch, const Addresses& at) {
  for (std::size_t i = 0; i + sizeof(std::uintptr_t) <= launch.image_bytes; i += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, launch.image + i, sizeof word);
    if (at.has(word)) return true;
  }
  return false;
}

/// The bytes that relocations say to change.
std::vector<bool> relocated_bytes(const Launch& launch) {
  std::vector<bool> relocated(launch.image_bytes, false);
  for (const Relocation& r : launch.relocations) {
    const std::size_t bytes = r.kind == Relocation::Kind::map ? sizeof(TensorMap) : sizeof(void*);
    REQUIRE(r.at % (r.kind == Relocation::Kind::map ? alignof(TensorMap) : alignof(void*)) == 0);
    REQUIRE(r.at + bytes <= launch.image_bytes);
    for (std::size_t i = r.at; i < r.at + bytes; ++i) {
      REQUIRE_FALSE(relocated[i]);  // each place once
      relocated[i] = true;
    }
  }
  return relocated;
}

void check_steps(const Row& row, const Launch& launch) {
  std::size_t end = 0;
  for (const Step& step : launch.steps) {
    if (step.kind == Step::Kind::clear) {
      REQUIRE(step.clear_at + step.clear_bytes <= launch.workspace_bytes);
      continue;
    }
    REQUIRE(step.at % alignof(TensorMap) == 0);
    REQUIRE(step.at >= end);
    end = std::size_t{step.at} + step.bytes;
    REQUIRE(end <= launch.image_bytes);
    REQUIRE(step.grid > 0);
    if (step.entry > 0) REQUIRE(row.companions.at(step.entry - 1U) != detail::no_entry);
  }
  REQUIRE(end == launch.image_bytes);
}

void check_parts(const Launch& launch) {
  std::size_t end = 0;
  for (const WorkspacePart& part : launch.parts) {
    REQUIRE(part.offset % 256 == 0);
    REQUIRE(part.offset >= end);
    REQUIRE(part.bytes > 0);
    end = part.offset + part.bytes;
  }
  REQUIRE(end <= launch.workspace_bytes);
  REQUIRE(launch.workspace_bytes < end + 256);
  for (const Relocation& r : launch.relocations) {
    if (r.source != Operand::workspace) {
      REQUIRE(r.offset == 0);
      continue;
    }
    const bool begins_part =
        std::ranges::any_of(launch.parts, [&](const WorkspacePart& part) { return part.offset == r.offset; });
    REQUIRE(begins_part);
  }
}

/// Each use is of an operand that the launch is told of, once.
void check_uses(const Launch& launch, const PlanOperands& pointers) {
  PlanOperands seen;
  for (const PlanOperandNeed& use : launch.uses) {
    REQUIRE(seen[use.name] == nullptr);
    seen[use.name] = pointers[use.name];
    REQUIRE(
        std::ranges::any_of(launch.relocations, [&](const Relocation& r) { return r.source == use.name; }));
    REQUIRE(use.alignment %
                (use.is_array ? sizeof(void*) : static_cast<std::size_t>(unit_bytes(use.dtype))) ==
            0);
  }
  REQUIRE(detail::check_pointers(launch, seen));
  REQUIRE(detail::check_alignments(launch, seen));
  for (const PlanOperandNeed& use : launch.uses) {
    PlanOperands missing = seen;
    missing[use.name] = nullptr;
    REQUIRE(detail::check_pointers(launch, missing).operand() == use.name);
    if (use.alignment == 1) continue;
    PlanOperands shifted = seen;
    shifted[use.name] = static_cast<const char*>(seen[use.name]) + use.alignment / 2;
    const Status status = detail::check_alignments(launch, shifted);
    REQUIRE_FALSE(status);
    if (!use.is_array) REQUIRE(status.operand() == use.name);  // whose message names it
  }
}

/// Compares the launches of a problem with operands in two places, one of which it gives. False where the row
/// does not take it.
template <class Arguments>
bool check_launches(const Row& row, Arguments args, Launch& one) {
  const Addresses here(0);
  const Addresses there(1);
  Launch other;
  place(args, here);
  if (!launch_of(row, args, one)) return false;
  place(args, there);
  REQUIRE(launch_of(row, args, other));
  CAPTURE(row.metadata.name, one.steps.count, one.relocations.count);
  if (one.is_empty()) return true;
  REQUIRE(one.image_bytes == other.image_bytes);
  const std::vector<bool> relocated = relocated_bytes(one);
  for (std::size_t i = 0; i < one.image_bytes; ++i) {
    if (one.image[i] != other.image[i]) REQUIRE(relocated[i]);
  }
  for (const Relocation& relocation : one.relocations) {
    if (relocation.kind != Relocation::Kind::map || relocation.source == Operand::workspace) continue;
    const int i = relocation.map;
    REQUIRE(here.has(reinterpret_cast<std::uintptr_t>(one.maps[i].data)));
    REQUIRE(there.has(reinterpret_cast<std::uintptr_t>(other.maps[i].data)));
  }
  // Pointers put into the one make it the other, except for the workspace, which neither has.
  PlanOperands pointers = pointers_of(there);
  pointers[Operand::workspace] = nullptr;
  for (Launch* launch : {&one, &other}) {
    put_pointers(*launch, pointers, launch->image);
    REQUIRE_FALSE(has_address(*launch, here));
  }
  REQUIRE(std::memcmp(one.image, other.image, one.image_bytes) == 0);
  check_steps(row, one);
  check_parts(one);
  check_uses(one, pointers);
  return true;
}

/// Alpha and beta on the device, by chance.
void choose_scalars(Random& random, Epilogue& e) {
  static const double any = 1;  // only that it is an address counts
  if (coin(random)) e.alpha = Scalar::at(&any);
}

}  // namespace

TEST_CASE("relocations cover every pointer of random launches", "[launch]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  int checked = 0;
  int with_maps = 0;
  int with_workspace = 0;
  int exchanged = 0;
  for (int i = 0; i < 20000 && checked < 2000; ++i) {
    const Row& row = test::gemm_rows()[random() % test::gemm_rows().size()];
    GemmArguments args = test::problem_for(random, row);
    args.controls = test::permitted(args.controls, row.metadata);
    test::give_scales(row.metadata, args);
    if (coin(random)) test::choose_arrays(random, args);
    choose_scalars(random, args.epilogue);
    Launch launch;
    if (!check_launches(row, args, launch)) continue;
    ++checked;
    with_maps += launch.maps.count > 0;
    with_workspace += launch.parts.count > 0;
    exchanged += row.exchanged;
  }
  CHECK(checked > 1000);
  CHECK(with_maps > 20);
  CHECK(with_workspace > 100);
  CHECK(exchanged > 100);
}

TEST_CASE("relocations cover every pointer of random reductions", "[launch][reduce]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  int checked = 0;
  for (int i = 0; i < 300; ++i) {
    const auto rows = test::reduction_rows();
    const Row& row = rows[random() % rows.size()];
    ReduceSplitKArguments args = test::random_reduction(random, row);
    choose_scalars(random, args.epilogue);
    Launch launch;
    checked += check_launches(row, args, launch);
  }
  CHECK(checked > 200);
}

TEST_CASE("a plan reads alpha and beta where they were when it was made", "[launch]") {
  float alpha = 2;
  float beta = 3;
  const float a[] = {5};
  const float c[] = {7};
  float out = 0;
  const auto matrix = [](const float* data) { return TensorView::row_major(data, DType::f32, {1, 1}); };
  const GemmArguments args{.a = matrix(a),
                           .b = matrix(a),
                           .c = matrix(c),
                           .out = matrix(&out),
                           .epilogue = {.alpha = Scalar::at(&alpha), .beta = Scalar::at(&beta)}};
  const CandidateList found = get_kernels(args);
  REQUIRE_FALSE(found.empty());
  const Result<Plan> plan = found.front().prepare(args);
  REQUIRE(plan);
  REQUIRE(plan->run(detail::operands_of(args), nullptr));
  CHECK(out == 2 * 25 + 3 * 7);
  alpha = -1;
  beta = 0;
  REQUIRE(plan->run(detail::operands_of(args), nullptr));
  CHECK(out == -25);
}
