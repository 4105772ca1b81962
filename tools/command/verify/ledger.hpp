/// The ledger that quarry verify writes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lab/trials/trial.hpp"
#include "lab/verify/ledger.hpp"
#include "quarry/kernel.hpp"

namespace quarry::command {

/// Gathers what passed, and adds it to a file every few seconds, so that a verification that is stopped
/// leaves what it did.
class LedgerWriter {
 public:
  /// @param path empty: nothing is kept
  LedgerWriter(std::string path, lab::Place place);

  /// Fails where the file is no ledger, or cannot be written.
  Status check() const;
  Status add(const Kernel& kernel, std::int64_t problems);
  /// Writes all results that are not in the file yet.
  Status save();

 private:
  std::string path_;
  std::string device_;
  lab::Ledger gathered_;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
};

/// Adds ledgers to the one of a file, and says how much there is in it then. @return the exit status
int merge_ledgers(const std::string& into, const std::vector<std::string>& from);

}  // namespace quarry::command
