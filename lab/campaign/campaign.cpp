#include "lab/campaign/campaign.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "common/config_parts.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/seed.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/gemm/lab/campaign_problems.hpp"
#include "operations/gemm/lab/refusal.hpp"
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

/// alpha and beta in memory, in the type that the epilogue computes in.
struct StoredScalars {
  alignas(8) std::array<std::byte, 16> bytes = {};
  detail::DeviceBuffer device;

  static const std::byte* beta(const void* data) { return static_cast<const std::byte*>(data) + 8; }

  void store(DType type, double alpha, double beta) {
    const double values[] = {alpha, beta};
    for (std::size_t i = 0; i < 2; ++i) {
      std::byte* const to = bytes.data() + 8 * i;
      host::with_compute_type(type, [&]<class T>(T) {
        const auto stored = static_cast<T>(values[i]);
        std::memcpy(to, &stored, sizeof stored);
      });
    }
  }
};

void point_at(Epilogue& epilogue, const void* scalars) {
  epilogue.alpha = Scalar::at(scalars);
  epilogue.beta = Scalar::at(StoredScalars::beta(scalars));
}

/// A problem on its way.
struct Drawn {
  std::uint64_t seed;
  CampaignProblem problem;
  std::string replay;
  StoredScalars scalars = {};
  /// Kernels that say that they take it.
  std::vector<Kernel> takers = {};
};

class Campaign {
 public:
  Campaign(const CampaignOptions& options, Progress& progress)
      : options_(options),
        progress_(progress),
        kernels_(campaign_kernels(options.filter)),
        space_(campaign_space(kernels_, options.place == Place::host ? host_cost : device_cost)) {
    for (const Kernel& kernel : kernels_) by_types_[type_key(kernel.metadata())].push_back(kernel);
    if (options.place == Place::device && !detail::find_compiler(CompilerBackend::automatic))
      find_.availability = Availability::precompiled;
  }

  void run() {
    host::parallel_for(options_.problems, host::default_threads(), [&](int, std::int64_t i) {
      if (!stopped()) run_problem(options_.seed + static_cast<std::uint64_t>(i));
    });
  }

  Result<CampaignReport> report() && {
    if (!status_) return status_;
    std::ranges::sort(report_.wrong, {}, &WrongAnswer::seed);
    return std::move(report_);
  }

 private:
  void run_problem(std::uint64_t seed) {
    Drawn drawn{.seed = seed, .problem = campaign_problem(space_, derived_seed(seed, 0)), .replay = {}};
    drawn.replay = "quarry verify --campaign 1 --seed " + std::to_string(seed) + " --on " +
                   std::string(to_string(options_.place));
    if (!options_.where.empty()) drawn.replay += " --where '" + options_.where + "'";
    if (options_.say) say(drawn);
    if (drawn.problem.scalars_by_pointer) store_scalars(drawn);
    Dice dice(derived_seed(seed, 1));
    const CandidateList found = get_kernels(drawn.problem.arguments, options_.filter, find_);
    take_found(found, drawn, dice);
    for (int i = 0; i < picks_of_all; ++i) ask(picked(kernels_, dice), found, drawn);
    for (const TypeKey& types : types_of(drawn.problem.arguments)) {
      const auto same = by_types_.find(types);
      if (same == by_types_.end()) continue;
      for (int i = 0; i < picks_of_types; ++i) ask(picked(same->second, dice), found, drawn);
    }
    if (!drawn.takers.empty()) run_takers(drawn);
    const std::lock_guard lock(mutex_);
    progress_.advance(1);
  }

  static const Kernel& picked(const std::vector<Kernel>& kernels, Dice& dice) {
    return kernels[static_cast<std::size_t>(dice.between(0, std::ssize(kernels) - 1))];
  }

  /// The keys of kernels that may take a problem.
  static std::set<TypeKey> types_of(const GemmArguments& args) {
    TypeKey key{args.a.dtype, args.b.dtype, *args.accumulator, args.out.dtype, Math::exact};
    std::set<TypeKey> keys = {key};
    key.math = args.math;
    keys.insert(key);
    return keys;
  }

