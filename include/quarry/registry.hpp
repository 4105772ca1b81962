/// The registry: which kernels there are, which can do a job, best first, and how to make more.
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
  precompiled,  ///< only kernels that this library holds machine code of, for the device of the query
};

struct FindOptions {
  Order order = Order::best_first;
  /// At most so many candidates.
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  /// Leave out candidates that need more workspace; a kernel that can do with less is offered with controls
  /// that do.
  std::size_t max_workspace = std::numeric_limits<std::size_t>::max();
  Availability availability = Availability::any;
  /// Count the rejected kernels by reason.
  bool explain = false;
  /// The device to rank for; null: the one where the tensors lie, else default_device_model().
  const DeviceModel* device = nullptr;
};

/// Why some kernels were left out of an answer.
struct Rejection {
  /// The first such kernel's message.
  std::string reason;
  std::size_t kernels = 0;
};

/// The answer to a query for a problem. Elements are Candidates, in the order asked for.
class CandidateList {
 public:
  using value_type = Candidate;
  using const_iterator = const Candidate*;

  CandidateList() = default;
  /// An empty answer, why it is one, and what was left out.
  explicit CandidateList(Status status, std::vector<Rejection> rejections = {})
      : status_(std::move(status)), rejections_(std::move(rejections)) {}
  /// One candidate of `matched`, which is kept in place, so that asking for the best one allocates nothing.
  CandidateList(const Candidate& only, std::size_t matched, std::vector<Rejection> rejections = {})
      : only_(only), matched_(matched), rejections_(std::move(rejections)) {}
  /// The first candidates of `matched`. Where the limit leaves none, the status says so.
  CandidateList(std::vector<Candidate> many, std::size_t matched, std::vector<Rejection> rejections = {});

  bool empty() const { return size() == 0; }
  std::size_t size() const { return only_ ? 1 : many_.size(); }
  const Candidate& operator[](std::size_t i) const { return begin()[i]; }
  const Candidate& front() const { return *begin(); }
  const Candidate* begin() const { return only_ ? &*only_ : many_.data(); }
  const Candidate* end() const { return begin() + size(); }

  /// How many kernels match, also those that `limit` cut off.
  std::size_t matched() const { return matched_; }
  /// Ok unless the list is empty; then: bad arguments, no kernel of these types and layouts, or all left out.
  const Status& status() const { return status_; }
  /// With `explain`: the kernels of these types and layouts that were left out, most frequent reason first.
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
/// Those that pass the filter, in registry order.
std::vector<Kernel> get_kernels(const Filter& filter);
/// The kernels that can solve the problem, best first. Safe from any thread; a repeated question is answered
/// from memory.
CandidateList get_kernels(Arguments arguments);
CandidateList get_kernels(Arguments arguments, const Filter& filter, const FindOptions& options = {});

/// The first of them, without allocating. Fails as the list's status() says where there is none.
Result<Candidate> find_best(Arguments arguments);
Result<Candidate> find_best(Arguments arguments, const Filter& filter, const FindOptions& options = {});

/// One kernel, registered or not, as the answer to a problem: with controls chosen for it. Fails as
/// Kernel::supports does, by the options' device; with filtered_out where it needs more workspace than they
/// allow. Nothing else of the options counts.
Result<Candidate> candidate_of(const Kernel& kernel, Arguments arguments, const FindOptions& options = {});

/// The kernel of this name: a registered one, or one that make_kernel made before; not_found with the nearest
/// names otherwise.
Result<Kernel> find_kernel(std::string_view name);

/// A kernel of one's own: any config that its family can do, registered or not. `text` is a name, or a config
/// as JSON with exactly the keys of the family's settings:
///
///   {"family": "gemm_sm80", "a": "f16", "b": "f16", "accumulator": "f32", "out": "f16", "layouts": "rcr",
///    "tile": [128, 128, 32], "warps": [2, 2, 1], "stages": 3, "alignment": [8, 8]}
///
/// The same config gives the same kernel, which is the registered one where there is one, and is valid for
/// the life of the process. It is not among those that get_kernels() answers. Nothing is compiled here. Fails
/// with parse_error for text that cannot be read, and with unsupported, naming the constraint, for a config
/// that its family cannot do. Safe from any thread.
Result<Kernel> make_kernel(std::string_view text);

}  // namespace quarry
