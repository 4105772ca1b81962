/// The ledger of verification: which kernels gave right results on which device, and from which sources.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quarry/status.hpp"

namespace quarry::lab {

/// The device of what ran on the host executor, by a kernel's metadata and not by its machine code.
inline constexpr std::string_view host_executor = "host executor";

/// A set of facts: a kernel, compiled from sources of this digest, was right on a device, on so many
/// problems. Merging is the union, with the greater number of problems: the order does not matter, nor how
/// often.
///
/// As text, by device and sources, names in order, each without what it shares with the one before it:
///
///   quarry ledger 1
///   device NVIDIA H200
///   sources 4a0f...
///   0 gemm_simt_... 9
///   41 128x64x16_t8x4 9
///   end 2 93ab...
class Ledger {
 public:
  /// Reads a text. Fails with parse_error and the line where it is no ledger, was written by a later Quarry,
  /// or is damaged in any byte.
  static Result<Ledger> parse(std::string_view text);

  /// The ledger of a file; an empty one where there is no file. Failures name the file.
  static Result<Ledger> read(const std::string& path);

  /// @param device without a newline in its name
  void add(const std::string& device, const std::string& sources, const std::string& kernel,
           std::int64_t problems);
  void merge(const Ledger& other);

  bool empty() const { return parts_.empty(); }
  /// Facts in all.
  std::size_t size() const;
  std::string text() const;

  /// Each kernel's name, once.
  std::vector<std::string> kernels() const;

  /// Where a kernel was verified, for people: "NVIDIA H200 (9 problems)", and with other sources than these
  /// "NVIDIA H200 (9 problems, earlier sources)". Empty where it was not.
  std::string where_verified(std::string_view kernel, std::string_view sources) const;

  /// Where the machine code of a kernel that was not verified itself was: by the kernel that has the name of
  /// their entry. "its code on NVIDIA H200 (9 problems)"; empty where it was not.
  std::string where_code_verified(std::string_view entry, std::string_view sources) const;

  friend bool operator==(const Ledger&, const Ledger&) = default;

 private:
  std::string places(std::string_view kernel, std::string_view sources, bool of_devices) const;

  /// By device and sources: problems by kernel.
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::int64_t, std::less<>>> parts_;
};

/// Adds a ledger to a file's, which is replaced whole or not at all. Processes that add to one file at
/// the same time wait for each other. Fails as Ledger::read does, and with file_error.
Status add_to_file(const std::string& path, const Ledger& ledger);

/// The ledger that was built in (verified.ledger of the source tree), or the one of the file that the
/// environment variable QUARRY_LEDGER names. Fails with file_error where there is no such file, and as
/// Ledger::read does; messages name the variable.
Result<Ledger> known_ledger();

/// The digest of the device code that a kernel's family is made of, in this library: a change of other
/// families leaves a kernel verified.
std::string sources_of(std::string_view kernel);

}  // namespace quarry::lab