  static void store_scalars(Drawn& drawn) {
    GemmArguments& args = drawn.problem.arguments;
    const DType type = compute_type(*args.accumulator, args.out.dtype);
    drawn.scalars.store(type, args.epilogue.alpha.value, args.epilogue.beta.value);
    point_at(args.epilogue, drawn.scalars.bytes.data());
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
    const GemmArguments& args = drawn.problem.arguments;
    std::string fault = fault_of_empty_answer(found.status(), args);
    const Controls& controls = args.controls;
    const bool free = !controls.mode && !controls.split_k_slices && !controls.multiprocessors;
    const bool valid = found.status().code() != StatusCode::invalid_arguments;
    if (valid && free && find_.availability == Availability::any && is_always_taken(space_, args))
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
    const Status status = kernel.supports(drawn.problem.arguments);
    const bool offered = std::find(found.begin(), found.end(), kernel) != found.end();
    const bool runs =
        find_.availability == Availability::any || kernel.precompiled(default_device_model().cc);
    if (status && runs) {
      if (!offered)
        return note(drawn, kernel.name(), "it takes the problem, and the query does not offer it");
      return add_taker(kernel, drawn);
    }
    if (status) return;
    std::string fault =
        fault_of_refusal(status, kernel.metadata(), drawn.problem.arguments, default_device_model());
    if (offered) fault = "the query offers it, and it refuses: " + status.message();
    if (!fault.empty()) return note(drawn, kernel.name(), fault);
    const std::lock_guard lock(mutex_);
    ++report_.refusals;
  }

  void run_takers(Drawn& drawn) {
    Result<host::RandomProblem> problem = host::RandomProblem::make(
        drawn.problem.arguments, {.seed = drawn.seed,
                                  .in_place = drawn.problem.in_place,
                                  .residual_in_place = drawn.problem.residual_in_place});
    if (!problem) return stop(problem.status());
    Result<host::Reference> reference = host::compute_reference(problem->arguments, {.threads = 1});
    if (!reference) return stop(reference.status());
    TrialProblem trial{*std::move(problem), std::nullopt};
    if (options_.place == Place::host) {
      for (const Kernel& kernel : drawn.takers) run_taker(kernel, trial, *reference, drawn);
      return;
    }
    const std::lock_guard lock(device_mutex_);
    if (Status copied = copy_to_device(trial, drawn); !copied) return stop(copied);
    for (const Kernel& kernel : drawn.takers) {
      if (stopped()) return;
      run_taker(kernel, trial, *reference, drawn);
      // An address fault ends all work on the device: what follows would fail too.
      if (Status s = detail::synchronize(used_device); !s)
        stop(Status(s.code(), s.message() + ", after: " + drawn.replay));
    }
  }

  static Status copy_to_device(TrialProblem& trial, Drawn& drawn) {
    Result<detail::DeviceProblem> device = detail::DeviceProblem::make(trial.host, used_device);
    if (!device) return device.status();
    trial.device = *std::move(device);
    if (!drawn.problem.scalars_by_pointer) return {};
    const auto& bytes = drawn.scalars.bytes;
    Result<detail::DeviceBuffer> scalars = detail::DeviceBuffer::allocate(bytes.size(), used_device);
    if (!scalars) return scalars.status();
    drawn.scalars.device = *std::move(scalars);
    point_at(trial.device->arguments.epilogue, drawn.scalars.device.data());
    return drawn.scalars.device.upload(bytes.data(), bytes.size());
  }

  void run_taker(const Kernel& kernel, TrialProblem& trial, const host::Reference& reference,
                 const Drawn& drawn) {
    const Verdict verdict = run_trial(kernel, drawn.problem.arguments.controls, trial, reference);
    if (!verdict.right()) return note(drawn, kernel.name(), verdict.reason());
    const std::lock_guard lock(mutex_);
    ++report_.right;
    ++report_.by_family[kernel.metadata().family];
    report_.kernels.insert(kernel.name());
  }

  void note(const Drawn& drawn, std::string_view kernel, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    report_.wrong.push_back(
        {drawn.seed, std::string(kernel), described(drawn.problem), reason, drawn.replay});
  }

  void say(const Drawn& drawn) {
    const std::lock_guard lock(mutex_);
    progress_.clear();
    options_.say(drawn.replay + "  # " + described(drawn.problem));
  }

  bool stopped() {
    const std::lock_guard lock(mutex_);
    return !status_;
  }

  /// Ends the campaign with this failure, unless it has one.
  void stop(const Status& status) {
    const std::lock_guard lock(mutex_);
    if (status_) status_ = status;
  }

  const CampaignOptions& options_;
  Progress& progress_;
  std::vector<Kernel> kernels_;
  std::map<TypeKey, std::vector<Kernel>> by_types_;
  CampaignSpace space_;
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
  std::erase_if(kernels, [](const Kernel& k) { return k.metadata().operation != Operation::gemm; });
  return kernels;
}

Result<CampaignReport> run_campaign(const CampaignOptions& options, Progress& progress) {
  Campaign campaign(options, progress);
  campaign.run();
  return std::move(campaign).report();
}

}  // namespace quarry::lab
