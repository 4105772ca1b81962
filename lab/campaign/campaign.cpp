#include "lab/campaign/campaign.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <memory>
#include <mutex>

#include "lab/campaign/source.hpp"
#include "lab/operation.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/seed.hpp"
#include "lab/text.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/parallel.hpp"
#include "registry/compile/compiler.hpp"

namespace quarry::lab {
namespace {

/// What a problem may cost: a second or so on one core, of the host executor or of the reference. Of sizes
/// drawn log-uniformly from 1 to 2000, one problem in 200 is dearer than the one, hardly any than the other.
constexpr double host_cost = 0x1p30;
constexpr double device_cost = 0x1p33;

/// Kernels for each problem: of those that the query offers, beside the first; of the problem's types; of
/// all.
constexpr int offers = 2;
constexpr int picks_of_types = 4;
constexpr int picks_of_all = 2;

/// Numbers in memory, in the type that the epilogue computes in.
class StoredScalars {
 public:
  /// Moves the scalars of the arguments to host memory, and points the arguments at them.
  void store(DType type, HeldArguments& arguments) {
    std::size_t at = 0;
    edit(arguments, [&](Scalar& scalar) {
      host::write_element(type, bytes_.data() + at, 0, scalar.value);
      scalar = Scalar::at(bytes_.data() + at);
      at += place;
    });
  }
  /// Points copies of the arguments at copies of the numbers on the device.
  Status copy_to_device(HeldArguments& arguments) {
    Result<DeviceBuffer> buffer = DeviceBuffer::allocate(bytes_.size(), used_device);
    if (!buffer) return buffer.status();
    device_ = *std::move(buffer);
    std::size_t at = 0;
    edit(arguments, [&](Scalar& scalar) {
      scalar = Scalar::at(static_cast<std::byte*>(device_.data()) + at);
      at += place;
    });
    return device_.upload(bytes_.data(), bytes_.size());
  }

 private:
  static constexpr std::size_t place = 8;

  template <class Edit>
  static void edit(HeldArguments& arguments, const Edit& edit) {
    detail::OperandList operands;
    arguments.list(operands);
    // The list refers to the arguments, which are ours.
    for (const detail::ScalarRef& each : operands.scalars()) edit(const_cast<Scalar&>(*each.scalar));
  }

  alignas(place) std::array<std::byte, place* detail::OperandList::most_scalars> bytes_ = {};
  DeviceBuffer device_;
};

/// A problem on its way.
struct Drawn {
  std::uint64_t seed;
  const CampaignSource& source;
  DrawnProblem problem;
  std::string replay = {};
  StoredScalars scalars = {};
  /// Kernels that say that they take it.
  std::vector<Kernel> takers = {};

  const HeldArguments& arguments() const { return problem.arguments; }
  std::string text() const { return std::string(to_string(arguments().operation())) + " " + problem.text; }
};

/// The problems of one operation, and its kernels.
struct Part {
  Operation operation;
  std::unique_ptr<CampaignSource> source;
  std::vector<Kernel> kernels;
  std::map<std::string, std::vector<Kernel>> by_types = {};

  /// How often its problems are drawn: operations with many kernels have more to be asked.
  std::uint64_t weight() const { return static_cast<std::uint64_t>(std::bit_width(kernels.size())); }
};

std::vector<Part> parts_of(const std::vector<Kernel>& kernels, double cost) {
  std::vector<Part> parts;
  for (const OperationLab& lab : operation_labs()) {
    Part part{lab.operation, nullptr, {}};
    std::ranges::copy_if(kernels, std::back_inserter(part.kernels),
                         [&](const Kernel& kernel) { return kernel.metadata().operation == lab.operation; });
    if (part.kernels.empty()) continue;
    part.source = lab.campaign(part.kernels, cost);
    for (const Kernel& kernel : part.kernels)
      part.by_types[part.source->types_of(kernel.metadata())].push_back(kernel);
    parts.push_back(std::move(part));
  }
  return parts;
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, Progress& progress)
      : options_(options),
        progress_(progress),
        kernels_(campaign_kernels(options.filter)),
        parts_(parts_of(kernels_, options.place == Place::host ? host_cost : device_cost)) {
    if (options.place == Place::device && !detail::find_compiler(CompilerBackend::automatic))
      find_.availability = Availability::precompiled;
  }

