#include "operations/grouped_gemm/lab/problem.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "basic/text.hpp"
#include "common/config_parts.hpp"
#include "lab/text.hpp"
#include "operations/common/problem_words.hpp"
#include "operations/gemm/lab/scales.hpp"
#include "operations/grouped_gemm/executor.hpp"
#include "operations/grouped_gemm/lab/expression.hpp"
#include "operations/grouped_gemm/lab/operation.hpp"
#include "operations/grouped_gemm/lab/sizes.hpp"
#include "operations/grouped_gemm/problem.hpp"

namespace quarry::lab::grouped_gemm {
namespace {

using detail::grouped_gemm::form_words;

constexpr std::int64_t tokens_of_a_group = 128;
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

/// The number of a word of a list.
Result<std::size_t> parse_one_of(std::string_view text, std::span<const std::string_view> words) {
  const auto found = std::ranges::find(words, text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string expected;
  for (const std::string_view word : words) expected.append(expected.empty() ? "" : ", ").append(word);
  return Status(StatusCode::parse_error, "expected one of " + expected + ", got " + detail::quoted(text));
}

std::size_t read_word(SettingReader& reader, std::string_view name, std::span<const std::string_view> words) {
  return reader.read(name, [&](std::string_view text) { return parse_one_of(text, words); }).value_or(0);
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
    return Status(StatusCode::parse_error,
                  "which type? Say it behind the shape (grouped_gemm 8x512x512 f16) or with --a");
  }
  problem.a = complete(a, otherwise);
  problem.b = complete(b, otherwise);
  problem.out = complete(out, otherwise);
  return {};
}

/// The rows or positions that sizes which make sense need.
std::int64_t needed_room(const Problem& p) {
  std::int64_t all = 0;
  std::int64_t largest = 0;
  for (const std::int64_t size : p.sizes) {
    all += std::max<std::int64_t>(size, 0);
    largest = std::max(largest, size);
  }
  return p.form != GroupForm::masked && p.sizes_are == SizesAre::counts ? all : largest;
}

/// Sizes by a list or a distribution, and the room.
Status read_sizes(SettingReader& reader, Problem& problem) {
  const bool is_masked = problem.form == GroupForm::masked;
  problem.sizes_are =
      reader.read("sizes-are", parse_sizes_are).value_or(is_masked ? SizesAre::counts : SizesAre::ends);
  const auto list = reader.read("sizes", parse_size_list);
  const auto tokens = reader.integer("tokens", most, 0);
  const std::string distribution(reader.text("distribution"));
  if (problem.groups == 0 && tokens.value_or(0) > 0)
    reader.fail("tokens", Status(StatusCode::parse_error,
                                 "expected 0, as there are no groups, got " + std::to_string(*tokens)));
  if (!reader.status()) return reader.status();
  if (list) {
    if (tokens || !distribution.empty())
      return Status(StatusCode::parse_error,
                    "--sizes: sizes that are given have neither tokens nor a distribution");
    if (std::ssize(*list) != problem.groups) {
      return Status(StatusCode::parse_error, "--sizes: expected " +
                                                 counted(static_cast<std::size_t>(problem.groups), "size") +
                                                 ", one for each group, got " + std::to_string(list->size()));
    }
    problem.sizes = *list;
    if (list->empty()) problem.distribution = "even";  // a list without numbers has no text
  } else {
    problem.tokens = tokens.value_or(std::min(most, tokens_of_a_group * problem.groups));
    problem.distribution = distribution.empty() ? "even" : distribution;
    const auto counts = distributed(problem.distribution, problem.tokens, problem.groups);
    if (!counts) {
      reader.fail("distribution", counts.status());
      return reader.status();
    }
    problem.sizes = problem.sizes_are == SizesAre::ends && !is_masked ? ends_of(*counts) : *counts;
  }
  problem.largest = reader.integer("largest", most, 0);
  const auto room = reader.integer("room", most, 0);
  problem.room = std::min(most, room.value_or(needed_room(problem)));
  return reader.status();
}

/// Whether a tensor is what a reduction leaves of the rows or columns of each group.
bool is_line_of_each(const Expression& expression, const ExpressionTensor& tensor) {
  return tensor.view.rank == 2 && std::ranges::any_of(expression.outputs(), [&](const auto& output) {
           const bool is_line =
               output.extent == expression::Extent::row || output.extent == expression::Extent::column;
           return is_line && output.tensor.name == tensor.name;
         });
}

/// Takes the entry that said_groups added out of all that has an entry for each group.
void empty_batches(const Problem& p, GroupedGemmArguments& args) {
  const auto empty = [](TensorView& view) {
    if (view.rank == 3) view.extents[0] = 0;
  };
  for (TensorView* view : {&args.a, &args.b, &args.out}) empty(*view);
  Epilogue& e = args.epilogue;
  for (auto* view : {&args.c, &args.a_scale, &args.b_scale, &e.residual, &e.aux}) {
    if (*view) empty(**view);
  }
  for (ExpressionTensor& tensor : args.tensors) {
    empty(tensor.view);
    const bool is_of_each = std::ranges::find(p.of_each, tensor.name) != p.of_each.end();
    if (is_of_each || is_line_of_each(*p.expression, tensor)) tensor.view.extents[0] = 0;
  }
}

}  // namespace

DType Problem::sums() const { return accumulator.value_or(default_accumulator(a.dtype, b.dtype)); }

DType Problem::compute() const { return compute_type(sums(), out.dtype); }

GroupParams Problem::group_params() const {
  return {.sizes = sizes.data(),
          .groups = static_cast<int>(sizes.size()),
          .room = static_cast<int>(room),
          .form = form,
          .sizes_are_ends = sizes_are == SizesAre::ends,
          .zero_outside = zero_outside,
          .clamp_host_sizes = clamp_host_sizes};
}

GroupedGemmArguments Lab::arguments(const Problem& p) {
  const OutputSpec output = p.output();
  const bool is_ragged = p.form == GroupForm::ragged_k;
  GroupedGemmArguments args = {
      .a = is_ragged ? view_of(p.a, 0, p.m, p.room) : view_of(p.a, p.entries(), p.room, p.k),
      .b = is_ragged ? view_of(p.b, 0, p.room, p.n) : view_of(p.b, p.said_groups(), p.k, p.n),
      .c = c_of(p.epilogue, output),
      .out = view_of(p.out, p.entries(), p.out_rows(), p.output_columns()),
      .sizes = TensorView::vector(nullptr, DType::s32, p.groups),
      .sizes_are = p.sizes_are,
      .zero_outside = p.zero_outside,
      .clamp_host_sizes = p.clamp_host_sizes,
      .a_scale = scale_view(Operand::a_scale, p.a_scale, p.entries(), {p.room, p.k}),
      .a_scale_granularity = p.a_scale.value_or(ScaleGranularity::tensor),
      .b_scale = scale_view(Operand::b_scale, p.b_scale, p.said_groups(), {p.k, p.n}),
      .b_scale_granularity = p.b_scale.value_or(ScaleGranularity::tensor),
      .accumulator = p.accumulator,
      .epilogue = epilogue_of(p.epilogue, output, p.compute()),
      .expected_total = p.distribution.empty() ? std::nullopt : std::optional(p.tokens),
      .expected_largest = p.largest};
  add_expression(p, args);
  if (p.groups == 0) empty_batches(p, args);
  return args;
}

Result<Problem> Lab::parse(std::string_view shape, SettingReader& reader) {
  Problem problem;
  problem.form = static_cast<GroupForm>(read_word(reader, "form", form_words));
  if (!reader.status()) return reader.status();
  const bool is_ragged = problem.form == GroupForm::ragged_k;
  const Result<std::vector<std::int64_t>> sizes =
      parse_sizes(shape, is_ragged ? "GMN" : "GNK", is_ragged ? "8x4096x4096" : "8x4096x7168");
  if (!sizes) return sizes.status();
  problem.groups = (*sizes)[0];
  if (problem.groups > detail::most_said_groups) {
    return Status(StatusCode::parse_error, "shape " + detail::quoted(shape) + ": expected " +
                                               std::to_string(detail::most_said_groups) + " groups at most");
  }
  problem.n = (*sizes)[is_ragged ? 2 : 1];
  (is_ragged ? problem.m : problem.k) = (*sizes)[is_ragged ? 1 : 2];
  problem.accumulator = reader.read("accumulator", parse_dtype);
  if (Status s = read_operands(reader, problem); !s) return s;
  if (Status s = read_sizes(reader, problem); !s) return s;
  constexpr std::string_view outside[] = {"keep", "zero"};
  constexpr std::string_view wrong[] = {"refuse", "clamp"};
  problem.zero_outside = read_word(reader, "outside", outside) == 1;
  problem.clamp_host_sizes = read_word(reader, "wrong-sizes", wrong) == 1;
  check_batch(reader, "a", problem.a, problem.entries());
  check_batch(reader, "b", problem.b, is_ragged ? 0 : problem.said_groups());
  check_batch(reader, "out", problem.out, problem.entries(), true);
  problem.a_scale = reader.read("a-scale", parse_a_scale);
  problem.b_scale = reader.read("b-scale", parse_b_scale);
  read_expression(reader, problem);
  problem.epilogue = read_epilogue(reader, problem.output());
  if (!reader.status()) return reader.status();
  if (!problem.clamp_host_sizes) {
    if (Status s = host::check_sizes(problem.group_params()); !s) return s;
  }
  return problem;
}

std::string Lab::shape_text(const Problem& p) {
  const bool is_ragged = p.form == GroupForm::ragged_k;
  return std::to_string(p.groups) + "x" + std::to_string(is_ragged ? p.m : p.n) + "x" +
         std::to_string(is_ragged ? p.n : p.k);
}

std::string Lab::command_text(const Problem& p) {
  std::string text = shape_text(p);
  if (p.form != GroupForm::contiguous)
    text += flag_text("form", std::string(form_words[static_cast<std::size_t>(p.form)]));
  text += flag_text("a", operand_text(p.a)) + flag_text("b", operand_text(p.b));
  if (p.a_scale) text += flag_text("a-scale", std::string(to_string(*p.a_scale)));
  if (p.b_scale) text += flag_text("b-scale", std::string(to_string(*p.b_scale)));
  text += c_text(p.epilogue) + flag_text("out", operand_text(p.out));
  if (p.distribution.empty()) {
    text += flag_text("sizes", size_list_text(p.sizes));
  } else {
    text += flag_text("tokens", std::to_string(p.tokens)) + flag_text("distribution", p.distribution);
  }
  if (p.largest) text += flag_text("largest", std::to_string(*p.largest));
  text +=
      flag_text("sizes-are", std::string(to_string(p.sizes_are))) + flag_text("room", std::to_string(p.room));
  if (p.zero_outside) text += flag_text("outside", "zero");
  if (p.clamp_host_sizes) text += flag_text("wrong-sizes", "clamp");
  if (p.accumulator) text += flag_text("accumulator", std::string(to_string(*p.accumulator)));
  return text + epilogue_text(p.epilogue) + expression_text(p);
}

}  // namespace quarry::lab::grouped_gemm
