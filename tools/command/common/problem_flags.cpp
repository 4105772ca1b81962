#include "tools/command/common/problem_flags.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "lab/operation.hpp"
#include "lab/problems/kernel_problem.hpp"
#include "lab/problems/query.hpp"
#include "lab/problems/shapes_file.hpp"
#include "lab/text.hpp"
#include "lab/tune/problem_lines.hpp"
#include "tools/command/common/output.hpp"

namespace quarry::command {
namespace {

Status wrong(const std::string& message) { return Status(StatusCode::parse_error, message); }

/// Takes the word as the type of all operands.
Status take_type(const std::string& word, lab::SettingTexts& settings) {
  if (const Result<DType> type = parse_dtype(word); !type) return type.status();
  if (settings.contains("type"))
    return wrong("unexpected " + lab::quoted(word) + ": the type is given twice");
  settings["type"] = word;
  return {};
}

/// A problem of an operation that works: "gemm 4096x4096x4096 f16".
std::string example_of(const lab::OperationLab& lab) {
  return std::string(lab.name) + " " + std::string(lab.words.problem);
}

/// What is in front of the shape. @param otherwise where nothing is
Result<const lab::OperationLab*> read_operation(const std::vector<std::string>& words,
                                                const lab::OperationLab* otherwise) {
  if (words.empty() && otherwise != nullptr) return otherwise;
  if (words.empty()) {
    return wrong("no problem given; say for example: " + example_of(lab::operation_labs().front()));
  }
  const Result<Operation> operation = lab::parse_operation(words[0]);
  if (!operation) return operation.status();
  return &lab::lab_of(*operation);
}

/// Takes the words behind the operation and the shape as types.
Status take_types(std::span<const std::string> words, lab::SettingTexts& settings) {
  for (const std::string& word : words) {
    if (Status taken = take_type(word, settings); !taken) return taken;
  }
  return {};
}

Result<detail::QueryOptions> read_options(const ProblemFlags& flags) {
  detail::QueryOptions options = {.batch_invariant = flags.batch_invariant};
  if (flags.max_workspace.empty()) return options;
  const Result<std::size_t> bytes = lab::parse_bytes(flags.max_workspace);
  if (!bytes) return wrong("--max-workspace: " + bytes.status().message());
  options.max_workspace = *bytes;
  return options;
}

/// Fails where a file has options of queries for a command that asks none.
Status check_options(const ProblemFlags& flags, const std::vector<lab::Problem>& problems) {
  const auto is_plain = [](const lab::Problem& problem) { return problem.options.is_plain(); };
  if (flags.takes_options || std::ranges::all_of(problems, is_plain)) return {};
  return wrong("shapes file " + lab::quoted(flags.shapes_file) +
               ": the members batch_invariant and max_workspace go with find, tune and warm-up alone");
}

}  // namespace

std::string problem_notes() {
  std::string text;
  for (const lab::OperationLab& lab : lab::operation_labs()) {
    text.append(lab.name).append(" ").append(lab.words.shape).append(": ").append(lab.words.notes) += "\n";
  }
  std::string types;
  for (const TypeInfo& type : element_types.rows) {
    if (type.type != DType::none) types.append(types.empty() ? "" : ", ").append(type.name);
  }
  return text + "TYPE is one of " + types + ".\n" +
         "OPERAND is TYPE[:row|col|row32|col32][:ld=N][:align=N][:stride=N|:array|:shared], of which any "
         "part "
         "may be left\n"
         "out: row-major, packed and aligned unless told. ld (from one row or column to the next), align (of "
         "the "
         "pointer) and\n"
         "stride (from one matrix of a --batch to the next; 0: all share one) count elements. An array holds "
         "a "
         "pointer to each\n"
         "matrix of a batch, and promises that alignment. A shared matrix has rank 2 and is the same for all "
         "of a "
         "batch.";
}

void add_setting_flags(CLI::App& app, lab::SettingTexts& settings) {
  for (const lab::SharedSetting& shared : lab::all_settings()) {
    if (shared.setting.name == "type") continue;  // said behind the shape, or the kernel's
    const std::string name(shared.setting.name);
    app.add_option_function<std::string>(
           "--" + name, [&settings, name](const std::string& text) { settings[name] = text; },
           std::string(shared.setting.help))
        ->type_name(std::string(shared.setting.value))
        ->group(shared.operations.empty() ? "Problem" : "Problem of " + shared.operations);
  }
}

void add_problem_flags(CLI::App& app, ProblemFlags& flags) {
  app.add_option("problem", flags.words, "The operation, its sizes, and the type of its operands")
      ->type_name("OPERATION SHAPE [TYPE]");
  add_setting_flags(app, flags.settings);
  app.add_option("--shapes", flags.shapes_file, "Problems from a JSON file; the flags are their defaults")
      ->type_name("FILE")
      ->group("Problem");
}

void add_query_flags(CLI::App& app, ProblemFlags& flags) {
  flags.takes_options = true;
  app.add_option("--max-workspace", flags.max_workspace,
                 "Bytes of workspace at most; K, M and G are powers of 1024")
      ->type_name("BYTES");
  app.add_flag("--batch-invariant", flags.batch_invariant,
               "Only kernels that give a row the same bits whatever M is, with K in one piece");
}

Result<std::vector<lab::Problem>> read_problems(const ProblemFlags& flags) {
  lab::SettingTexts settings = flags.settings;
  const bool from_file = !flags.shapes_file.empty();
  const std::span<const std::string> words = flags.words;
  const auto lab = read_operation(flags.words, from_file ? &lab::operation_labs().front() : nullptr);
  if (!lab) return lab.status();
  const Result<detail::QueryOptions> options = read_options(flags);
  if (!options) return options.status();
  if (from_file) {
    if (words.size() > 1 && lab::is_shape(words[1])) {
      return wrong("the shape " + lab::quoted(words[1]) +
                   " and --shapes are both given: leave one of them out");
    }
    if (Status s = take_types(words.subspan(std::min<std::size_t>(words.size(), 1)), settings); !s) return s;
    Result<std::vector<lab::Problem>> problems =
        lab::read_shapes_file(flags.shapes_file, (*lab)->operation, settings, *options);
    if (!problems) return problems;
    if (Status s = check_options(flags, *problems); !s) return s;
    return problems;
  }
  const std::size_t shape_words = (*lab)->words.words_of_shape(words.size() > 1 ? words[1] : "");
  if (words.size() < 1 + shape_words) {
    const std::string given = lab::joined_words(words.subspan(1));
    const std::string what =
        given.empty() ? "no shape given" : "the shape " + lab::quoted(given) + " is not complete";
    return wrong(what + "; say for example: " + example_of(**lab));
  }
  if (Status s = take_types(words.subspan(1 + shape_words), settings); !s) return s;
  const std::string shape = lab::joined_words(words.subspan(1, shape_words));
  Result<lab::Problem> problem = lab::parse_problem((*lab)->operation, shape, settings);
  if (!problem) return problem.status();
  problem->options = *options;
  return std::vector<lab::Problem>{*std::move(problem)};
}

Result<std::vector<lab::Problem>> read_logged_problems(const std::string& path, const ProblemFlags& flags) {
  if (flags.batch_invariant || !flags.max_workspace.empty())
    return wrong("--log: its lines have the options of their queries; leave " +
                 std::string(flags.batch_invariant ? "--batch-invariant" : "--max-workspace") + " out");
  Result<lab::ProblemLog> log = lab::read_problem_log(path);
  if (!log) return log.status();
  if (log->skipped > 0)
    message(counted(log->skipped, "line") + " of the log " +
            (log->skipped == 1 ? "is no problem" : "are no problems"));
  return std::move(log->problems);
}

void add_device_model_flag(CLI::App& app, std::string& name) {
  std::string names;
  for (const DeviceModel& model : device_models())
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  app.add_option("--device-model", name,
                 "Rank for this device (" + names + "); otherwise for the one that is here")
      ->type_name("NAME");
}

Result<DeviceModel> read_device_model(const std::string& name) {
  if (name.empty()) return default_device_model();
  return find_device_model(name);
}

}  // namespace quarry::command
