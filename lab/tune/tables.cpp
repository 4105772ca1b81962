#include "lab/tune/tables.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "lab/bench/chart.hpp"
#include "lab/operation.hpp"
#include "lab/problems/query.hpp"
#include "lab/tune/problem_lines.hpp"
#include "quarry/registry.hpp"
#include "registry/compile/sources.hpp"
#include "registry/device/needed_code.hpp"
#include "registry/operation.hpp"
#include "registry/query/tuned.hpp"
#include "registry/tuning/index.hpp"
#include "registry/tuning/table_file.hpp"

namespace quarry::lab {
namespace {

using detail::Measurement;
using detail::TuningTable;

/// The model of a device that tables name; the default one for another device.
const DeviceModel& model_of(const std::string& device) {
  const auto found = std::ranges::find(device_models(), std::string_view(device), detail::tuning_device);
  return found == device_models().end() ? default_device_model() : *found;
}

/// The kernel that the ranking predicts to be the fastest, whatever tables say; "" for a problem that has
/// none.
std::string predicted_first(const Measurement& of) {
  const Result<Problem> problem = parse_command_text(of.problem);
  if (!problem) return "";
  // In this order candidates have no times of tables.
  const CandidateList candidates =
      get_kernels(arguments_of(*problem), {},
                  find_options(*problem, {.order = Order::registry, .device = &model_of(of.device)}));
  if (candidates.empty()) return "";
  return std::string(std::ranges::min_element(candidates, {}, &Candidate::predicted_seconds)->name());
}

/// The shortest time with gaps of a kernel.
std::optional<double> time_of(const TuningTable& group, const std::string& kernel) {
  std::optional<double> us;
  for (const auto& [id, m] : group.measurements()) {
    if (m.kernel == kernel) us = std::min(us.value_or(m.gaps_us[detail::median]), m.gaps_us[detail::median]);
  }
  return us;
}

/// Whether a query for the problem on the device would take a choice.
bool is_taken(const Problem& problem, const DeviceModel& device, const std::string& name,
              const Controls& measured) {
  const Result<Kernel> kernel = find_kernel(name);
  if (!kernel) return false;
  const Problem as_measured = with(detail::completed(controls_of(problem), measured), problem);
  const Result<Candidate> candidate =
      candidate_of(*kernel, as_measured, find_options(problem, {.device = &device}));
  if (!candidate) return false;
  // Where a problem has no controls, the family chooses them: as when it was measured.
  const auto differ = [](const auto& one, const auto& other) { return one && other && *one != *other; };
  const Controls chosen = candidate->controls();
  return !differ(measured.mode, chosen.mode) && !differ(measured.split_k_slices, chosen.split_k_slices);
}

/// The choice of one problem. @param group all measurements of it
TunedRow row_of(const TuningTable& group) {
  const Measurement& any = group.measurements().begin()->second;
  const detail::TuningIndex index(group, any.sources);
  const auto choices = index.find(detail::tuning_device_digest(any.device), any.key);
  const bool is_ours = any.sources == detail::sources_digest();
  const Result<Problem> problem = parse_command_text(any.problem);
  const auto taken = std::ranges::find_if(choices, [&](const detail::TunedChoice& each) {
    return is_ours && problem &&
           is_taken(*problem, model_of(any.device), index.kernels()[each.kernel].name, each.controls());
  });
  const detail::TunedChoice& first = taken == choices.end() ? choices.front() : *taken;
  TunedRow row{.problem = any.problem,
               .device = any.device,
               .m = any.key.m,
               .above = any.above,
               .kernel = index.kernels()[first.kernel].name,
               .controls = first.controls(),
               .gaps_us = first.gaps_us,
               .load_us = first.load_us > 0 ? std::optional(first.load_us) : std::nullopt,
               .first_us = time_of(group, predicted_first(any)),
               .workspace = first.workspace,
               .measurements = group.size()};
  for (const auto& [id, m] : group.measurements()) row.above = std::min(row.above, m.above);
  row.usable = taken != choices.end();
  return row;
}

}  // namespace

std::string tuning_device(const DeviceModel& model) { return std::string(detail::tuning_device(model)); }

std::string tuning_sources() { return std::string(detail::sources_digest()); }

std::vector<TunedRow> tuned_rows(const TuningTable& table) {
  using Problem = std::tuple<std::string, std::string, detail::TuningKey>;
  std::map<Problem, TuningTable> groups;
  for (const auto& [id, m] : table.measurements()) groups[{m.device, m.sources, m.key}].add(m);
  std::vector<TunedRow> rows;
  for (const auto& [problem, group] : groups) rows.push_back(row_of(group));
  std::ranges::stable_sort(rows, {}, [](const TunedRow& row) {
    const std::string_view text = row.problem;
    // Problems that differ in M alone stand together.
    return std::tuple(row.device, text.substr(std::min(text.find('x'), text.size())), row.m);
  });
  return rows;
}

std::string tuning_svg(std::span<const TunedRow> rows) {
  std::vector<ChartBar> bars;
  std::string device;
  for (const TunedRow& row : rows) {
    if (!row.first_us) continue;
    device = row.device;
    const Result<Problem> problem = parse_command_text(row.problem);
    bars.push_back(
        {.label = problem ? shape_text(*problem) : row.problem, .first = row.gaps_us / *row.first_us});
  }
  return svg_chart({.title = "The ranking's first choice beside the tuned one, " + device,
                    .axis = "speed ratio (1: as fast as the tuned kernel)",
                    .first = "first choice",
                    .second = ""},
                   bars);
}

Result<TuningTable> merge_tables(std::span<const std::string> paths, const std::string& output,
                                 OddLines& odd) {
  TuningTable all;
  for (const std::string& path : paths) {
    const Result<TuningTable> table = detail::read_table(path);
    if (!table) return table.status();
    all.join(*table);
  }
  TuningTable joined;
  const Result<std::size_t> damaged = detail::join_into_table(output, all, detail::sources_digest(), joined);
  if (!damaged) return damaged.status();
  odd = {*damaged, joined.future()};
  return joined;
}

Result<TuningTable> read_tuning_table(const std::string& path) { return detail::read_table(path); }

UnusableMeasurements unusable_in(const TuningTable& table) {
  UnusableMeasurements unusable;
  std::map<std::string_view, bool> known;
  for (const auto& [id, m] : table.measurements()) {
    if (m.sources != detail::sources_digest()) {
      ++unusable.other_sources;
      continue;
    }
    const auto [kernel, is_new] = known.try_emplace(m.kernel, false);
    if (is_new) kernel->second = static_cast<bool>(find_kernel(m.kernel));
    if (!kernel->second) ++unusable.unknown_kernels;
  }
  return unusable;
}

namespace {

/// Whether the machine code of a kernel that the problem needs has its expression compiled in.
bool has_own_code(const Kernel& kernel, const Problem& problem, const DeviceModel& device) {
  const auto needed = detail::needed_code(kernel, arguments_of(problem), &device);
  return needed && std::ranges::none_of(*needed, [&](const detail::NeededCode& each) {
           return each.entry == detail::row_of(kernel).entry;
         });
}

}  // namespace

std::vector<ChosenKernel> chosen_kernels(const TuningTable& table) {
  std::set<std::pair<std::string, std::string>> known;
  std::vector<ChosenKernel> chosen;
  for (const TunedRow& row : tuned_rows(table)) {
    const Result<Problem> problem = parse_command_text(row.problem);
    const Result<Kernel> kernel = find_kernel(row.kernel);
    if (!row.usable || !problem || !kernel) continue;
    // Machine code depends on the expression and types, which flags say, and not on sizes.
    const bool has_code = has_own_code(*kernel, *problem, model_of(row.device));
    const std::string text = plain_text(*problem);
    const std::string flags = has_code ? text.substr(std::min(text.find(" --"), text.size())) : "";
    if (!known.insert({row.kernel, flags}).second) continue;
    chosen.push_back({*kernel, has_code ? std::optional(*problem) : std::nullopt});
  }
  return chosen;
}

}  // namespace quarry::lab
