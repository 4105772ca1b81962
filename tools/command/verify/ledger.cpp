#include "tools/command/verify/ledger.hpp"

#include <filesystem>

#include "lab/text.hpp"
#include "quarry/device_model.hpp"
#include "tools/command/common/output.hpp"

namespace quarry::command {

LedgerWriter::LedgerWriter(std::string path, lab::Place place)
    : path_(std::move(path)),
      device_(place == lab::Place::host ? std::string(lab::host_executor) : default_device_model().name) {}

Status LedgerWriter::check() const { return path_.empty() ? Status() : add_to_file(path_, lab::Ledger()); }

Status LedgerWriter::add(const Kernel& kernel, std::int64_t problems) {
  if (path_.empty()) return {};
  gathered_.add(device_, lab::sources_of(kernel.name()), std::string(kernel.name()), problems);
  constexpr std::chrono::seconds between(10);
  return std::chrono::steady_clock::now() - saved_ < between ? Status() : save();
}

Status LedgerWriter::save() {
  if (path_.empty() || gathered_.empty()) return {};
  if (Status s = add_to_file(path_, gathered_); !s) return s;
  gathered_ = {};
  saved_ = std::chrono::steady_clock::now();
  return {};
}

int merge_ledgers(const std::string& into, const std::vector<std::string>& from) {
  lab::Ledger all;
  for (const std::string& path : from) {
    if (!std::filesystem::exists(path))
      return report(
          Status(StatusCode::parse_error, "--merge-ledgers: there is no file " + lab::quoted(path)));
    const Result<lab::Ledger> ledger = lab::Ledger::read(path);
    if (!ledger) return report(ledger.status());
    all.merge(*ledger);
  }
  if (Status s = add_to_file(into, all); !s) return report(s);
  const Result<lab::Ledger> merged = lab::Ledger::read(into);
  if (!merged) return report(merged.status());
  write_output(lab::quoted(into) + ": " + lab::counted(merged->size(), "entry") + ", " +
               lab::counted(merged->kernels().size(), "kernel") + "\n");
  return done;
}

}  // namespace quarry::command
