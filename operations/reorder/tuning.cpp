// Reorders as logs of problems know them, and in the words of the command line.
#include <string>

#include "operations/common/problem_words.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/reorder/operation.hpp"
#include "quarry/conv2d.hpp"

namespace quarry::detail::reorder {
namespace {

TuningQuestion::Side said_side(const ReorderSide& side, const ReorderParams& params) {
  const int lines = side.lines_are_rows ? params.rows : params.columns;
  const int elements = side.lines_are_rows ? params.columns : params.rows;
  return {.line_stride = lines > 1 ? side.line_stride : 0,
          .element_stride = elements > 1 ? side.element_stride : 0,
          .batch_stride = params.batch > 1 ? side.batch_stride : 0,
          .lines_are_rows = side.lines_are_rows,
          .interleaved = side.interleaved};
}

enum class TensorOrder : std::uint8_t { channels_last, images, filters, other };

/// How a tensor of four extents lies, if it is packed.
TensorOrder order_of(const TensorView& view) {
  const auto& e = view.extents;
  if (view.tag == LayoutTag::strided) {
    const TensorView packed = TensorView::row_major(nullptr, view.dtype, {e[0], e[1], e[2], e[3]});
    return lies_as(view, packed) ? TensorOrder::channels_last : TensorOrder::other;
  }
  if (lies_as(view, nc32hw32(nullptr, view.dtype, e))) return TensorOrder::images;
  return lies_as(view, c32rsk32(nullptr, view.dtype, e)) ? TensorOrder::filters : TensorOrder::other;
}

/// TYPE:row or TYPE:col32 of a tensor of four extents.
void write_side(std::string_view name, const TensorView& view, ProblemWords& words) {
  const bool is_row = order_of(view) == TensorOrder::channels_last;
  // A single channel's stride decides which extent makes the lines.
  if (is_row && view.extents[3] == 1 && view.strides[3] > view.strides[2]) words.refuse();
  words.flag(name, std::string(to_string(view.dtype)) + (is_row ? ":row" : ":col32") +
                       ProblemWords::alignment_text(view));
}

std::string tensor_words(const ReorderArguments& args) {
  const auto& e = args.to.extents;
  ProblemWords words(std::to_string(e[0]) + "x" + std::to_string(e[1]) + "x" + std::to_string(e[2]) + "x" +
                     std::to_string(e[3]));
  const TensorOrder from = order_of(args.from);
  const TensorOrder to = order_of(args.to);
  const auto is_any = [&](TensorOrder order) { return from == order || to == order; };
  const bool are_mixed = is_any(TensorOrder::images) && is_any(TensorOrder::filters);
  if (are_mixed || is_any(TensorOrder::other)) words.refuse();
  write_side("from", args.from, words);
  write_side("to", args.to, words);
  if (is_any(TensorOrder::filters)) words.flag("tensor", "filters");
  return words.text();
}

}  // namespace

std::int64_t Rules::tuning_question(const ReorderProblem& problem, TuningQuestion& question) {
  const ReorderParams& p = problem.params;
  const bool is_empty = p.rows == 0 || p.columns == 0 || p.batch == 0;
  question = {.from = is_empty ? TuningQuestion::Side() : said_side(p.from, p),
              .to = is_empty ? TuningQuestion::Side() : said_side(p.to, p),
              .rows = p.rows,
              .columns = p.columns,
              .batch = p.batch,
              .type = static_cast<int>(problem.type)};
  return 0;
}

std::string Rules::command_text(const ReorderArguments& args) {
  if (args.to.rank == 4) return tensor_words(args);
  const bool in_batch = args.to.rank == 3;
  const std::size_t last = args.to.rank - 1U;
  ProblemWords words(std::to_string(args.to.extents[last - 1]) + "x" + std::to_string(args.to.extents[last]));
  words.matrix("from", args.from, in_batch);
  words.matrix("to", args.to, in_batch);
  words.batch(args.to);
  return words.text();
}

}  // namespace quarry::detail::reorder
