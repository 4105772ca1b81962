#include <algorithm>

#include "draw_tensors.hpp"
#include "problem.hpp"

namespace quarry::golden {
namespace {

using std::int64_t;

constexpr DType all_types[] = {DType::f16, DType::bf16, DType::f32, DType::f64,
                               DType::s8,  DType::u8,   DType::s32};
/// The interleaved ones are refused for most types, so there is less of them.
constexpr Layout all_layouts[] = {Layout::row,
                                  Layout::row,
                                  Layout::row,
                                  Layout::column,
                                  Layout::column,
                                  Layout::column,
                                  Layout::row_interleaved32,
                                  Layout::column_interleaved32};

/// Extents of a problem. A batch of 0: matrices of rank 2.
struct Sizes {
  int64_t m, n, k, batch;
};

Sizes draw_sizes(bool interleaved, Dice& dice) {
  constexpr int64_t most = 8192;
  constexpr int64_t units[] = {1, 1, 2, 4, 8, 8, 16, 16, 32, 64};
  const int64_t unit = interleaved && !dice.one_in(16) ? 32 : dice.one_of(units);
  const auto extent = [&]() -> int64_t {
    if (dice.one_in(60)) return 0;
    return (dice.log_uniform(most) + unit - 1) / unit * unit;
  };
  Sizes sizes = {extent(), extent(), extent(), 0};
  if (dice.one_in(3)) sizes.batch = dice.log_uniform(64);
  return sizes;
}

/// A group of kernels that the problem is for, mostly.
const Group& draw_group(const Choices& choices, bool reduces, Dice& dice) {
  return dice.one_of(reduces ? choices.reductions : dice.one_of(choices.gemms));
}

/// The signature of a group, by chance with something else in it.
Signature draw_signature(const Group& group, Dice& dice) {
  Signature s = group.signature;
  if (dice.one_in(16)) s.a = dice.one_of(all_types);
  if (dice.one_in(16)) s.b = dice.one_of(all_types);
  if (dice.one_in(16)) s.accumulator = dice.one_of(all_types);
  if (dice.one_in(16)) s.out = dice.one_of(all_types);
  if (dice.one_in(8)) s.math = static_cast<Math>(dice.between(0, 4));
  if (dice.one_in(16)) s.a_layout = dice.one_of(all_layouts);
  if (dice.one_in(16)) s.b_layout = dice.one_of(all_layouts);
  if (dice.one_in(16)) s.out_layout = dice.one_of(all_layouts);
  return s;
}

Controls draw_controls(int64_t k, Dice& dice) {
  Controls controls;
  if (dice.one_in(2)) return controls;
  if (dice.one_in(2)) controls.mode = static_cast<Mode>(dice.between(0, 4));
  const bool keeps_tiles = controls.mode == Mode::gemm || controls.mode == Mode::stream_k;
  const int64_t most = dice.one_in(4) ? 12 : std::clamp<int64_t>(k / 32, 1, 12);
  if (dice.one_in(2)) {
    controls.split_k_slices = keeps_tiles && !dice.one_in(16) ? 1 : static_cast<int>(dice.between(1, most));
  }
  if (dice.one_in(3)) controls.swizzle = 1 << dice.between(0, 3);
  if (dice.one_in(3)) controls.raster = dice.one_in(2) ? Raster::along_n : Raster::along_m;
  if (dice.one_in(10)) controls.multiprocessors = static_cast<int>(dice.between(1, 160));
  return controls;
}

void draw_gemm(const Signature& s, Problem& problem, Dice& dice) {
  GemmArguments& args = problem.gemm;
  const bool interleaved =
      is_interleaved(s.a_layout) || is_interleaved(s.b_layout) || is_interleaved(s.out_layout);
  const Sizes sizes = draw_sizes(interleaved, dice);
  const bool plain = dice.one_in(2);
  const bool arrays = sizes.batch > 0 && dice.one_in(3);
  const auto input = [&](DType type, Layout layout, int64_t rows, int64_t columns) {
    return draw_matrix({.dtype = type,
                        .layout = layout,
                        .batch = dice.one_in(6) ? 0 : sizes.batch,
                        .rows = rows,
                        .columns = columns,
                        .plain = plain,
                        .may_be_array = arrays},
                       dice);
  };
  args.a = input(s.a, s.a_layout, sizes.m, sizes.k);
  args.b = input(s.b, s.b_layout, sizes.k, sizes.n);
  args.out = draw_matrix({.dtype = s.out,
                          .layout = s.out_layout,
                          .batch = sizes.batch,
                          .rows = sizes.m,
                          .columns = sizes.n,
                          .plain = plain,
                          .is_output = true,
                          .may_be_array = arrays},
                         dice);
  if (!dice.one_in(4)) args.accumulator = s.accumulator;
  args.math = s.math;
  draw_epilogue(problem, compute_type(s.accumulator, s.out), arrays, dice);
  args.controls = draw_controls(sizes.k, dice);
}

void draw_reduction(const Signature& s, Problem& problem, Dice& dice) {
  ReduceSplitKArguments& args = problem.reduction;
  const Sizes sizes = draw_sizes(is_interleaved(s.out_layout), dice);
  const int64_t slices = dice.one_in(40) ? 0 : dice.log_uniform(32);
  args.partials = sizes.batch > 0
                      ? TensorView::row_major(nullptr, s.accumulator, {slices, sizes.batch, sizes.m, sizes.n})
                      : TensorView::row_major(nullptr, s.accumulator, {slices, sizes.m, sizes.n});
  args.out = draw_matrix({.dtype = s.out,
                          .layout = s.out_layout,
                          .batch = sizes.batch,
                          .rows = sizes.m,
                          .columns = sizes.n,
                          .plain = dice.one_in(2),
                          .is_output = true},
                         dice);
  draw_epilogue(problem, compute_type(s.accumulator, s.out), false, dice);
}

/// Gives all operands addresses a long way apart, or leaves them fake; and a kind of memory.
void place(Problem& problem, Dice& dice) {
  constexpr MemoryKind kinds[] = {MemoryKind::device, MemoryKind::device,  MemoryKind::host,
                                  MemoryKind::host,   MemoryKind::managed, MemoryKind::pinned};
  const bool placed = dice.one_in(3);
  const MemoryKind kind = !placed && dice.one_in(4) ? MemoryKind::automatic : dice.one_of(kinds);
  const void* out = nullptr;
  std::uintptr_t region = 1;
  for (const auto& [name, view] : operands(problem)) {
    const bool is_out = view->data != nullptr;  // draw_epilogue marks what lies where the output does
    view->memory = {kind, 0};
    view->data = nullptr;
    if (!placed) continue;
    // An array of pointers must be aligned as pointers are.
    const std::uintptr_t alignment = view->is_pointer_array ? 8 : view->assumed_alignment;
    const std::uintptr_t address = (region++ << 44) + alignment * 3;
    view->data = is_out ? out : reinterpret_cast<const void*>(address);
    if (name == "out") out = view->data;
  }
}

/// Filters of all kinds; most problems have none.
std::string_view draw_filter(Dice& dice) {
  constexpr std::string_view filters[] = {"cc == 80",
                                          "family == gemm_sm90",
                                          "tile.m * tile.n >= 128 * 128",
                                          "has(stages) and stages >= 4 or family == gemm_simt",
                                          "modes.split_k_serial and not modes.stream_k",
                                          "math_unit == tensor_core",
                                          "threads <= 128 and shared_memory < 64 * 1024",
                                          "name ~ 'stream_k'",
                                          "tile.m > 100000"};
  return dice.one_in(4) ? dice.one_of(filters) : std::string_view();
}

void draw_options(Problem& problem, Dice& dice) {
  constexpr std::size_t limits[] = {0, 1, 1, 1, 2, 10};
  FindOptions& o = problem.options;
  if (dice.one_in(6)) o.order = Order::registry;
  if (dice.one_in(3)) o.limit = dice.one_of(limits);
  if (dice.one_in(4)) {
    o.max_workspace = dice.one_in(3) ? 0 : static_cast<std::size_t>(dice.log_uniform(int64_t{1} << 30));
  }
  o.explain = dice.one_in(3);
  const auto models = device_models();
  problem.device = models[static_cast<std::size_t>(dice.between(0, 2))];
}

/// Kernels that are likely to take the problem, and any others.
void draw_asked(const Choices& choices, const Group& group, Problem& problem, Dice& dice) {
  for (int i = 0; i < 3; ++i) {
    problem.asked.push_back(dice.one_of(dice.one_in(3) ? choices.kernels : group.kernels));
  }
}

}  // namespace

DType compute_type(DType accumulator, DType out) {
  if (accumulator == DType::f64) return DType::f64;
  return accumulator == DType::s32 && out == DType::s32 ? DType::s32 : DType::f32;
}

std::vector<std::pair<std::string_view, TensorView*>> operands(Problem& problem) {
  std::vector<std::pair<std::string_view, TensorView*>> all = {{"out", &problem.out()}};
  if (problem.reduces) {
    all.emplace_back("partials", &problem.reduction.partials);
  } else {
    all.emplace_back("a", &problem.gemm.a);
    all.emplace_back("b", &problem.gemm.b);
  }
  Epilogue& e = problem.epilogue();
  const auto add = [&all](std::string_view name, std::optional<TensorView>& view) {
    if (view) all.emplace_back(name, &*view);
  };
  add("c", problem.c());
  add("bias", e.bias);
  add("scale", e.scale);
  add("residual", e.residual);
  add("aux", e.aux);
  return all;
}

Problem draw(const Choices& choices, std::uint64_t seed, std::uint64_t index) {
  Dice dice(Dice(seed ^ Dice(index).next()).next());
  Problem problem;
  problem.reduces = dice.one_in(10);
  const Group& group = draw_group(choices, problem.reduces, dice);
  const Signature signature = draw_signature(group, dice);
  if (problem.reduces) {
    draw_reduction(signature, problem, dice);
  } else {
    draw_gemm(signature, problem, dice);
  }
  place(problem, dice);
  problem.filter = draw_filter(dice);
  draw_options(problem, dice);
  draw_asked(choices, group, problem, dice);
  if (dice.one_in(4)) spoil(problem, dice);
  if (dice.one_in(16)) spoil(problem, dice);
  return problem;
}

}  // namespace quarry::golden
