#include "tools/command/verify/campaign.hpp"

#include <algorithm>
#include <span>

#include "lab/campaign/campaign.hpp"
#include "lab/problems/problem_text.hpp"
#include "lab/problems/seed.hpp"
#include "tools/command/common/interrupts.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/selection.hpp"

namespace quarry::command {
namespace {

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string text_of(const lab::CampaignOptions& options, const lab::CampaignReport& report) {
  return counted(options.problems, "problem") + ": " + counted(report.right, "right result") + " of " +
         counted(std::ssize(report.kernels), "kernel") + ", " + counted(report.refusals, "refusal") +
         " with a true cause, " + std::to_string(report.wrong.size()) + " wrong; " +
         std::to_string(report.without_kernel) + " without a kernel" +
         (report.left == 0 ? "" : ", " + std::to_string(report.left) + " left when it was interrupted") +
         "; on " + (options.place == lab::Place::host ? "the host executor" : "the device") + ", seed " +
         std::to_string(options.seed);
}

nlohmann::ordered_json json_of(const lab::CampaignOptions& options, const lab::CampaignReport& report) {
  nlohmann::ordered_json families = nlohmann::ordered_json::object();
  for (const auto& [family, right] : report.by_family) families[std::string(family)] = right;
  return {{"on", std::string(to_string(options.place))},
          {"seed", options.seed},
          {"problems", options.problems},
          {"right", report.right},
          {"wrong", report.wrong.size()},
          {"refusals", report.refusals},
          {"without_kernel", report.without_kernel},
          {"left", report.left},
          {"kernels", report.kernels.size()},
          {"right_by_family", families}};
}

void print_wrong(std::span<const lab::WrongAnswer> wrong, std::size_t limit) {
  std::string output;
  for (const lab::WrongAnswer& each : wrong.first(std::min(limit, wrong.size()))) {
    output += "WRONG " + (each.kernel.empty() ? "query" : each.kernel) + ": " + each.reason + "\n  " +
              each.problem + "\n  " + each.replay + "\n";
  }
  write_output(output);
}

std::vector<Column> campaign_columns() {
  return {{.name = "kernel"}, {.name = "seed"}, {.name = "problem"}, {.name = "reason"}, {.name = "replay"}};
}

Status print_report(const lab::CampaignOptions& options, const lab::CampaignReport& report,
                    const ListingFlags& flags) {
  const std::vector<lab::WrongAnswer>& wrong = report.wrong;
  if (flags.format == Format::table && flags.columns.empty()) {
    print_wrong(wrong, row_limit(flags));
    write_output(text_of(options, report) + "\n");
    return {};
  }
  if (flags.format != Format::json) message(text_of(options, report));
  return print({.noun = "wrong_answers",
                .columns = campaign_columns(),
                .rows = wrong.size(),
                .cell = [&](std::size_t row, std::size_t column) -> Cell {
                  switch (column) {
                    case 0: return wrong[row].kernel;
                    case 1: return static_cast<std::int64_t>(wrong[row].seed);
                    case 2: return wrong[row].problem;
                    case 3: return wrong[row].reason;
                    default: return wrong[row].replay;
                  }
                },
                .head = {{"summary", json_of(options, report)}}},
               flags);
}

Result<lab::CampaignOptions> read_options(const CampaignFlags& flags) {
  const Result<std::int64_t> problems = lab::parse_integer("--campaign", flags.problems, 1, 10'000'000);
  if (!problems) return problems.status();
  const Result<std::uint64_t> seed = lab::read_seed(flags.seed);
  if (!seed) return seed.status();
  if (Status s = check_listing(flags.listing, campaign_columns()); !s) return s;
  const Result<Filter> filter = read_filter(flags.where);
  if (!filter) return filter.status();
  const Result<lab::Place> place = lab::read_place(flags.on);
  if (!place) return place.status();
  lab::CampaignOptions options{.place = *place,
                               .problems = *problems,
                               .seed = *seed,
                               .filter = *filter,
                               .where = flags.where,
                               .say = {},
                               .is_stopped = is_interrupted};
  if (flags.trials) options.say = message;
  return options;
}

}  // namespace

int verify_campaign(const CampaignFlags& flags) {
  const Result<lab::CampaignOptions> options = read_options(flags);
  if (!options) return report(options.status());
  if (lab::campaign_kernels(options->filter).empty()) {
    message("no kernel was selected");
    return failed;
  }
  listen_to_interrupts();
  lab::Progress progress("verify", static_cast<std::size_t>(options->problems));
  const Result<lab::CampaignReport> result = lab::run_campaign(*options, progress);
  if (!result) return report(result.status());
  progress.clear();
  if (Status printed = print_report(*options, *result, flags.listing); !printed) return report(printed);
  if (result->right == 0 && result->wrong.empty() && result->left == 0)
    message("no kernel took any of the problems");
  return result->wrong.empty() && result->right > 0 && result->left == 0 ? done : failed;
}

}  // namespace quarry::command
