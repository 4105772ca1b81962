/// quarry find: the kernels that can solve a problem, best first, and why the others cannot.
#include <algorithm>
#include <optional>

#include "lab/problems/query.hpp"
#include "lab/text.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/kernel_columns.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/problem_flags.hpp"
#include "tools/command/common/selection.hpp"
#include "tools/command/common/table.hpp"
#include "tools/command/find_account.hpp"

namespace quarry::command {
namespace {

struct FindFlags {
  ProblemFlags problem;
  ListingFlags listing;
  std::string where;
  std::string device_model;
  std::string kernel;
  bool precompiled = false;
  bool explain = false;
};

/// One problem and its answer.
struct Answer {
  lab::Problem problem;
  CandidateList found;
};

/// One row of the listing.
struct Match {
  const Answer* answer;
  const Candidate* candidate;
};

/// What the listing says of a candidate itself; the kernel's own columns follow.
std::vector<Column> columns(bool several_problems, bool is_measured) {
  std::vector<Column> all = {{.name = "problem", .in_table = several_problems},
                             {.name = "name"},
                             {.name = "measured_us", .in_table = is_measured},
                             {.name = "predicted_us"},
                             {.name = "predicted_tflops"},
                             {.name = "workspace"},
                             {.name = "mode"},
                             {.name = "split_k"},
                             {.name = "swizzle"},
                             {.name = "raster", .in_table = false},
                             {.name = "precompiled"}};
  for (Column& column : kernel_columns()) {
    column.in_table = false;
    all.push_back(std::move(column));
  }
  return all;
}

std::string column_notes() {
  return "Columns of each candidate:\n" + lab::join(answer_columns, "and") +
         ",\nand the fields of its kernel, which `quarry list --fields` lists. --columns and --sort take "
         "both, --where "
         "takes fields.\n"
         "Of several problems (--shapes), --limit counts the candidates of each one, and is 1 unless given.";
}

template <class T>
Cell number_or_absent(const std::optional<T>& value) {
  return value ? Cell(static_cast<std::int64_t>(*value)) : Cell();
}

Cell measured_us(const Candidate& candidate) {
  const std::optional<double> seconds = candidate.measured_seconds();
  return seconds ? Cell(*seconds * 1e6) : Cell();
}

/// Whether the first candidate was chosen by a measurement.
bool is_measured(const Answer& answer) {
  return !answer.found.empty() && answer.found.front().measured_seconds().has_value();
}

/// Column `column` of `columns`, as far as they are the candidate's own.
Cell candidate_cell(const Match& match, std::size_t column, const DeviceModel& device) {
  const Candidate& candidate = *match.candidate;
  const double seconds = candidate.predicted_seconds();
  const Controls& controls = candidate.controls();
  switch (column) {
    case 0: return shape_text(match.answer->problem);
    case 1: return std::string(candidate.name());
    case 2: return measured_us(candidate);
    case 3: return seconds * 1e6;
    case 4: return seconds > 0 ? Cell(flops(match.answer->problem) / seconds * 1e-12) : Cell();
    case 5: return static_cast<std::int64_t>(candidate.workspace());
    case 6: return controls.mode ? Cell(std::string(to_string(*controls.mode))) : Cell();
    case 7: return number_or_absent(controls.split_k_slices);
    case 8: return number_or_absent(controls.swizzle);
    case 9: return controls.raster ? Cell(std::string(to_string(*controls.raster))) : Cell();
    default: return candidate.precompiled(device.cc, arguments_of(match.answer->problem));
  }
}
constexpr std::size_t own_columns = 11;

/// The listing without the kernel's columns that it has already.
void drop_repeated(std::vector<Column>& all, std::vector<std::size_t>& numbers) {
  numbers.clear();
  std::vector<Column> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto same = [&](const Column& column) { return column.name == all[i].name; };
    if (std::ranges::any_of(kept, same)) continue;
    kept.push_back(all[i]);
    numbers.push_back(i);
  }
  all = std::move(kept);
}

/// What holds of each problem as a whole.
nlohmann::ordered_json summaries(const std::vector<Answer>& answers, const FindOptions& options) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Answer& answer : answers) {
    nlohmann::ordered_json& object = list.emplace_back();
    object = {{"problem", shape_text(answer.problem)}, {"matched", answer.found.matched()}};
    if (!answer.problem.label.empty()) object["from"] = answer.problem.label;
    if (answer.found.empty()) object["status"] = answer.found.status().message();
    if (!options.explain) continue;
    object["accounts"] = account_json({answer.found.begin(), answer.found.end()}, answer.problem, options);
    nlohmann::ordered_json& rejections = object["rejections"] = nlohmann::ordered_json::array();
    for (const Rejection& r : answer.found.rejections()) {
      rejections.push_back({{"reason", r.reason}, {"kernels", r.kernels}});
    }
  }
  return list;
}

