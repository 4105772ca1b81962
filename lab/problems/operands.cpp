#include "lab/problems/operands.hpp"

#include <algorithm>
#include <utility>

#include "lab/operation.hpp"
#include "lab/problems/matrices.hpp"
#include "operations/common/host/element.hpp"

namespace quarry::lab {
namespace {

/// Writes values to the elements of a vector or of a matrix, row by row, as many as there are.
void write_values(const TensorView& view, const std::vector<double>& values) {
  const Matrices m(view);
  const auto count = std::min<std::int64_t>(m.rows() * m.columns(), std::ssize(values));
  for (std::int64_t i = 0; i < count; ++i) {
    host::write_element(m.type(), const_cast<void*>(view.data), m.index(i / m.columns(), i % m.columns()),
                        values[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

Result<Operands> Operands::make(HeldArguments shape, const OperandOptions& options) {
  Operands made(std::move(shape));
  if (Status s = made.make_tensors(options); !s) return s;
  for (const NamedTensor& each : made.tensors_) {
    if (!each.is_output) made.fill(each.name, each.tensor.view());
  }
  made.fill_in_place();  // outputs are poison since they were made
  return made;
}

Status Operands::make_tensors(const OperandOptions& options) {
  options_ = {
      .seed = options.seed, .values = options.values, .given = options.given, .threads = options.threads};
  return arguments_.edit_operands([&](const detail::OperandRef& operand, TensorView& view) -> Status {
    if (operand.may_be_out && std::ranges::find(options.in_place, operand.name) != options.in_place.end()) {
      options_.in_place.push_back(operand.name);
      view = in_place_view(view.dtype, tensors_.front().tensor.view());  // outputs stand in front
      return {};
    }
    Result<GuardedTensor> tensor = GuardedTensor::make(view);
    if (!tensor) return tensor.status();
    view = tensor->view();
    tensors_.push_back({operand.name, operand.is_output, operand.may_stay, *std::move(tensor)});
    return {};
  });
}

void Operands::fill(Operand name, const TensorView& view) const {
  const auto given = std::ranges::find(options_.given, name, &GivenValues::name);
  if (given != options_.given.end()) return write_values(view, given->values);
  const FillOptions options = {.seed = options_.seed, .values = options_.values, .threads = options_.threads};
  const auto own = lab_of(arguments_.operation()).fill;
  if (own != nullptr && own(arguments_, name, view, options)) return;
  fill_random(view, value_number(name), options);
}

const GuardedTensor& Operands::operator[](Operand name) const {
  return std::ranges::find(tensors_, name, &NamedTensor::name)->tensor;
}

GuardedTensor& Operands::operator[](Operand name) {
  return std::ranges::find(tensors_, name, &NamedTensor::name)->tensor;
}

void Operands::reset_outputs() {
  for (NamedTensor& each : tensors_) {
    if (each.is_output) each.tensor.poison();
  }
  fill_in_place();
}

void Operands::fill_in_place() {
  if (options_.in_place.empty()) return;
  detail::OperandList operands;
  arguments_.list(operands);
  const Operand name = options_.in_place.front();
  fill(name, *operands.find(name)->view);
}

Status Operands::check_outputs() const {
  for (const NamedTensor& each : tensors_) {
    if (!each.is_output) continue;
    const bool is_first = &each == tensors_.data();
    const Status s = each.tensor.check(!each.may_stay && (!is_first || options_.in_place.empty()));
    if (s) continue;
    return is_first ? s : Status(s.code(), std::string(to_string(each.name)) + ": " + s.message());
  }
  return {};
}

}  // namespace quarry::lab
