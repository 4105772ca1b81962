/// The registry: it lists kernels, finds the kernels for a problem, best first, and makes new ones.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/arguments.hpp"
#include "quarry/device_model.hpp"
#include "quarry/filter.hpp"
#include "quarry/kernel.hpp"

namespace quarry {

enum class Order : unsigned char {
  best_first,  ///< by predicted time
  registry,    ///< as registered
};

enum class Availability : unsigned char {
  any,          ///< every registered kernel
  precompiled,  ///< only kernels that need no compiler on the device of the query (Kernel::precompiled), with
                ///< the problem's expression compiled in where it has one
};

struct FindOptions {
  Order order = Order::best_first;
  /// The most candidates to return.
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  /// Bytes. Candidates that need more workspace are left out. A kernel that can work with less gets controls
  /// that do.
  std::size_t max_workspace = std::numeric_limits<std::size_t>::max();
  Availability availability = Availability::any;
  /// Count the rejected kernels by reason.
  bool explain = false;
  /// The device to rank for; null: the device of the tensors, else default_device_model().
  const DeviceModel* device = nullptr;
  /// For a GEMM, return kernels of one sum class only (quarry/batch_invariant.hpp), with K in one piece. The
  /// class depends on N, K, types, layouts and alignments, not on M. So a row of A gives the same bits in
  /// every problem that differs in M alone. Controls that cut K are refused.
  bool batch_invariant = false;
};

/// Why some kernels were rejected.
struct Rejection {
  /// The message of the first such kernel.
  std::string reason;
  std::size_t kernels = 0;
};

/// The answer to a query for a problem: Candidates, in the order that the query asked for.
class CandidateList {
 public:
  using value_type = Candidate;
  using const_iterator = const Candidate*;

  CandidateList() = default;
  /// An empty answer: the reason, and the rejected kernels.
  explicit CandidateList(Status status, std::vector<Rejection> rejections = {})
      : status_(std::move(status)), rejections_(std::move(rejections)) {}
  /// One of `matched` candidates, stored in place, so that find_best does not allocate.
  CandidateList(const Candidate& only, std::size_t matched, std::vector<Rejection> rejections = {})
      : only_(only), matched_(matched), rejections_(std::move(rejections)) {}
  /// The first of `matched` candidates. If the limit leaves none, the status says so.
  CandidateList(std::vector<Candidate> many, std::size_t matched, std::vector<Rejection> rejections = {});

  bool empty() const { return size() == 0; }
  std::size_t size() const { return only_ ? 1 : many_.size(); }
  const Candidate& operator[](std::size_t i) const { return begin()[i]; }
  const Candidate& front() const { return *begin(); }
  const Candidate* begin() const { return only_ ? &*only_ : many_.data(); }
  const Candidate* end() const { return begin() + size(); }

  /// The number of kernels that match, including kernels beyond `limit`.
  std::size_t matched() const { return matched_; }
  /// Ok unless the list is empty. Otherwise the reason: bad arguments, no kernel of these types and layouts,
  /// or all kernels rejected.
  const Status& status() const { return status_; }
  /// With `explain`: the kernels of these types and layouts that were rejected, most frequent reason first.
  std::span<const Rejection> rejections() const { return rejections_; }

 private:
  Status status_;
  std::optional<Candidate> only_;
  std::vector<Candidate> many_;
  std::size_t matched_ = 0;
  std::vector<Rejection> rejections_;
};

/// Every registered kernel of every operation, in registry order.
std::vector<Kernel> get_kernels();
/// The registered kernels that pass the filter, in registry order.
std::vector<Kernel> get_kernels(const Filter& filter);
/// The kernels that can solve the problem, best first: if a tuning table has measurements for it, the fastest
/// measured kernel, then all others by predicted time. Safe from any thread. With FindOptions::limit = 1, the
/// answer to a repeated question comes from memory, except with `batch_invariant` or `explain`.
CandidateList get_kernels(Arguments arguments);
CandidateList get_kernels(Arguments arguments, const Filter& filter, const FindOptions& options = {});

/// The first candidate. Beyond the first question about a device, finding it allocates nothing, except with
/// FindOptions::batch_invariant or `explain`. Fails with the status() of the list if there is no candidate;
/// its text may be allocated.
Result<Candidate> find_best(Arguments arguments);
Result<Candidate> find_best(Arguments arguments, const Filter& filter, const FindOptions& options = {});

/// One kernel, registered or not, as a candidate for a problem, with controls chosen for it. Fails as
/// Kernel::supports does for the device of the options, and with filtered_out if it needs more workspace than
/// the options allow. All other options are ignored.
Result<Candidate> candidate_of(const Kernel& kernel, Arguments arguments, const FindOptions& options = {});

/// The kernel with this name: a registered kernel, or a kernel that make_kernel made before. Fails with
/// not_found and the nearest names.
Result<Kernel> find_kernel(std::string_view name);

/// Makes a kernel from any config that its family can do, registered or not. `text` is a name, or a config as
/// JSON with the keys of the family's settings (docs/own_kernels.md):
///
///   {"family": "gemm_sm80", "a": "f16", "b": "f16", "accumulator": "f32", "out": "f16", "layouts": "rcr",
///    "tile": [128, 128, 32], "warps": [2, 2, 1], "stages": 3, "alignment": [8, 8]}
///
/// The same config gives the same kernel: the registered kernel if there is one. It is valid for the life of
/// the process. get_kernels() returns only registered kernels. Nothing is compiled here. Fails with
/// parse_error for text that cannot be read, and with unsupported and the broken constraint for a config that
/// its family cannot do. Safe from any thread.
Result<Kernel> make_kernel(std::string_view text);

}  // namespace quarry