/// The rejected kernels by reason.
std::string rejections_text(const Answer& answer) {
  std::string text = "rejected for " + shape_text(answer.problem) + ":\n";
  for (const Rejection& rejection : answer.found.rejections()) {
    std::string count = std::to_string(rejection.kernels);
    text +=
        std::string(8 - std::min<std::size_t>(8, count.size()), ' ') + count + "  " + rejection.reason + "\n";
  }
  if (answer.found.rejections().empty())
    text += "       0  every kernel of these types and layouts matches\n";
  return text;
}

/// Why kernels are rejected, and why the best ones come first: data beside a table, a message beside what
/// programs read.
/// @param one the user named the kernel: no other one was asked
void explain(const Answer& answer, const FindOptions& options, Format format, bool one) {
  std::string text = one ? "" : rejections_text(answer);
  const std::string account =
      account_text({answer.found.begin(), answer.found.end()}, answer.problem, options);
  if (text.empty() && account.empty()) return;
  text += (text.empty() || account.empty() ? "" : "\n") + account;
  if (format == Format::table) {
    write_output("\n" + text);
  } else {
    text.pop_back();
    message(text);
  }
}

/// For programs: the device on which the times behind the predictions were measured; null if none was
/// measured.
nlohmann::ordered_json calibrated_on(const DeviceModel& device) {
  const std::string_view measured = calibration_source(device).device;
  return measured.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(measured);
}

Status print_matches(const std::vector<Answer>& answers, const FindFlags& flags, const FindOptions& options) {
  const DeviceModel& device = *options.device;
  const bool several = answers.size() > 1;
  std::vector<Match> matches;
  for (const Answer& answer : answers) {
    for (const Candidate& candidate : answer.found) matches.push_back({&answer, &candidate});
  }
  std::vector<std::size_t> numbers;
  Listing listing{.noun = "candidates",
                  .columns = columns(several, std::ranges::any_of(answers, is_measured)),
                  .rows = matches.size(),
                  .cell =
                      [&](std::size_t row, std::size_t column) {
                        const std::size_t number = numbers[column];
                        if (number < own_columns) return candidate_cell(matches[row], number, device);
                        return kernel_cell(*matches[row].candidate, number - own_columns);
                      },
                  .name_column = 1};
  drop_repeated(listing.columns, numbers);
  listing.head = {{"device_model", std::string(device.name)},
                  {"calibrated_on", calibrated_on(device)},
                  {"problems", summaries(answers, options)}};
  ListingFlags listing_flags = flags.listing;
  if (several) {
    listing.group_of = [&](std::size_t row) {
      return static_cast<std::size_t>(matches[row].answer - answers.data());
    };
    listing_flags.limit = flags.listing.limit.value_or(1);
  }
  if (listing.rows == 0 && listing_flags.format == Format::table) {
    // No heading above nothing, but a wrong column name is still an error.
    listing_flags.format = Format::names;
  }
  return print(listing, listing_flags);
}

/// What the kernel that the user named answers.
CandidateList ask_one(const Kernel& kernel, const lab::Problem& problem, const Filter& filter,
                      const FindOptions& options) {
  const FindOptions own = find_options(problem, options);
  const lab::HeldArguments arguments = arguments_of(asked_problem(problem, own));
  const std::string no = std::string(kernel.name()) + " does not take it: ";
  const auto required = required_class(problem, filter, own);
  Status why = required ? lab::check_class(kernel.metadata(), *required) : required.status();
  const Result<Candidate> candidate =
      why ? quarry::candidate_of(kernel, arguments, own) : Result<Candidate>(std::move(why));
  if (!candidate) return CandidateList(Status(candidate.status().code(), no + candidate.status().message()));
  if (!filter(kernel.metadata()))
    return CandidateList(Status(StatusCode::filtered_out, no + "the filter leaves it out"));
  if (options.availability == Availability::precompiled && !kernel.precompiled(options.device->cc, arguments))
    return CandidateList(Status(StatusCode::not_precompiled, no + "it is not precompiled for this device"));
  return CandidateList(*candidate, 1);
}

