#include "quarry/status.hpp"

#include <string>

#include "basic/words.hpp"
#include "quarry/tensor.hpp"

namespace quarry {
namespace {

/// What a sentence about a refusal is made of: "<about>: expected <expected>, got <got>".
struct Refusal {
  std::string about;
  std::string expected;
  std::string got;
};

std::string word(std::span<const std::string_view> words, std::int64_t value) {
  return std::string(detail::word_of(words, value));
}

/// 80 as "8.0".
std::string capability(std::int64_t cc) { return std::to_string(cc / 10) + "." + std::to_string(cc % 10); }

std::string count(std::int64_t number, std::string_view unit) {
  return std::to_string(number).append(" ").append(unit);
}

/// The size of a matrix operand along its rows or columns, as a problem's letter: " (K)"; empty where there
/// is none.
std::string problem_extent(Operand operand, bool rows) {
  switch (operand) {
    case Operand::a: return rows ? " (M)" : " (K)";
    case Operand::b: return rows ? " (K)" : " (N)";
    case Operand::c:
    case Operand::residual:
    case Operand::aux:
    case Operand::partials:
    case Operand::out: return rows ? " (M)" : " (N)";
    default: return "";
  }
}

/// Refusals of an operand's type, place and memory. `operand` is how the sentence begins.
Refusal operand_refusal(Reason reason, Operand which, const std::string& operand, std::int64_t expected,
                        std::int64_t got) {
  switch (reason) {
    case Reason::dtype:
      return {operand + " is unsupported", word(detail::dtype_words, expected),
              word(detail::dtype_words, got)};
    case Reason::layout:
      return {operand + " is unsupported", word(detail::layout_words, expected) + " layout",
              got < 0 ? "neither row nor column layout" : word(detail::layout_words, got) + " layout"};
    case Reason::pointer_alignment:
      return {operand + " is misaligned", "a pointer that is a multiple of " + count(expected, "elements"),
              "a multiple of " + std::to_string(got)};
    case Reason::leading_alignment:
      return {operand + " is misaligned",
              "a leading dimension that is a multiple of " + count(expected, "elements"),
              std::to_string(got)};
    case Reason::batch_alignment:
      return {operand + " is misaligned",
              "a batch stride that is a multiple of " + count(expected, "elements"), std::to_string(got)};
    case Reason::tag:
      return {operand + (which == Operand::out ? " is unsupported" : " is stored differently from `out`"),
              word(detail::tag_words, expected), word(detail::tag_words, got)};
    case Reason::null_data: return {operand + " has no data", "a pointer", "null"};
    case Reason::missing: return {operand + " is missing", "a value", "none"};
    case Reason::mixed_devices:
      if (expected == got)
        return {operand + " lies elsewhere",
                "the device of `" + std::string(to_string(static_cast<Operand>(expected))) + "`",
                "another one"};
      return {operand + " lies elsewhere", "memory of CUDA device " + std::to_string(expected),
              "memory of device " + std::to_string(got)};
    case Reason::array_place:
      return {operand + " lies elsewhere", "its array of pointers in device memory, as the other operands",
              "host memory"};
    case Reason::mode_array: {
      constexpr std::string_view word = "Operand ";
      return {"Mode `array` is unsupported", "matrices by a pointer and a stride",
              "an array of pointers as " + operand.substr(operand.starts_with(word) ? word.size() : 0)};
    }
    case Reason::no_operand: return {operand + " is unsupported", "none", "a tensor"};
    case Reason::granularity:
      if (got < 0) return {operand + " is missing", "scales of A or B", "none"};
      return {operand + " is unsupported",
              expected > 0
                  ? "no scales that change more often than every " + std::to_string(expected) + " of K"
                  : "one value, or one for each row of A or column of B",
              "blocks of " + word(detail::granularity_words, got)};
    default: {
      const std::string output = "`" + std::string(to_string(static_cast<Operand>(got))) + "`";
      if (expected == 0) return {operand + " overlaps " + output, "memory of its own", "memory of " + output};
      return {operand + " overlaps " + output, "memory of its own, or exactly the memory of " + output,
              "a part of it"};
    }
  }
}

/// Refusals of an operand's rank, extents and strides.
Refusal shape_refusal(Reason reason, Operand which, const std::string& operand, std::int64_t expected,
                      std::int64_t got) {
  const std::string misfit = operand + " does not fit";
  switch (reason) {
    case Reason::rows:
      return {misfit, count(expected, "rows") + problem_extent(which, true), std::to_string(got)};
    case Reason::columns:
      return {misfit, count(expected, "columns") + problem_extent(which, false), std::to_string(got)};
    case Reason::batch: return {misfit, "a batch of " + std::to_string(expected), std::to_string(got)};
    case Reason::extent: return {misfit, "an extent of " + std::to_string(expected), std::to_string(got)};
    case Reason::rank: return {misfit, "rank " + std::to_string(expected), "rank " + std::to_string(got)};
    case Reason::interleaved_extent:
      return {operand + " is interleaved", "extents that are multiples of " + std::to_string(expected),
              std::to_string(got)};
    case Reason::negative_extent:
      return {operand + " has a negative extent", "0 or more", std::to_string(got)};
    case Reason::extent_limit:
      return {operand + " is too large", "an extent of at most " + std::to_string(expected),
              std::to_string(got)};
    case Reason::overlapping_input:
      return {operand + " overlaps itself",
              "a leading dimension of at least " + count(expected, "elements") +
                  ", of 0, or a view that says `overlapping`",
              std::to_string(got)};
    case Reason::stride_limit:
      return {operand + " has too large a stride", "less than " + count(expected, "bytes"),
              std::to_string(got)};
    case Reason::negative_stride:
      return {operand + " has a negative stride", "0 or more elements", std::to_string(got)};
    default:
      return {operand + " overlaps itself", "a stride of at least " + count(expected, "elements"),
              std::to_string(got)};
  }
}

/// Refusals of the device, the controls, the workspace and the whole problem.
Refusal run_refusal(Reason reason, std::int64_t expected, std::int64_t got) {
  switch (reason) {
    case Reason::compute_capability:
      return {"The device is unsupported",
              (got < expected ? "compute capability at least " : "compute capability at most ") +
                  capability(expected),
              capability(got)};
    case Reason::shared_memory:
      return {"The device is unsupported", count(expected, "bytes") + " of shared memory for a block",
              std::to_string(got)};
    case Reason::mode:
      return {"Control `mode` is unsupported", "a mode that the kernel permits",
              word(detail::mode_words, got)};
    case Reason::split_k_slices:
      return {"Control `split_k_slices` is unsupported", "1 to " + std::to_string(expected),
              std::to_string(got)};
    case Reason::k_limit:
      return {"K is unsupported", "at most " + std::to_string(expected), std::to_string(got)};
    case Reason::swizzle: return {"Control `swizzle` is unsupported", "1, 2, 4 or 8", std::to_string(got)};
    case Reason::multiprocessors:
      return {"Control `multiprocessors` is unsupported", "at least " + std::to_string(expected),
              std::to_string(got)};
    case Reason::control:
      return {"Control `" + word(detail::control_words, got) + "` is unsupported", "it unset", "a value"};
    case Reason::workspace_size:
      return {"Operand `workspace` is too small", count(expected, "bytes"), std::to_string(got)};
    case Reason::workspace_alignment:
      return {"Operand `workspace` is misaligned", "a multiple of " + count(expected, "bytes"),
              "another address"};
    default: return {"The problem is too large", "at most " + count(expected, "blocks"), std::to_string(got)};
  }
}

Refusal refusal_of(Reason reason, Operand operand, std::int64_t expected, std::int64_t got) {
  const std::string name =
      operand == Operand::none ? "The tensor" : "Operand `" + std::string(to_string(operand)) + "`";
  // A list's leading dimensions are known by what is promised of them.
  if (reason == Reason::leading_alignment && operand == Operand::leading)
    return {"`leading_alignment` promises too little", "a multiple of " + count(expected, "elements"),
            std::to_string(got)};
  switch (reason) {
    case Reason::dtype:
    case Reason::layout:
    case Reason::pointer_alignment:
    case Reason::leading_alignment:
    case Reason::batch_alignment:
    case Reason::tag:
    case Reason::null_data:
    case Reason::missing:
    case Reason::mixed_devices:
    case Reason::array_place:
    case Reason::mode_array:
    case Reason::no_operand:
    case Reason::granularity:
    case Reason::output_overlap: return operand_refusal(reason, operand, name, expected, got);
    case Reason::extent:
    case Reason::rows:
    case Reason::columns:
    case Reason::batch:
    case Reason::rank:
    case Reason::interleaved_extent:
    case Reason::negative_extent:
    case Reason::extent_limit:
    case Reason::negative_stride:
    case Reason::stride_limit:
    case Reason::overlapping_stride:
    case Reason::overlapping_input: return shape_refusal(reason, operand, name, expected, got);
    default: return run_refusal(reason, expected, got);
  }
}

}  // namespace

std::string Status::message() const {
  if (code_ == StatusCode::ok) return "ok";
  if (text_ != nullptr) return *text_;
  // A text is gone where the status was moved from.
  if (reason_ == Reason::none || reason_ == Reason::text) return std::string(to_string(code_));
  const Refusal refusal = refusal_of(reason_, operand_, expected_, got_);
  return refusal.about + ": expected " + refusal.expected + ", got " + refusal.got;
}

}  // namespace quarry
