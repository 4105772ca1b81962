/// quarry verify: checks kernels against float64 on random problems.
#include <algorithm>

#include "lab/problems/seed.hpp"
#include "lab/progress.hpp"
#include "lab/trials/compile_missing.hpp"
#include "lab/verify/kernels.hpp"
#include "quarry/system.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/interrupts.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/paths.hpp"
#include "tools/command/common/selection.hpp"
#include "tools/command/common/table.hpp"
#include "tools/command/verify/campaign.hpp"
#include "tools/command/verify/ledger.hpp"

namespace quarry::command {
namespace {

struct VerifyFlags {
  SelectionFlags selection;
  ListingFlags listing;
  ProblemChoiceFlags problems;
  std::string campaign;
  std::string seed;
  std::string on;
  std::string resume;
  std::string ledger;
  std::vector<std::string> merge_ledgers;
  bool trials = false;
};

/// What became of all the kernels.
struct Summary {
  lab::VerifyOptions options;
  std::int64_t kernels = 0;
  std::int64_t skipped = 0;
  std::int64_t resumed = 0;
  lab::VerifyReport report;

  bool good() const { return report.wrong.empty() && report.left == 0 && report.right + resumed > 0; }
};

nlohmann::ordered_json json_of(const Summary& s) {
  return {{"on", std::string(to_string(s.options.place))},
          {"seed", s.options.seed},
          {"problems_each",
           s.options.problems.count ? nlohmann::ordered_json(*s.options.problems.count) : nullptr},
          {"problems", s.report.problems},
          {"kernels", s.kernels},
          {"right", s.report.right},
          {"wrong", s.report.wrong.size()},
          {"skipped", s.skipped},
          {"resumed", s.resumed},
          {"left", s.report.left},
          {"paths", paths_json(s.report.paths)}};
}

/// "3", or "12 to 17" where kernels have more or fewer.
std::string problems_each(const lab::VerifyReport& report) {
  const std::string least = std::to_string(report.least_problems);
  if (report.least_problems == report.most_problems) return least;
  return least + " to " + std::to_string(report.most_problems);
}

std::string text_of(const Summary& s) {
  const std::int64_t problems = s.report.problems;
  std::string text = std::to_string(s.kernels) + (s.kernels == 1 ? " kernel, " : " kernels, ") +
                     std::to_string(problems) + (problems == 1 ? " problem: " : " problems: ") +
                     std::to_string(s.report.right) + " right, " + std::to_string(s.report.wrong.size()) +
                     " wrong";
  if (s.skipped > 0)
    text += ", " + std::to_string(s.skipped) + " skipped (not precompiled for this device, and no compiler)";
  if (s.resumed > 0) text += ", " + std::to_string(s.resumed) + " passed before";
  if (s.report.left > 0) text += ", " + std::to_string(s.report.left) + " left when it was interrupted";
  text += "; " + problems_each(s.report) + " each on ";
  text += s.options.place == lab::Place::host ? "the host executor" : "the device";
  return text + ", seed " + std::to_string(s.options.seed);
}

/// The wrong kernels, `limit` at most, each with the command that shows it again.
void print_wrong(std::span<const lab::WrongKernel> wrong, std::size_t limit) {
  std::string output;
  for (const lab::WrongKernel& each : wrong.first(std::min(limit, wrong.size()))) {
    output += "WRONG " + std::string(each.kernel.name()) + ", " + std::to_string(each.wrong_problems) +
              (each.wrong_problems == 1 ? " problem: " : " problems: ") + each.reason + "\n  " + each.replay +
              "\n";
  }
  write_output(output);
}

std::vector<Column> verify_columns() {
  return {
      {.name = "name"}, {.name = "wrong_problems"}, {.name = "reason", .is_prose = true}, {.name = "replay"}};
}

Status print_summary(const Summary& summary, const ListingFlags& flags) {
  const std::vector<lab::WrongKernel>& wrong = summary.report.wrong;
  if (flags.format == Format::table && flags.columns.empty()) {
    print_wrong(wrong, row_limit(flags));
    write_output(paths_text(summary.report.paths) + text_of(summary) + "\n");
    return {};
  }
  if (flags.format != Format::json) message(text_of(summary));
  return print({.noun = "wrong_kernels",
                .columns = verify_columns(),
                .rows = wrong.size(),
                .cell = [&](std::size_t row, std::size_t column) -> Cell {
                  switch (column) {
                    case 0: return std::string(wrong[row].kernel.name());
                    case 1: return wrong[row].wrong_problems;
                    case 2: return wrong[row].reason;
                    default: return wrong[row].replay;
                  }
                },
                .head = {{"summary", json_of(summary)}}},
               flags);
}

/// Takes out of `kernels` those that need not or cannot run.
void set_aside(std::vector<Kernel>& kernels, const lab::VerifyRecord& record, Summary& summary) {
  summary.resumed = std::ssize(kernels);
  std::erase_if(kernels, [&](const Kernel& kernel) {
    return record.passed(kernel.name(), lab::problems_for(kernel, summary.options));
  });
  summary.resumed -= std::ssize(kernels);
  if (summary.options.place == lab::Place::host) return;
  if (compiler_status()) return;
  const int cc = default_device_model().cc;
  summary.skipped = static_cast<std::int64_t>(
      std::erase_if(kernels, [&](const Kernel& kernel) { return !kernel.precompiled(cc); }));
}

Result<Summary> verify_selected(const VerifyFlags& flags) {
  lab::VerifyOptions options;
  const Result<std::uint64_t> seed = lab::read_seed(flags.seed);
  if (!seed) return seed.status();
  if (Status s = check_listing(flags.listing, verify_columns()); !s) return s;
  Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return kernels.status();
  Result<lab::ProblemChoice> problems = read_problem_choice(flags.problems, *kernels);
  if (!problems) return problems.status();
  options.problems = *std::move(problems);
  const Result<lab::Place> place = lab::read_place(flags.on);
  if (!place) return place.status();
  options.place = *place;
  options.seed = *seed;
  if (flags.trials) options.say = message;
  LedgerWriter ledger(flags.ledger, *place);
  if (Status s = ledger.check(); !s) return s;
  options.passed = [&ledger](const Kernel& kernel, std::int64_t count) { return ledger.add(kernel, count); };

  lab::VerifyRecord record;
  if (!flags.resume.empty()) {
    Result<lab::VerifyRecord> opened = lab::VerifyRecord::open(flags.resume, *place, options.problems.path);
    if (!opened) return opened.status();
    record = *std::move(opened);
  }
  Summary summary{.options = std::move(options), .kernels = std::ssize(*kernels), .report = {}};
  set_aside(*kernels, record, summary);
  listen_to_interrupts();
  summary.options.is_stopped = is_interrupted;
  std::size_t trials = 0;
  for (const Kernel& kernel : *kernels)
    trials += static_cast<std::size_t>(lab::problems_for(kernel, summary.options));
  lab::Progress progress("verify", trials);
  if (*place == lab::Place::device) {
    summary.options.prepare = [&progress](std::span<const Kernel> next) {
      progress.clear();
      lab::compile_missing(next, default_device_model().cc);
    };
  }
  Result<lab::VerifyReport> report = lab::verify_kernels(*kernels, summary.options, record, progress);
  if (Status s = ledger.save(); !s && report) return s;
  if (!report) return report.status();
  summary.report = *std::move(report);
  summary.options.passed = {};
  summary.options.prepare = {};
  std::ranges::sort(summary.report.wrong, {},
                    [](const lab::WrongKernel& wrong) { return wrong.kernel.name(); });
  return summary;
}

/// A campaign draws its kernels: what chooses or counts them by name does not go with it.
int campaign(const VerifyFlags& flags, bool has_problems) {
  const char* const other = !flags.selection.names.empty() ? "a kernel's name"
                            : has_problems                 ? "--problems"
                            : !flags.problems.path.empty() ? "--path"
                            : !flags.resume.empty()        ? "--resume"
                            : !flags.ledger.empty()        ? "--ledger"
                                                           : nullptr;
  if (other != nullptr) {
    return report(Status(StatusCode::parse_error, std::string("--campaign does not go with ") + other));
  }
  return verify_campaign({.problems = flags.campaign,
                          .seed = flags.seed,
                          .on = flags.on,
                          .where = flags.selection.where,
                          .trials = flags.trials,
                          .listing = flags.listing});
}

/// Ledgers are merged without any kernel: --ledger is the only other flag.
int merge(const VerifyFlags& flags, const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name =
        option->get_positional() ? "a kernel's name" : "--" + option->get_lnames().front();
    if (option->count() == 0 || name == "--merge-ledgers" || name == "--ledger") continue;
    return report(Status(StatusCode::parse_error, "--merge-ledgers does not go with " + name));
  }
  if (flags.ledger.empty())
    return report(Status(StatusCode::invalid_arguments, "--merge-ledgers: into which? Give --ledger FILE"));
  return merge_ledgers(flags.ledger, flags.merge_ledgers);
}

int verify(const VerifyFlags& flags) {
  const Result<Summary> summary = verify_selected(flags);
  if (!summary) return report(summary.status());
  if (Status printed = print_summary(*summary, flags.listing); !printed) return report(printed);
  const lab::VerifyReport& known = summary->report;
  if (known.right + summary->resumed + known.left == 0 && known.wrong.empty()) {
    message(summary->kernels == 0 ? "no kernel was selected" : "no kernel could be verified");
  }
  return summary->good() ? done : failed;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command = add_command(
      app, "verify",
      {.help = "Check kernels against float64 on random problems: the named ones, or all",
       .usage = "[NAME...] [FLAGS]",
       .examples = {"quarry verify --where 'family == gemm_simt and a.dtype == f64' --problems 2",
                    "quarry verify --where 'family == gemm_simt and a.dtype == f32' --on host --format json",
                    "quarry verify --campaign 200 --on host"},
       .notes =
           "`-` reads names from standard input. Problems are random. The first ones of a kernel take "
           "one path each on which results\n"
           "leave it: the plain store, each part of an epilogue alone and all together, unaligned "
           "operands, each way to cut K,\n"
           "batches. The others are mixed: ragged, tiny, long, padded, at exactly the alignment that the "
           "kernel needs.\n"
           "Outputs are poisoned and guarded. Kernels that are not precompiled are compiled first; where "
           "there is no compiler,\n"
           "they count as skipped. An interrupt ends the verification with what is known by then; with "
           "--resume "
           "it can go on.\n"
           "A campaign starts from problems: it draws types, layouts, sizes from 1 to 2000, strides and "
           "controls, and asks the\n"
           "registry for kernels. The first kernel of the answer, another one, and kernels picked at "
           "random run each problem. Each\n"
           "result must be right, and each refusal must give a true reason. Problem i of seed S is "
           "problem 0 of seed S + i."});
  add_selection_flags(*command, flags->selection);
  add_problem_choice_flags(*command, flags->problems);
  command
      ->add_option("--campaign", flags->campaign,
                   "Draw N problems of any kind, and run kernels that take them")
      ->type_name("N");
  command->add_option("--seed", flags->seed, "Seed of the problems; otherwise a fresh one")->type_name("N");
  command
      ->add_option("--on", flags->on,
                   "host (the host executor) or device; otherwise the device where there is one")
      ->type_name("PLACE");
  command
      ->add_option(
          "--resume", flags->resume,
          "Skip the kernels that this file lists, and add each one that passes; one file for each build")
      ->type_name("FILE");
  command
      ->add_option("--ledger", flags->ledger,
                   "Note in this file which kernels passed, on which device and of which sources")
      ->type_name("FILE");
  command
      ->add_option("--merge-ledgers", flags->merge_ledgers,
                   "Verify nothing; add these ledgers to the file of --ledger")
      ->type_name("FILE,...")
      ->delimiter(',');
  command->add_flag("--trials", flags->trials, "Print the command that repeats each trial to standard error");
  add_listing_flags(*command, flags->listing);
  command->callback([flags, command, &action] {
    action = [flags, command] {
      if (command->count("--merge-ledgers") > 0) return merge(*flags, *command);
      if (command->count("--campaign") == 0) return verify(*flags);
      return campaign(*flags, command->count("--problems") > 0);
    };
  });
}

}  // namespace quarry::command