/// Of which class a kernel is that a batch-invariant query takes; "" of another query.
std::string class_text(const Answer& answer, const Kernel& kernel) {
  const std::optional<SumClass> own = sum_class(kernel.metadata());
  if (!own_options(answer.problem).batch_invariant || !own) return "";
  return ", of sum class " + std::string(to_string(*own)) + " as the batch-invariant query requires";
}

/// The device that kernels were ranked for, and whether its times were measured.
std::string ranked_for(const DeviceModel& device) {
  const CalibrationSource source = calibration_source(device);
  if (source.is_own || source.device.empty()) return device.name;
  if (!source.is_same_architecture) return device.name + std::string(" (not measured)");
  return device.name + std::string(" (with factors of ") + std::string(source.device) + ")";
}

/// What is said of an answer that has kernels.
std::string found_text(const Answer& answer, const std::optional<Kernel>& kernel, const DeviceModel& device) {
  if (kernel)
    return std::string(kernel->name()) + " takes it" + class_text(answer, *kernel) + ", predicted for " +
           ranked_for(device);
  const std::size_t matched = answer.found.matched();
  return std::to_string(matched) + (matched == 1 ? " kernel matches" : " kernels match") + ", ranked for " +
         ranked_for(device) + (is_measured(answer) ? "; the first by measurement" : "");
}

int find(const FindFlags& flags) {
  const Result<Filter> filter = read_filter(flags.where);
  if (!filter) return report(filter.status());
  const Result<DeviceModel> device = read_device_model(flags.device_model);
  if (!device) return report(device.status());
  const Result<std::vector<lab::Problem>> problems = read_problems(flags.problem);
  if (!problems) return report(problems.status());

  const FindOptions options{.availability = flags.precompiled ? Availability::precompiled : Availability::any,
                            .explain = flags.explain,
                            .device = &*device};
  std::optional<Kernel> kernel;
  if (!flags.kernel.empty()) {
    const Result<Kernel> named = read_kernel(flags.kernel);
    if (!named) return report(named.status());
    kernel = *named;
  }
  std::vector<Answer> answers;
  for (const lab::Problem& problem : *problems) {
    answers.push_back(
        {problem, kernel ? ask_one(*kernel, problem, *filter, options)
                         : get_kernels(arguments_of(problem), *filter, find_options(problem, options))});
  }
  if (Status printed = print_matches(answers, flags, options); !printed) return report(printed);

  int exit = done;
  for (const Answer& answer : answers) {
    const std::string shape = shape_text(answer.problem);
    if (answer.found.empty()) {
      exit = std::max(
          exit, report(Status(answer.found.status().code(), shape + ": " + answer.found.status().message())));
    } else {
      message(shape + ": " + found_text(answer, kernel, *device));
    }
    // Arguments that are wrong in themselves reach no kernel that could reject them.
    const bool asked = answer.found.status().code() != StatusCode::invalid_arguments;
    if (flags.explain && asked && flags.listing.format != Format::json)
      explain(answer, options, flags.listing.format, kernel.has_value());
  }
  return exit;
}

}  // namespace

void add_find(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<FindFlags>();
  CLI::App* command = add_command(app, "find",
                                  {.help = "Find the kernels that can solve a problem, best first",
                                   .usage = "OPERATION SHAPE [TYPE] [FLAGS]",
                                   .notes = problem_notes() + "\n" + column_notes()});
  add_problem_flags(*command, flags->problem);
  add_query_flags(*command, flags->problem);
  add_where_flag(*command, flags->where);
  command->add_flag("--precompiled", flags->precompiled, "Only kernels with machine code for the device");
  command
      ->add_option("--kernel", flags->kernel,
                   "Ask this kernel alone whether it takes the problem: a name or a config as JSON")
      ->type_name("NAME|JSON");
  command->add_flag("--explain", flags->explain,
                    "Count the rejected kernels by reason, and show what the predicted times are made of");
  add_device_model_flag(*command, flags->device_model);
  add_listing_flags(*command, flags->listing);
  command->callback([flags, &action] { action = [flags] { return find(*flags); }; });
}

}  // namespace quarry::command
