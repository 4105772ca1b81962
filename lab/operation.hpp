/// An operation as the lab knows it: one row of a second table (registry/operation.hpp has the first), made
/// of what stands in the operation's folder.
///
/// An operation's author writes a struct `Lab` (operations/NAME/lab/operation.hpp, namespace
/// quarry::lab::NAME) of static functions over types of its own; row_of<Lab> (lab/operation_row.hpp) makes
/// the row of it. Lab has
///   Arguments, Problem     the public struct, and a problem as the command line describes it: a copyable
///                          struct with `static constexpr Operation operation`
/// and about the text of problems
///   words()                LabWords: what the command's help says
///   settings()             the flags that its problems have
///   parse(shape, reader)   the problem of this shape with the settings of `reader`
///   shape_text(problem), command_text(problem), sizes(problem)    and back; sizes by name
///   add_settings(kernel, texts)    the settings that a kernel, named on the command line, fixes
/// about what they are
///   arguments(problem)     the arguments, with fake tensors
///   flops(problem)         operations on elements
///   given(problem)         operands that hold what the problem says. Where there are such
///   in_place(problem)      operands that are the first output's own memory. Where there may be such
///   moves_memory           a constant: true where speed is told in bytes, not in flops
///   fill(arguments, operand, view, options)    fills an operand for which random values make no sense, and
///                          returns true; false for others. Where there are such
/// about what is right
///   reference(arguments, options)              the float64 result of each output
///   tolerance(kernel, arguments, output)       how far a right result may be from it
/// about random problems for a kernel (quarry verify, quarry emulate)
///   paths()                the ways that results take out of kernels, a problem of each
///   result_key(kernel)     a text: kernels that agree share problems, as these fit all of them
///   storage_key(kernel)    a text: kernels that agree share operands, stored alike
///   random(kernel, seed, number)               problem `number`, by the kernel's result key: of the path
///                                              of that number, behind the paths a mixed one
///   stored(problem, kernel, seed)              the same, stored as the kernel's storage key says
///   controls_for(kernel, problem)              the problem's controls as far as the kernel has them. Where
///                                              there are controls
///   emulated(kernel, seed, number)             problem `number` for the emulator: small; otherwise as stored
/// and, where it offers them,
///   campaign(kernels, cost)                    what a campaign asks of it (lab/campaign/source.hpp)
///   yardstick(library, problem, options)       how a library of the first parameter's type, CublasLt or
///                                              Cudnn, solves its problems (lab/bench/yardstick.hpp)
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/problems/held_arguments.hpp"
#include "lab/problems/operands.hpp"
#include "lab/problems/path.hpp"
#include "lab/problems/problem.hpp"
#include "lab/problems/settings.hpp"
#include "lab/reference/reference.hpp"
#include "lab/reference/tolerance.hpp"
#include "quarry/device_model.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab {

class CampaignSource;
class Yardstick;
class YardstickLibrary;
struct YardstickKind;
struct YardstickOptions;

/// A command that works as it is, in the help of one of the commands.
struct Example {
  std::string_view verb;  ///< "find"; "" in the help of the program itself
  std::string_view text;  ///< "quarry find gemm 4096x4096x4096 bf16 --explain"
};

/// What help and messages say of an operation's problems.
struct LabWords {
  std::string_view shape;    ///< "MxNxK", or more words: shape_words
  std::string_view problem;  ///< a problem in few words: "4096x4096x4096 f16"
  std::string_view notes;    ///< what is computed, lines of 100 characters at most
  std::span<const Example> examples = {};
  /// Members of a shapes file's problem that make the shape, joined by "x"; empty: its member `shape` alone
  /// does.
  std::span<const std::string_view> shape_members = {};
  /// Words of a shape on the command line; lab functions see them as one text, with a blank between them.
  std::size_t shape_words = 1;
  /// A setting that may stand in the place of the shape's first word, which is no number; empty: there is
  /// none. A shape that begins with a digit lacks that word.
  std::string_view leading_setting = {};

  /// Words of the shape that begins with `first`.
  constexpr std::size_t words_of_shape(std::string_view first) const {
    const bool is_left_out = !leading_setting.empty() && !first.empty() && '0' <= first[0] && first[0] <= '9';
    return shape_words - (is_left_out ? 1 : 0);
  }
};

/// `problem` and `arguments` are of the operation's own structs, here and below.
struct OperationLab {
  Operation operation;
  std::string_view name;
  LabWords words;
  bool moves_memory;

  std::span<const Setting> (*settings)();
  Result<Problem> (*parse)(std::string_view shape, const SettingTexts& texts);
  std::string (*shape_text)(const Problem& problem);
  std::string (*command_text)(const Problem& problem);
  NamedSizes (*sizes)(const Problem& problem);
  void (*add_settings)(const KernelMetadata& kernel, SettingTexts& texts);

  HeldArguments (*arguments)(const Problem& problem);
  double (*flops)(const Problem& problem);
  std::vector<Operand> (*in_place)(const Problem& problem);
  std::vector<GivenValues> (*given)(const Problem& problem);
  /// As Problem's controls_of and with.
  Controls (*controls)(const Problem& problem);
  Problem (*with_controls)(const Controls& controls, const Problem& problem);
  /// Whether arguments have controls.
  bool has_controls;
  /// Null: all operands are random.
  bool (*fill)(const Arguments& arguments, Operand operand, const TensorView& view,
               const FillOptions& options);

  /// Fails when memory runs out.
  Result<Reference> (*reference)(const Arguments& arguments, const ReferenceOptions& options);
  Tolerance (*tolerance)(const KernelMetadata& kernel, const Arguments& arguments, Operand output);

  std::vector<Path> paths;
  std::string (*result_key)(const KernelMetadata& kernel);
  std::string (*storage_key)(const KernelMetadata& kernel);
  Problem (*random)(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number);
  Problem (*stored)(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed);
  Controls (*controls_for)(const KernelMetadata& kernel, const Problem& problem);
  Problem (*emulated)(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number);

  /// Null: a campaign has no problems of this operation.
  std::unique_ptr<CampaignSource> (*campaign)(std::span<const Kernel> kernels, double cost);
  /// The library that the operation is measured by; cuBLASLt, if there is none.
  const YardstickKind* library;
  /// Null: the library has no such operation. Fails with unsupported where it does not solve the problem.
  /// @param library one of that kind
  Result<std::unique_ptr<Yardstick>> (*yardstick)(const YardstickLibrary& library, const Problem& problem,
                                                  const YardstickOptions& options);
};

/// All of them, by Operation. Defined by a source that the build writes from the list of operations
/// (cmake/operations.cmake).
std::span<const OperationLab> operation_labs();

inline const OperationLab& lab_of(Operation operation) {
  return operation_labs()[static_cast<std::size_t>(operation)];
}

/// The examples of a command, of all operations.
std::vector<std::string> examples_of(std::string_view verb);

}  // namespace quarry::lab