  void run() {
    host::parallel_for(options_.problems, host::default_threads(), [&](int, std::int64_t i) {
      if (has_failed()) return;
      if (options_.is_stopped && options_.is_stopped()) return leave_out();
      // Behind the last seed of a flag, the first one follows.
      run_problem((options_.seed + static_cast<std::uint64_t>(i)) & std::uint64_t{most_seed});
    });
  }

  Result<CampaignReport> report() && {
    if (!status_) return status_;
    std::ranges::sort(report_.wrong, {}, &WrongAnswer::seed);
    return std::move(report_);
  }

 private:
  /// The operation that the problem of a seed is of.
  const Part& part_of(std::uint64_t seed) const {
    std::uint64_t all = 0;
    for (const Part& part : parts_) all += part.weight();
    std::uint64_t drawn = derived_seed(seed, 2) % all;
    for (const Part& part : parts_) {
      if (drawn < part.weight()) return part;
      drawn -= part.weight();
    }
    return parts_.back();
  }

  void run_problem(std::uint64_t seed) {
    const Part& part = part_of(seed);
    Drawn drawn{.seed = seed, .source = *part.source, .problem = part.source->draw(derived_seed(seed, 0))};
    drawn.replay = "quarry verify --campaign 1 --seed " + std::to_string(seed) + " --on " +
                   std::string(to_string(options_.place));
    if (!options_.where.empty()) drawn.replay += " --where " + shell_word(options_.where);
    if (options_.say) say(drawn);
    if (const DType type = drawn.problem.scalars_in_memory; type != DType::none)
      drawn.scalars.store(type, drawn.problem.arguments);
    Dice dice(derived_seed(seed, 1));
    const CandidateList found = get_kernels(drawn.arguments(), options_.filter, find_);
    take_found(found, drawn, dice);
    for (int i = 0; i < picks_of_all; ++i) ask(picked(kernels_, dice), found, drawn);
    for (const std::string& types : part.source->types_for(drawn.arguments())) {
      const auto same = part.by_types.find(types);
      if (same == part.by_types.end()) continue;
      for (int i = 0; i < picks_of_types; ++i) ask(picked(same->second, dice), found, drawn);
    }
    if (!drawn.takers.empty()) run_takers(drawn);
    const std::lock_guard lock(mutex_);
    progress_.advance(1);
  }

  static const Kernel& picked(const std::vector<Kernel>& kernels, Dice& dice) {
    return kernels[static_cast<std::size_t>(dice.between(0, std::ssize(kernels) - 1))];
  }

