#include "operations/gemm_list/lab/problem.hpp"

#include <algorithm>
#include <limits>

#include "basic/text.hpp"
#include "common/config_parts.hpp"
#include "lab/text.hpp"
#include "operations/gemm/lab/scales.hpp"
#include "operations/gemm_list/host_problem.hpp"
#include "operations/gemm_list/lab/expression.hpp"
#include "operations/gemm_list/lab/operation.hpp"
#include "operations/gemm_list/lab/sizes.hpp"
#include "operations/gemm_list/problem.hpp"

namespace quarry::lab::gemm_list {
namespace {

Status wrong(std::string message) { return {StatusCode::parse_error, std::move(message)}; }

/// An operand of parts that may be left out: an array of pointers, unless they say something else.
OperandSpec completed(const std::optional<OperandParts>& parts, DType otherwise) {
  OperandSpec spec = complete(parts, otherwise);
  spec.array = !spec.stride && !spec.shared;
  return spec;
}

Status read_operands(SettingReader& reader, Problem& problem) {
  const auto type = reader.read("type", parse_dtype);
  const auto a = reader.read("a", parse_operand);
  const auto b = reader.read("b", parse_operand);
  const auto out = reader.read("out", parse_operand);
  if (!reader.status()) return reader.status();
  DType otherwise = type.value_or(DType::none);
  for (const auto* operand : {&a, &b, &out}) {
    if (otherwise == DType::none && *operand) otherwise = (*operand)->dtype.value_or(DType::none);
  }
  if (otherwise == DType::none) {
    return wrong("which type? Say it behind the shape (gemm_list 64x64x64,128x32x512 f16) or with --a");
  }
  problem.a = completed(a, otherwise);
  problem.b = completed(b, otherwise);
  problem.out = completed(out, otherwise);
  check_batch(reader, "a", problem.a, problem.count());
  check_batch(reader, "b", problem.b, problem.count());
  check_batch(reader, "out", problem.out, problem.count(), true);
  return reader.status();
}

/// Bounds, and sizes that differ from the shape.
Status read_sizes(std::string_view shape, SettingReader& reader, Problem& problem) {
  const auto is_negative = [](const ListExtents& e) { return e.m < 0 || e.n < 0 || e.k < 0; };
  if (std::ranges::any_of(problem.sizes, is_negative))
    return wrong("shape " + detail::quoted(shape) + ": expected extents of 0 or more");
  problem.bounds = bounds_of(problem.sizes);
  const auto bounds = reader.read("bounds", parse_list);
  if (bounds) {
    if (bounds->size() != 1 || is_negative(bounds->front()))
      return wrong("--bounds: expected MxNxK, extents of 0 or more");
    problem.bounds = bounds->front();
  }
  const auto sizes = reader.read("sizes", parse_list);
  if (!reader.status() || !sizes) return reader.status();
  if (sizes->size() != problem.sizes.size()) {
    return wrong("--sizes: expected " + counted(problem.sizes.size(), "problem") + ", got " +
                 std::to_string(sizes->size()));
  }
  problem.sizes = *sizes;
  return {};
}

Status read_leading(SettingReader& reader, Problem& problem) {
  const auto promise = reader.read("leading-alignment", [](std::string_view text) {
    return parse_integer("value", text, 1, std::numeric_limits<std::int32_t>::max());
  });
  if (promise) problem.leading_alignment = static_cast<int>(*promise);
  if (problem.leading_alignment && reader.text("leading").empty())
    return wrong("--leading-alignment: there is no --leading");
  if (reader.text("leading") == "packed") {
    problem.leading = packed_leading(problem);
    return {};
  }
  const auto leading = reader.read("leading", parse_leading);
  if (!reader.status() || !leading) return reader.status();
  if (leading->size() != problem.sizes.size()) {
    return wrong("--leading: expected leading dimensions of " + counted(problem.sizes.size(), "problem") +
                 ", got " + std::to_string(leading->size()));
  }
  problem.leading = *leading;
  return {};
}

GemmParams most_of(const Problem& p) {
  GemmParams most = {};
  most.m = p.bounds.m;
  most.n = p.bounds.n;
  most.k = p.bounds.k;
  return most;
}

/// Sizes that the host refuses are bad input, whichever kernel would get them.
Status check_sizes(const Problem& p) {
  if (p.clamp_host_sizes) return {};
  for (std::size_t i = 0; i < p.sizes.size(); ++i) {
    if (Status s = host::check_extents(most_of(p), static_cast<int>(i), p.sizes[i], p.pair_unit()); !s)
      return s;
  }
  return {};
}

/// The same of leading dimensions. What a kernel needs of them is not looked at.
Status check_leading(const Problem& p) {
  if (p.clamp_host_sizes || p.leading.empty()) return {};
  GemmListProblem problem;
  detail::gemm_list::describe(Lab::arguments(p), problem);
  GemmParams bounds = most_of(p);
  bounds.a = problem.gemm.a.matrix;
  bounds.b = problem.gemm.b.matrix;
  bounds.c = problem.gemm.c.matrix;
  bounds.out = problem.gemm.out.matrix;
  const host::LeadingCheck check = {bounds, problem.list, problem.gemm.has_c, {1, 1}};
  for (std::size_t i = 0; i < p.leading.size(); ++i) {
    const ListExtents own = p.own(i);
    if (own.m == 0 || own.n == 0) continue;
    const auto number = static_cast<int>(i);
    if (Status s = host::check_lines(check, number, own, p.own_output(i), p.leading[i].data()); !s) return s;
  }
  return {};
}

/// The flag that put an input in the output's place.
std::string in_place_flag(Operand input) {
  if (input == Operand::c) return "--c out";
  return input == Operand::residual ? "--residual out" : "--in-place";
}

/// Refuses inputs in the output's place that do not lie as it does: C has a leading dimension of its own in
/// each problem, and all others have the view's.
Status check_in_place(const Problem& p) {
  if (p.clamp_host_sizes || p.leading.empty()) return {};
  const TensorView out = view_of(p.out, p.count(), p.bounds.m, p.output_columns());
  const bool by_columns = detail::gemm_list::is_by_columns(out);
  const std::int64_t of_view = out.strides[by_columns ? 2 : 1];
  const auto given = [&](std::size_t i, ListMatrix which) -> std::int64_t {
    return p.leading[i][static_cast<std::size_t>(which)];
  };
  for (const Operand input : Lab::in_place(p)) {
    const bool is_c = input == Operand::c;
    if (is_c && p.epilogue.beta == 0) continue;
    for (std::size_t i = 0; i < p.leading.size(); ++i) {
      const ListExtents own = p.own_output(i);
      const std::int64_t of_input = is_c ? given(i, ListMatrix::c) : of_view;
      const std::int64_t of_out = given(i, ListMatrix::out);
      if (own.m == 0 || own.n == 0 || (by_columns ? own.n : own.m) == 1 || of_input == of_out) continue;
      return wrong(in_place_flag(input) + ": the leading dimensions differ at problem " + std::to_string(i) +
                   ": for out it is " + std::to_string(of_out) + ", and for the input " +
                   (is_c ? "" : "the view's, ") + std::to_string(of_input));
    }
  }
  return {};
}

/// The sizes within the bounds.
std::vector<ListExtents> sensible(const Problem& p) {
  std::vector<ListExtents> list;
  for (std::size_t i = 0; i < p.sizes.size(); ++i) list.push_back(p.own(i));
  return list;
}

bool is_same(const std::vector<ListExtents>& x, const std::vector<ListExtents>& y) {
  return std::ranges::equal(x, y, [](const ListExtents& a, const ListExtents& b) {
    return a.m == b.m && a.n == b.n && a.k == b.k;
  });
}

/// Fake scales of an operand.
std::optional<TensorView> scales_of(const Problem& p, Operand name,
                                    const std::optional<ScaleGranularity>& granularity,
                                    const OperandSpec& operand, const detail::MatrixExtents& of) {
  if (!granularity) return std::nullopt;
  const detail::MatrixExtents extents = detail::scale_extents(name, *granularity, of);
  const OperandSpec spec = {.dtype = DType::f32,
                            .layout = name == Operand::a_scale ? Layout::column : Layout::row,
                            .array = operand.array,
                            .shared = operand.shared};
  return view_of(spec, p.count(), extents.rows, extents.columns);
}

}  // namespace

DType Problem::sums() const { return accumulator.value_or(default_accumulator(a.dtype, b.dtype)); }

DType Problem::compute() const { return compute_type(sums(), out.dtype); }

int Problem::pair_unit() const {
  if (!is_gated()) return 1;
  return quarry::pair_unit(expression->pairs() == expression::Pairs::eights, Layout::column, 1);
}

ListExtents Problem::own(std::size_t number) const {
  return in_units(clamped_extents(most_of(*this), sizes[number]), pair_unit());
}

ListExtents Problem::own_output(std::size_t number) const {
  return is_gated() ? with_half_columns(own(number)) : own(number);
}

GemmListArguments Lab::arguments(const Problem& p) {
  const OutputSpec output = p.output();
  GemmListArguments args;
  args.a = view_of(p.a, p.count(), p.bounds.m, p.bounds.k);
  args.b = view_of(p.b, p.count(), p.bounds.k, p.bounds.n);
  args.c = c_of(p.epilogue, output);
  args.out = view_of(p.out, p.count(), p.bounds.m, p.output_columns());
  args.sizes = TensorView::row_major(nullptr, DType::s32, {p.count(), list_extents});
  if (!p.leading.empty())
    args.leading = TensorView::row_major(nullptr, DType::s32, {p.count(), list_matrices});
  args.a_scale = scales_of(p, Operand::a_scale, p.a_scale, p.a, {p.bounds.m, p.bounds.k});
  args.a_scale_granularity = p.a_scale.value_or(ScaleGranularity::tensor);
  args.b_scale = scales_of(p, Operand::b_scale, p.b_scale, p.b, {p.bounds.k, p.bounds.n});
  args.b_scale_granularity = p.b_scale.value_or(ScaleGranularity::tensor);
  args.clamp_host_sizes = p.clamp_host_sizes;
  args.schedule = p.schedule;
  args.accumulator = p.accumulator;
  args.epilogue = epilogue_of(p.epilogue, output, p.compute());
  args.host_sizes = kept_sizes(p.sizes);
  args.leading_alignment = p.leading_alignment.value_or(kept_alignment(p, args));
  add_expression(p, args);
  return args;
}

Result<Problem> Lab::parse(std::string_view shape, SettingReader& reader) {
  const Result<std::vector<ListExtents>> list = parse_list(shape);
  if (!list) return wrong("shape " + detail::quoted(shape) + ": " + list.status().message());
  Problem problem;
  problem.sizes = *list;
  if (Status s = read_sizes(shape, reader, problem); !s) return s;
  problem.accumulator = reader.read("accumulator", parse_dtype);
  if (Status s = read_operands(reader, problem); !s) return s;
  const auto clamps = reader.read("wrong-sizes", [](std::string_view text) {
    return parse_word("value", text, {"refuse", "clamp"});
  });
  problem.clamp_host_sizes = clamps.value_or(0) == 1;
  problem.a_scale = reader.read("a-scale", parse_a_scale);
  problem.b_scale = reader.read("b-scale", parse_b_scale);
  problem.schedule = reader.read("schedule", parse_list_schedule).value_or(ListSchedule::device);
  read_expression(reader, problem);
  problem.epilogue = read_epilogue(reader, problem.output());
  if (!reader.status()) return reader.status();
  if (Status s = read_leading(reader, problem); !s) return s;
  if (Status s = check_sizes(problem); !s) return s;
  if (Status s = check_leading(problem); !s) return s;
  if (Status s = check_in_place(problem); !s) return s;
  return problem;
}

std::string Lab::shape_text(const Problem& p) { return list_text(sensible(p)); }

std::string Lab::command_text(const Problem& p) {
  const std::vector<ListExtents> list = sensible(p);
  std::string text = list_text(list);
  if (!is_same({bounds_of(list)}, {p.bounds})) text += flag_text("bounds", list_text({p.bounds}));
  if (!is_same(list, p.sizes)) text += flag_text("sizes", list_text(p.sizes));
  if (!p.leading.empty()) text += flag_text("leading", leading_text(p.leading));
  if (p.leading_alignment) text += flag_text("leading-alignment", std::to_string(*p.leading_alignment));
  text += flag_text("a", operand_text(p.a)) + flag_text("b", operand_text(p.b)) + c_text(p.epilogue) +
          flag_text("out", operand_text(p.out));
  if (p.clamp_host_sizes) text += flag_text("wrong-sizes", "clamp");
  if (p.schedule == ListSchedule::host) text += flag_text("schedule", std::string(to_string(p.schedule)));
  if (p.a_scale) text += flag_text("a-scale", std::string(to_string(*p.a_scale)));
  if (p.b_scale) text += flag_text("b-scale", std::string(to_string(*p.b_scale)));
  if (p.accumulator) text += flag_text("accumulator", std::string(to_string(*p.accumulator)));
  return text + epilogue_text(p.epilogue) + expression_text(p);
}

}  // namespace quarry::lab::gemm_list
