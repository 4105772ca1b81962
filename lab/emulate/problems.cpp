#include "lab/emulate/problems.hpp"

#include <algorithm>
#include <functional>

#include "basic/text.hpp"
#include "lab/problems/seed.hpp"
#include "lab/verify/problems.hpp"

namespace quarry::emulate {

emulator::GuardedEnd guarded_end(std::uint64_t seed) {
  return lab::derived_seed(seed, 1) % 2 == 0 ? emulator::GuardedEnd::back : emulator::GuardedEnd::front;
}

std::string_view to_string(emulator::CopyTiming copies) {
  switch (copies) {
    case emulator::CopyTiming::late: return "late";
    case emulator::CopyTiming::early: return "early";
    default: return "mixed";
  }
}

Result<emulator::CopyTiming> parse_copies(std::string_view word) {
  using emulator::CopyTiming;
  for (const CopyTiming copies : {CopyTiming::late, CopyTiming::early, CopyTiming::mixed}) {
    if (word == to_string(copies)) return copies;
  }
  return Status(StatusCode::parse_error,
                "--copies: expected late, early or mixed, got " + detail::quoted(word));
}

/// What only some kernels are asked for beside: slices within a cluster, tiles along M first, blocks that
/// walk over several tiles.
Controls further_controls(const KernelMetadata& kernel, Controls controls, std::int64_t turn,
                          std::uint64_t seed) {
  const auto draw = [&](std::uint64_t number, std::uint64_t sides) {
    return static_cast<int>(lab::derived_seed(seed, number) % sides);
  };
  constexpr int most_in_cluster = 8;
  if (!kernel.design.schedule) return controls;
  if (kernel.modes.split_k_cluster && controls.split_k_slices && turn < round_of_problems / 2) {
    controls.mode = Mode::split_k_cluster;
    controls.split_k_slices = std::min(*controls.split_k_slices, most_in_cluster);
  }
  controls.raster = draw(2, 2) == 0 ? Raster::along_n : Raster::along_m;
  const Cluster cluster = kernel.design.cluster.value_or(Cluster{});
  if (*kernel.design.schedule != Schedule::one_tile) {
    controls.multiprocessors = cluster.m * cluster.n * (1 + draw(3, 3));
  }
  return controls;
}

/// An epilogue that is short, as kernels which know one leave it: alpha alone, to an output as aligned as can
/// be.
void make_plain(lab::Problem& problem, lab::StorageKey& storage) {
  if (problem.alpha == 0) problem.alpha = problem.out.dtype == DType::s32 ? 2 : 0.5;
  problem.beta = 0;
  problem.in_place = false;
  problem.c.reset();
  problem.bias.reset();
  problem.scale.reset();
  problem.residual.reset();
  problem.residual_in_place = false;
  problem.aux.reset();
  problem.clamp = {};
  problem.activation = Activation::identity;
  storage.out_alignment = std::max(storage.out_alignment, 16 / bytes_of(problem.out.dtype));
}

EmulatedProblem random_problem_for(const Kernel& kernel, std::uint64_t seed, std::int64_t number,
                                   std::optional<emulator::CopyTiming> copies) {
  using emulator::CopyTiming;
  constexpr CopyTiming turns[] = {CopyTiming::late,  CopyTiming::mixed, CopyTiming::late,
                                  CopyTiming::early, CopyTiming::late,  CopyTiming::mixed};
  EmulatedProblem made;
  made.seed = lab::derived_seed(seed, static_cast<std::uint64_t>(number));
  lab::Problem problem = lab::random_problem(lab::result_key(kernel.metadata()), made.seed, number);
  const std::int64_t turn = number % round_of_problems;
  if (turn >= round_of_problems / 2) problem.batch = 2;
  if (problem.controls.mode) {
    problem.controls.mode = turn < round_of_problems / 2 ? Mode::split_k_serial : Mode::split_k_parallel;
  }
  lab::StorageKey storage = lab::storage_key(kernel.metadata());
  const std::uint64_t drawn = lab::derived_seed(made.seed, std::hash<std::string_view>()(kernel.name()));
  const bool has_boxes = kernel.metadata().design.schedule.has_value();
  if (drawn % (has_boxes ? 2 : 4) == 0) make_plain(problem, storage);
  problem = lab::stored(problem, storage, made.seed);
  problem.controls =
      further_controls(kernel.metadata(), lab::controls_for(kernel.metadata(), problem), turn, made.seed);
  made.problem = problem;
  made.copies = copies.value_or(turns[turn]);
  made.guarded = guarded_end(made.seed);
  return made;
}

std::string replay(const Kernel& kernel, const EmulatedProblem& problem) {
  std::string text = lab::command_text(problem.problem);
  text.erase(0, text.find(' ') + 1);  // the operation, which is the kernel's
  return "quarry emulate " + std::string(kernel.name()) + " " + text + " --seed " +
         std::to_string(problem.seed) + " --copies " + std::string(to_string(problem.copies));
}

}  // namespace quarry::emulate
