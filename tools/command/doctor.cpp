/// quarry doctor: what of this machine and this build can be used, what is missing, and what that means.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "lab/bench/cublaslt_api.hpp"
#include "lab/bench/cudnn_api.hpp"
#include "quarry/cache.hpp"
#include "quarry/code.hpp"
#include "quarry/pack.hpp"
#include "quarry/registry.hpp"
#include "quarry/system.hpp"
#include "quarry/tuning.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/kernel_columns.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {
namespace {

/// One thing that was looked at.
struct Finding {
  std::string what;
  /// "ok", "missing" or "broken"; only what is broken makes the command fail.
  std::string state;
  std::string found;
  /// What a user should know where it is not ok.
  std::string meaning = {};
};

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Finding look_at_driver() {
  const int version = cuda_versions().driver;
  if (version > 0) return {"driver", "ok", "CUDA " + version_text(version)};
  return {"driver", "missing", cuda_status().message(),
          "kernels run on the host executor; finding, listing and explaining need no driver"};
}

std::vector<Finding> look_at_devices() {
  const int count = device_count();
  if (count == 0) {
    return {{"devices", "missing", cuda_status().message(),
             std::string("ranking is for the ") + default_device_model().name +
                 ", kernels run on the host executor"}};
  }
  std::vector<Finding> findings;
  for (int i = 0; i < count; ++i) {
    const std::string what = "device " + std::to_string(i);
    const Result<DeviceModel> model = device_model(i);
    if (!model) {
      findings.push_back({what, "broken", model.status().message(), "the driver lists it and cannot use it"});
      continue;
    }
    const std::string text = std::string(model->name) + ", compute capability " +
                             std::to_string(model->cc / 10) + "." + std::to_string(model->cc % 10) + ", " +
                             std::to_string(model->multiprocessors) + " multiprocessors";
    const auto kernels = get_kernels();
    const auto usable =
        std::ranges::count_if(kernels, [&](const Kernel& k) { return k.precompiled(model->cc); });
    if (usable > 0) {
      findings.push_back(
          {what, "ok", text + ", " + std::to_string(usable) + " precompiled kernels run on it"});
    } else {
      findings.push_back({what, "missing", text,
                          "no precompiled kernel runs on it: kernels are compiled when they are first used"});
    }
  }
  return findings;
}

Finding look_at_toolkit() {
  const Result<std::string> nvcc = compiler_path(CompilerBackend::nvcc);
  if (nvcc) return {"toolkit", "ok", *nvcc};
  return {"toolkit", "missing", nvcc.status().message(),
          "needed only to build this project, and for QUARRY_COMPILER=nvcc"};
}

Finding look_at_nvrtc() {
  const Result<std::string> nvrtc = compiler_path(CompilerBackend::nvrtc);
  if (nvrtc) return {"nvrtc", "ok", *nvrtc};
  return {"nvrtc", "missing", nvrtc.status().message(),
          "kernels that are not precompiled cannot be compiled at run time"};
}

/// What compiles kernels, as the environment says.
Finding look_at_compiler() {
  const char* const named = std::getenv("QUARRY_COMPILER");
  const std::string word = named == nullptr ? "" : named;
  const std::string meaning = "kernels that are not precompiled cannot be compiled at run time";
  if (word == "off") return {"compiler", "missing", "off: QUARRY_COMPILER says so", meaning};
  if (const Status s = compiler_status(); !s)
    return {"compiler", word.empty() ? "missing" : "broken", s.message(), meaning};
  return {"compiler", "ok",
          word.empty() ? "nvrtc: QUARRY_COMPILER names no other" : word + ": QUARRY_COMPILER says so"};
}

std::vector<Finding> look_at_build() {
  const auto kernels = get_kernels();
  const auto compiled = std::ranges::count_if(kernels, precompiled_at_all);
  std::string targets;
  for (const int cc : precompiled_targets())
    targets += (targets.empty() ? "sm_" : ", sm_") + std::to_string(cc);
  std::vector<Finding> findings;
  findings.push_back(
      {"runtime", "ok", "CUDA " + version_text(cuda_versions().runtime) + ", linked statically"});
  if (kernels.empty()) {
    findings.push_back({"kernels", "broken", "none registered", "this build of the library is of no use"});
  } else {
    findings.push_back({"kernels", "ok", std::to_string(kernels.size()) + " registered"});
  }
  if (compiled == 0) {
    findings.push_back({"precompiled", "missing", "none", "kernels are compiled when they are first used"});
  } else {
    findings.push_back({"precompiled", "ok", std::to_string(compiled) + " kernels for " + targets});
  }
  return findings;
}

std::string mebibytes(std::uint64_t bytes) {
  return text_of(static_cast<double>(bytes) / (1 << 20), 1) + " MiB";
}

Finding look_at_cache() {
  const CacheInfo cache = cache_info();
  const char* const meaning = "each process compiles its kernels again";
  if (!cache.usable) return {"cache", "missing", cache.usable.message(), meaning};
  if (cache.limit == 0) return {"cache", "missing", "switched off: QUARRY_CACHE_SIZE is 0", meaning};
  const std::string text = cache.folder + ", " + counted(cache.entries, "kernel file") + ", " +
                           mebibytes(cache.bytes) + " of " + mebibytes(cache.limit);
  const auto entries = cache_entries();
  const auto damaged = std::ranges::count_if(entries, [](const CacheEntry& entry) { return !entry.status; });
  if (damaged == 0) return {"cache", "ok", text};
  return {"cache", "broken", text + ", " + std::to_string(damaged) + " damaged",
          "they are compiled again; `quarry cache verify` names them, `quarry cache clear` removes "
          "all"};
}

Finding look_at_pack(const std::string& path) {
  const std::string what = "pack " + path;
  // Loading it finds what reading it does not: kernels that this build does not know, devices that are not
  // here.
  if (const Status loaded = load_pack(path); !loaded)
    return {what, "broken", loaded.message(),
            "it is passed over; its kernels are compiled when they are first used"};
  const Result<std::vector<Artifact>> artifacts = read_pack(path);
  return {what, "ok", counted(artifacts ? artifacts->size() : 0, "artifact")};
}

/// The packs that the environment names.
std::vector<Finding> look_at_packs() {
  const char* const paths = std::getenv("QUARRY_PACKS");
  std::vector<Finding> findings;
  std::istringstream left(paths == nullptr ? "" : paths);
  for (std::string path; std::getline(left, path, ':');) {
    if (!path.empty()) findings.push_back(look_at_pack(path));
  }
  if (findings.empty()) findings.push_back({"packs", "ok", "none: QUARRY_PACKS names no file"});
  return findings;
}

Finding look_at_tuning(const std::string& path) {
  const std::string what = "tuning " + path;
  const Result<TuningSummary> loaded = load_tuning(path);
  if (!loaded)
    return {what, "broken", loaded.status().message(), "it is passed over; kernels are ranked by prediction"};
  const std::string skipped = to_string(*loaded);
  return {what, "ok", counted(loaded->usable, "measurement") + (skipped.empty() ? "" : "; " + skipped)};
}

/// The tuning tables that the environment names, or the user's own one.
std::vector<Finding> look_at_tunings() {
  const char* const named = std::getenv("QUARRY_TUNING");
  const std::string paths = named == nullptr ? "" : named;
  std::vector<Finding> findings;
  if (paths == "off") return {{"tuning", "ok", "off: QUARRY_TUNING says so"}};
  std::istringstream left(paths);
  for (std::string path; std::getline(left, path, ':');) {
    if (!path.empty()) findings.push_back(look_at_tuning(path));
  }
  std::error_code error;
  const std::string own = user_tuning_path();
  if (paths.empty() && !own.empty() && std::filesystem::exists(own, error))
    findings.push_back(look_at_tuning(own));
  if (findings.empty()) findings.push_back({"tuning", "ok", "no table: kernels are ranked by prediction"});
  return findings;
}

Finding look_at_cublaslt() {
  const Result<lab::CublasLtFunctions> library = lab::open_cublaslt("");
  if (!library)
    return {"cublaslt", "missing", library.status().message(), "`quarry bench` times kernels alone"};
  // It counts as 10000 * major + 100 * minor + patch.
  const std::size_t version = library->version();
  return {"cublaslt", "ok",
          path_of(*library) + ", version " + std::to_string(version / 10000) + "." +
              std::to_string(version % 10000 / 100) + "." + std::to_string(version % 100)};
}

Finding look_at_cudnn() {
  const Result<lab::CudnnFunctions> library = lab::open_cudnn("");
  if (!library)
    return {"cudnn", "missing", library.status().message(),
            "`quarry bench` times convolutions' kernels alone"};
  // It counts as 10000 * major + 100 * minor + patch.
  const std::size_t version = library->version();
  return {"cudnn", "ok",
          path_of(*library) + ", version " + std::to_string(version / 10000) + "." +
              std::to_string(version % 10000 / 100) + "." + std::to_string(version % 100)};
}

int doctor(const ListingFlags& flags) {
  std::vector<Finding> findings = look_at_build();
  findings.push_back(look_at_driver());
  for (Finding& finding : look_at_devices()) findings.push_back(std::move(finding));
  findings.push_back(look_at_toolkit());
  findings.push_back(look_at_nvrtc());
  findings.push_back(look_at_compiler());
  findings.push_back(look_at_cache());
  for (Finding& finding : look_at_packs()) findings.push_back(std::move(finding));
  for (Finding& finding : look_at_tunings()) findings.push_back(std::move(finding));
  findings.push_back(look_at_cublaslt());
  findings.push_back(look_at_cudnn());

  const auto cell = [&](std::size_t row, std::size_t column) -> Cell {
    const Finding& finding = findings[row];
    switch (column) {
      case 0: return finding.what;
      case 1: return finding.state;
      case 2: return finding.found;
      default: return finding.meaning.empty() ? Cell() : Cell(finding.meaning);
    }
  };
  const bool usable = std::ranges::none_of(findings, [](const Finding& f) { return f.state == "broken"; });
  Listing listing{.noun = "findings",
                  .columns = {{.name = "what"},
                              {.name = "state"},
                              {.name = "found", .is_prose = true},
                              {.name = "meaning", .is_prose = true}},
                  .rows = findings.size(),
                  .cell = cell,
                  .head = {{"usable", usable}}};
  if (Status printed = print(listing, flags); !printed) return report(printed);
  if (usable) return done;
  message("something is broken");
  return failed;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<ListingFlags>();
  CLI::App* command =
      add_command(app, "doctor",
                  {.help = "Report driver, devices, compilers and cache of this machine, and what is missing",
                   .usage = "[FLAGS]",
                   .examples = {"quarry doctor", "quarry doctor --format json"},
                   .notes = "The column `meaning` says what does not work where a part is `missing`. A "
                            "`broken` part makes the "
                            "exit status 1."});
  add_listing_flags(*command, *flags);
  command->callback([flags, &action] { action = [flags] { return doctor(*flags); }; });
}

}  // namespace quarry::command
