/// Kernels that can solve a problem, while a query weighs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "chosen_controls.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "quarry/registry.hpp"
#include "registry/query/explain.hpp"
#include "registry/query/sort_keys.hpp"

namespace quarry::detail {

/// A row that can solve the problem, with the controls chosen for it.
struct Offer {
  const Row* row = nullptr;
  Estimate estimate;
  /// As a tuning table says; 0: not measured.
  double measured_seconds = 0;

  /// Predicted, in the precision that offers are ordered by.
  float seconds() const { return static_cast<float>(estimate.seconds); }
};

/// Room for offers. Not cleared, which would take as long as to write them.
class OfferRoom {
 public:
  explicit OfferRoom(std::size_t most) : bytes_(new std::byte[most * sizeof(Offer)]) {}

  /// The offer behind `found` others, which Search::judge is to fill.
  Offer& next(std::size_t found) const {
    Offer& offer = offers()[found];
    offer.measured_seconds = 0;
    return offer;
  }
  std::span<const Offer> first(std::size_t found) const { return {offers(), found}; }

 private:
  // An aggregate that is trivially copied needs no constructor: it is there where it is written.
  static_assert(std::is_aggregate_v<Offer> && std::is_trivially_copyable_v<Offer>);
  Offer* offers() const { return reinterpret_cast<Offer*>(bytes_.get()); }

  std::unique_ptr<std::byte[]> bytes_;
};

/// Whether a row is one that the caller wants: the filter and FindOptions::availability. @pre it runs on the
/// device
/// @param expression of the problem. Of no matter where any availability will do
Verdict check_predicate(const Row& row, const KnownExpression& expression, const DeviceModel& device,
                        const Filter& filter, const FindOptions& options);

/// Whether check_predicate takes every row.
inline bool wants_all(const Filter& filter, const FindOptions& options) {
  return options.availability == Availability::any && !filter.restricts();
}

/// The order in which offers are answered: by predicted time, then as registered.
std::vector<RankKey> ranked(std::span<const Offer> offers, Order order);

/// The model by which controls are chosen for these operands: the model of the first one that is said to lie
/// on a device, default_device_model() otherwise. Does not ask the driver about pointers, so that what a
/// query, workspace_size and a run choose is the same.
const DeviceModel& model_for(const OperandList& operands);

/// Whether the order and the availability of options are such that there are; invalid_arguments otherwise.
Status check_options(const FindOptions& options);

/// Whether a model holds what ranking divides by; invalid_arguments otherwise.
Status check_model(const DeviceModel& device);

}  // namespace quarry::detail
