#include "conv2d_sm90/tensors.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "config_text.hpp"
#include "conv2d_sm90/phases.hpp"
#include "gemm/host.hpp"
#include "gemm_sm90/tensor_maps.hpp"

namespace quarry::conv2d_sm90 {
namespace {

/// Limits of maps of images (CUDA driver API, cuTensorMapEncodeIm2col), and of distances from the pixels
/// walked over (PTX ISA, im2col mode).
constexpr int most_step = 8;
static_assert(most_step <= most_phases);
constexpr int least_corner = -128;
constexpr int most_corner = 127;
constexpr int most_distance = 255;

/// For a stride that is never used, as its extent is 1.
constexpr unsigned long long any_stride = 16;

Status refused(std::string why) { return {StatusCode::unsupported, std::move(why)}; }

std::string text(long long number) { return std::to_string(number); }

/// The tensor whose images are walked over, and the other one that is read.
bool walks_over_a(Direction direction) { return direction != Direction::wgrad; }

/// How far in front of an image's first pixel the first window begins; the device's lead().
long long lead(Direction direction, const WindowAxis& axis) {
  const long long span = static_cast<long long>(axis.taps.size - 1) * axis.dilation;
  return direction == Direction::dgrad ? span - axis.padding : axis.padding;
}

/// The last window's begin, counted from the image's last pixel.
long long upper_corner(Direction direction, const WindowAxis& axis) {
  const long long last = static_cast<long long>(axis.places.size - 1) * axis.stride.size;
  return last - lead(direction, axis) - (axis.extent - 1);
}

/// How the copy engine walks along an axis: the first and the last window's begin, as a PixelWalk counts
/// them, and how far from there copies look.
struct AxisWalk {
  long long lower;
  long long upper;
  long long reach;
  int step;
};

AxisWalk axis_walk(const Conv2dProblem& problem, const WindowAxis& axis, bool in_phases) {
  if (in_phases) {
    const PhasedAxis phased = phased_axis(problem, axis);
    return {phased.first, phased.first + static_cast<long long>(phased.places) - axis.extent, phased.reach,
            1};
  }
  const Direction direction = problem.direction;
  return {-lead(direction, axis), upper_corner(direction, axis),
          static_cast<long long>(axis.taps.size - 1) * axis.dilation, axis.stride.size};
}

Status check_stride(const Conv2dProblem& problem, const WindowAxis& axis, const char* name, bool in_phases) {
  const int most = problem.direction == Direction::dgrad && !in_phases ? 1 : most_step;
  if (axis.stride.size <= most) return {};
  return refused("The stride along the " + std::string(name) + " is " + text(axis.stride.size) +
                 ": this kernel takes at most " + text(most));
}

Status check_axis(const Conv2dProblem& problem, const WindowAxis& axis, const char* name, bool in_phases) {
  const std::string along = std::string(" along the ") + name;
  if (Status s = check_stride(problem, axis, name, in_phases); !s) return s;
  const AxisWalk walk = axis_walk(problem, axis, in_phases);
  if (walk.reach > most_distance) {
    return refused("The filter" + along + " spans " + text(walk.reach + 1) + ": this kernel takes at most " +
                   text(most_distance + 1));
  }
  if (axis.extent < 1) return refused("Images have no pixels: this kernel takes at least one");
  for (const long long corner : {walk.lower, walk.upper}) {
    if (corner >= least_corner && corner <= most_corner) continue;
    return refused("Windows" + along + " begin or end " + text(std::abs(corner)) +
                   " from the image's edge: this kernel takes at most " + text(most_corner));
  }
  return {};
}

/// The distance of neighbouring positions of a tensor whose images, rows and columns lie at even distances,
/// which makes a matrix of it; -1 where they do not.
long long position_stride(const MatrixParams& t, int images, int rows, int columns) {
  const long long strides[] = {t.column_stride, t.row_stride, t.batch_stride};
  const int extents[] = {columns, rows, images};
  long long unit = 0;       // from one position to the next, once an extent has two
  long long positions = 1;  // of the extents before
  for (int i = 0; i < 3; ++i) {
    if (extents[i] <= 1) continue;
    if (positions == 1) unit = strides[i];
    if (strides[i] != unit * positions) return -1;
    positions *= extents[i];
  }
  return unit;
}

/// Images of the problem.
int images(const Conv2dProblem& problem) {
  const int positions = problem.direction == Direction::wgrad ? problem.product.k : problem.product.m;
  return positions / (problem.windows.rows.places.size * problem.windows.columns.places.size);
}

/// The rows of an output, or of C: position_stride of fprop and dgrad, the distance of filters of wgrad,
/// whose elements must be neighbours; -1 where it is no matrix.
long long line_stride(const Conv2dProblem& problem, const MatrixParams& tensor) {
  const Windows& w = problem.windows;
  if (problem.direction != Direction::wgrad)
    return position_stride(tensor, images(problem), w.rows.places.size, w.columns.places.size);
  const int taps = w.rows.taps.size * w.columns.taps.size;
  const long long tap_stride = position_stride(tensor, 1, w.rows.taps.size, w.columns.taps.size);
  return taps > 1 && tap_stride != w.channels.size ? -1 : tensor.batch_stride;
}

Status check_operand(const Conv2dProblem& problem, const ProblemOperand& operand, Operand name,
                     const int (&extents)[3]) {
  const DType type = name == Operand::a ? problem.product.types.a : problem.product.types.b;
  const int elements = 16 / bytes_of(type);
  if (operand.alignment[static_cast<int>(Layout::row)] < elements) {
    return refused("Operand `" + std::string(to_string(name)) +
                   "` is misaligned: this kernel needs a pointer and strides that are multiples of " +
                   text(elements) + " elements");
  }
  const MatrixParams& t = operand.matrix;
  const long long strides[] = {t.batch_stride, t.row_stride, t.column_stride};
  for (int i = 0; i < 3; ++i) {
    if (extents[i] <= 1) continue;
    if (strides[i] == 0) return {StatusCode::unsupported, Reason::overlapping_stride, name, elements, 0};
    if (strides[i] >= gemm_sm90::map_stride_limit / bytes_of(type)) {
      return {StatusCode::unsupported, Reason::stride_limit, name, gemm_sm90::map_stride_limit,
              strides[i] * bytes_of(type)};
    }
  }
  return {};
}

Status check_operands(const Conv2dProblem& problem) {
  const Windows& w = problem.windows;
  const bool over_a = walks_over_a(problem.direction);
  const GemmProblem& p = problem.product;
  const int image_extents[] = {images(problem), w.rows.extent, w.columns.extent};
  const ProblemOperand& walked = over_a ? p.a : p.b;
  if (Status s = check_operand(problem, walked, over_a ? Operand::a : Operand::b, image_extents); !s)
    return s;
  if (over_a) {
    const int filters = problem.direction == Direction::dgrad ? w.channels.size : p.n;
    const int extents[] = {filters, w.rows.taps.size, w.columns.taps.size};
    if (Status s = check_operand(problem, p.b, Operand::b, extents); !s) return s;
    if (position_stride(p.b.matrix, 1, extents[1], extents[2]) >= 0) return {};
    return refused(
        "Operand `b` is no list of taps: this kernel needs rows and columns of filters at even "
        "distances");
  }
  const int extents[] = {images(problem), w.rows.places.size, w.columns.places.size};
  if (Status s = check_operand(problem, p.a, Operand::a, extents); !s) return s;
  if (position_stride(p.a.matrix, extents[0], extents[1], extents[2]) >= 0) return {};
  return refused("Operand `a` is no matrix: this kernel needs images, rows and columns at even distances");
}

/// Positions of K in whole tiles.
long long padded_k(const Conv2dProblem& problem, int tile_k) {
  const Windows& w = problem.windows;
  if (problem.product.k == 0) return 0;
  if (problem.direction == Direction::wgrad) return problem.product.k;
  const long long tiles = (w.channels.size + tile_k - 1) / tile_k;
  return tiles * tile_k * w.rows.taps.size * w.columns.taps.size;
}

/// The images of a tensor, and the walk over a box of `pixels` of `channels`.
TensorMapFields image_map(const Conv2dProblem& problem, const MatrixParams& t, DType type, bool in_phases,
                          const gemm_sm90::OperandBox& box) {
  const Windows& w = problem.windows;
  const auto extent = [](int size) { return static_cast<unsigned long long>(size); };
  const auto stride = [&](int size, long long elements) {
    return size <= 1 ? any_stride : extent(bytes_of(type)) * static_cast<unsigned long long>(elements);
  };
  const auto corner = [](long long at) { return static_cast<short>(at); };
  const AxisWalk rows = axis_walk(problem, w.rows, in_phases);
  const AxisWalk columns = axis_walk(problem, w.columns, in_phases);
  return {
      .data = t.data,
      .dtype = type,
      .swizzle = box.swizzle(),
      .extent = {extent(w.channels.size), extent(w.columns.extent), extent(w.rows.extent),
                 extent(images(problem))},
      .stride = {stride(w.columns.extent, t.column_stride), stride(w.rows.extent, t.row_stride),
                 stride(images(problem), t.batch_stride)},
      .box = {static_cast<unsigned>(box.panel_line_elements()), static_cast<unsigned>(box.part_lines()), 1},
      .walk = {.lower = {corner(columns.lower), corner(rows.lower)},
               .upper = {corner(columns.upper), corner(rows.upper)},
               .step = {static_cast<unsigned char>(columns.step), static_cast<unsigned char>(rows.step)}}};
}

/// A matrix of lines: `middle` lines of each of `outer`.
struct LinesOf {
  int elements;
  int middle;
  int outer;
  long long middle_stride;
  long long outer_stride;
};

TensorMapFields line_map(const MatrixParams& t, DType type, const LinesOf& lines,
                         const gemm_sm90::OperandBox& box, bool along_outer) {
  const auto extent = [](int size) { return static_cast<unsigned long long>(size); };
  const auto stride = [&](int size, long long elements) {
    return size <= 1 ? any_stride : extent(bytes_of(type)) * static_cast<unsigned long long>(elements);
  };
  const auto part = static_cast<unsigned>(box.part_lines());
  return {.data = t.data,
          .dtype = type,
          .swizzle = box.swizzle(),
          .extent = {extent(lines.elements), extent(lines.middle), extent(lines.outer), 0},
          .stride = {stride(lines.middle, lines.middle_stride), stride(lines.outer, lines.outer_stride), 0},
          .box = {static_cast<unsigned>(box.panel_line_elements()), along_outer ? 1 : part,
                  along_outer ? part : 1},
          .walk = {}};
}

/// Checks that the output and what has its extents are matrices.
Status check_matrices(const Conv2dProblem& problem) {
  const GemmProblem& p = problem.product;
  const auto check = [&](bool is_given, const MatrixParams& tensor, Operand name) -> Status {
    if (!is_given || line_stride(problem, tensor) >= 0) return {};
    return refused("Operand `" + std::string(to_string(name)) +
                   "` is no matrix: this kernel needs its outer extents at even distances");
  };
  if (Status s = check(true, p.out.matrix, Operand::out); !s) return s;
  if (Status s = check(p.has_c, p.c.matrix, Operand::c); !s) return s;
  if (Status s = check(p.has_residual, p.epilogue.residual, Operand::residual); !s) return s;
  return check(p.has_aux, p.epilogue.aux, Operand::aux);
}

}  // namespace

Status check_tensors(const Conv2dProblem& problem, const Tile& tile, bool in_phases) {
  const GemmProblem& p = problem.product;
  const Windows& w = problem.windows;
  if (is_empty(p)) return {};
  if (p.batch != 1)
    return refused("There are " + text(p.batch) + " groups: this kernel takes convolutions of one group");
  if (!in_phases) {
    if (Status s = check_matrices(problem); !s) return s;
  }
  if (in_phases) {  // outputs of empty sums come in phases too
    if (Status s = check_stride(problem, w.rows, "height", in_phases); !s) return s;
    if (Status s = check_stride(problem, w.columns, "width", in_phases); !s) return s;
  }
  if (p.k == 0) return {};
  if (problem.direction == Direction::wgrad && w.channels.size % line_channels(tile.n) != 0) {
    return refused("There are " + text(w.channels.size) + " channels: this kernel takes multiples of " +
                   text(line_channels(tile.n)));
  }
  if (Status s = check_axis(problem, w.rows, "height", in_phases); !s) return s;
  if (Status s = check_axis(problem, w.columns, "width", in_phases); !s) return s;
  if (padded_k(problem, tile.k) > std::numeric_limits<int>::max() - 2 * max_setting) {
    return refused("Filters have too many elements for this kernel, which counts channels in lines of " +
                   text(tile.k));
  }
  return check_operands(problem);
}

GemmProblem matrix_product(const Conv2dProblem& problem, int tile_k) {
  GemmProblem p = problem.product;
  const auto matrix = [&](MatrixParams& tensor) {
    tensor = {tensor.data, line_stride(problem, tensor), 1, 0};
  };
  matrix(p.out.matrix);
  if (p.has_c) matrix(p.c.matrix);
  if (p.has_residual) matrix(p.epilogue.residual);
  if (p.has_aux) matrix(p.epilogue.aux);
  p.k = static_cast<int>(padded_k(problem, tile_k));
  if (problem.whole_k) p.controls.mode = Mode::gemm;
  return p;
}

Conv2dParams tensor_product(Direction direction, const TensorConv2dParams& params) {
  Conv2dParams p{params.gemm, params.windows};
  const Windows& w = p.windows;
  const bool is_wgrad = direction == Direction::wgrad;
  const auto tensor = [&](MatrixParams& m) {
    if (is_wgrad) {
      m = {m.data, static_cast<long long>(w.columns.taps.size) * w.channels.size, w.channels.size,
           m.row_stride};
    } else {
      const long long row = m.row_stride * w.columns.places.size;
      m = {m.data, row, m.row_stride, row * w.rows.places.size};
    }
  };
  for (MatrixParams* m : {&p.out, &p.c, &p.epilogue.residual, &p.epilogue.aux}) tensor(*m);
  if (!is_wgrad && p.k > 0) p.k = w.rows.taps.size * w.columns.taps.size * w.channels.size;
  p.mode = Mode::gemm;
  p.slices = 1;
  return p;
}

void add_tensor_maps(const Config& config, const Conv2dProblem& problem, TensorConv2dParams& params,
                     Launch& launch) {
  const Windows& w = problem.windows;
  const GemmProblem& p = problem.product;
  const gemm_sm90::Config code = product(config);
  const gemm_sm90::OperandBox box_a = gemm_sm90::box_a(code);
  const gemm_sm90::OperandBox box_b = gemm_sm90::box_b(code);
  if (problem.direction == Direction::wgrad) {
    const MatrixParams& a = p.a.matrix;
    const long long stride = position_stride(a, images(problem), w.rows.places.size, w.columns.places.size);
    add_map(launch, params.a, line_map(a, p.types.a, {p.m, p.k, 1, stride, 0}, box_a, false), Operand::a);
    add_map(launch, params.b, image_map(problem, p.b.matrix, p.types.b, false, box_b), Operand::b);
    return;
  }
  const MatrixParams& b = p.b.matrix;
  const bool is_fprop = problem.direction == Direction::fprop;
  const int taps = w.rows.taps.size * w.columns.taps.size;
  const LinesOf filters = {.elements = is_fprop ? w.channels.size : p.n,
                           .middle = taps,
                           .outer = is_fprop ? p.n : w.channels.size,
                           .middle_stride = position_stride(b, 1, w.rows.taps.size, w.columns.taps.size),
                           .outer_stride = b.batch_stride};
  add_map(launch, params.a, image_map(problem, p.a.matrix, p.types.a, is_phased(config), box_a), Operand::a);
  add_map(launch, params.b, line_map(b, p.types.b, filters, box_b, true), Operand::b);
}

}  // namespace quarry::conv2d_sm90