  /// The first candidate and some others, which must take the problem; or why there is none.
  void take_found(const CandidateList& found, Drawn& drawn, Dice& dice) {
    if (found.empty()) return check_empty(found, drawn);
    add_taker(found.front(), drawn);
    for (int i = 0; i < offers; ++i)
      add_taker(found[static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(found.size()) - 1))],
                drawn);
  }

  void check_empty(const CandidateList& found, const Drawn& drawn) {
    std::string fault = drawn.source.fault_of_empty_answer(found.status(), drawn.arguments());
    const bool valid = found.status().code() != StatusCode::invalid_arguments;
    if (valid && find_.availability == Availability::any && drawn.source.is_always_taken(drawn.arguments()) &&
        get_kernels(drawn.arguments(), {}, find_).empty())  // else only the filter leaves it out
      fault = "no kernel takes it: " + found.status().message();
    if (!fault.empty()) return note(drawn, "", fault);
    const std::lock_guard lock(mutex_);
    ++report_.without_kernel;
  }

  static void add_taker(const Kernel& kernel, Drawn& drawn) {
    if (std::ranges::find(drawn.takers, kernel) == drawn.takers.end()) drawn.takers.push_back(kernel);
  }

  /// A kernel that may take the problem or refuse it; the query must agree.
  void ask(const Kernel& kernel, const CandidateList& found, Drawn& drawn) {
    const Status status = kernel.supports(drawn.arguments());
    const bool offered = std::find(found.begin(), found.end(), kernel) != found.end();
    const bool runs =
        find_.availability == Availability::any || kernel.precompiled(default_device_model().cc);
    if (status && runs) {
      if (!offered)
        return note(drawn, kernel.name(), "it takes the problem, but the query does not offer it");
      return add_taker(kernel, drawn);
    }
    if (status) return;
    std::string fault = fault_of_refusal(status, kernel.metadata(), drawn);
    if (offered) fault = "the query offers it, but it refuses: " + status.message();
    if (!fault.empty()) return note(drawn, kernel.name(), fault);
    const std::lock_guard lock(mutex_);
    ++report_.refusals;
  }

  /// As CampaignSource::fault_of_refusal, of kernels of other operations too.
  static std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                                      const Drawn& drawn) {
    if (kernel.operation == drawn.arguments().operation())
      return drawn.source.fault_of_refusal(status, kernel, drawn.arguments(), default_device_model());
    const bool is_true =
        status.code() == StatusCode::unsupported && status.message().starts_with("Operation is unsupported");
    return is_true ? "" : "the message does not name the operation: " + status.message();
  }

  void run_takers(Drawn& drawn) {
    Result<Operands> operands = Operands::make(drawn.arguments(), {.seed = drawn.seed,
                                                                   .values = Values::uniform,
                                                                   .in_place = drawn.problem.in_place,
                                                                   .given = drawn.problem.given});
    if (!operands) return stop(operands.status());
    Result<Reference> reference = compute_reference(operands->arguments(), {.threads = 1});
    if (!reference) return stop(reference.status());
    TrialProblem trial{*std::move(operands), std::nullopt};
    if (options_.place == Place::host) {
      for (const Kernel& kernel : drawn.takers) run_taker(kernel, trial, *reference, drawn);
      return;
    }
    const std::lock_guard lock(device_mutex_);
    if (Status copied = copy_to_device(trial, drawn); !copied) return stop(copied);
    for (const Kernel& kernel : drawn.takers) {
      if (has_failed()) return;
      run_taker(kernel, trial, *reference, drawn);
      // An address fault ends all work on the device: what follows would fail too.
      if (Status s = synchronize(used_device); !s)
        stop(Status(s.code(), s.message() + ", after: " + drawn.replay));
    }
  }

  static Status copy_to_device(TrialProblem& trial, Drawn& drawn) {
    Result<DeviceOperands> device = DeviceOperands::make(trial.host, used_device);
    if (!device) return device.status();
    trial.device = *std::move(device);
    if (drawn.problem.scalars_in_memory == DType::none) return {};
    return drawn.scalars.copy_to_device(trial.device->arguments());
  }

  void run_taker(const Kernel& kernel, TrialProblem& trial, const Reference& reference, const Drawn& drawn) {
    HeldArguments arguments = drawn.arguments();
    const Controls* const own = arguments.controls();
    const Verdict verdict = run_trial(kernel, own == nullptr ? Controls{} : *own, trial, reference);
    if (!verdict.right()) return note(drawn, kernel.name(), verdict.reason());
    const std::lock_guard lock(mutex_);
    ++report_.right;
    ++report_.by_family[kernel.metadata().family];
    report_.kernels.insert(kernel.name());
  }

  void note(const Drawn& drawn, std::string_view kernel, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    report_.wrong.push_back({drawn.seed, std::string(kernel), drawn.text(), reason, drawn.replay});
  }

  void say(const Drawn& drawn) {
    const std::lock_guard lock(mutex_);
    progress_.clear();
    options_.say(drawn.replay + "  # " + drawn.text());
  }

  bool has_failed() {
    const std::lock_guard lock(mutex_);
    return !status_;
  }

  void leave_out() {
    const std::lock_guard lock(mutex_);
    ++report_.left;
  }

  /// Ends the campaign with this failure, unless it has one.
  void stop(const Status& status) {
    const std::lock_guard lock(mutex_);
    if (status_) status_ = status;
  }

  const CampaignOptions& options_;
  Progress& progress_;
  std::vector<Kernel> kernels_;
  std::vector<Part> parts_;
  FindOptions find_;
  std::mutex mutex_;
  /// Held while the device works on a problem.
  std::mutex device_mutex_;
  CampaignReport report_;
  Status status_;
};

}  // namespace

std::vector<Kernel> campaign_kernels(const Filter& filter) {
  std::vector<Kernel> kernels = get_kernels(filter);
  std::erase_if(kernels, [](const Kernel& k) { return lab_of(k.metadata().operation).campaign == nullptr; });
  return kernels;
}

Result<CampaignReport> run_campaign(const CampaignOptions& options, Progress& progress) {
  Campaign campaign(options, progress);
  campaign.run();
  return std::move(campaign).report();
}

}  // namespace quarry::lab
