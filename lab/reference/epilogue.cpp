#include "lab/reference/epilogue.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/config_parts.hpp"
#include "lab/problems/matrices.hpp"
#include "lab/reference/norm.hpp"
#include "operations/common/host/activation.hpp"
#include "operations/common/host/arithmetic.hpp"
#include "operations/common/host/element.hpp"

namespace quarry::lab {
namespace {

using host::read_element;

/// A sum of s32 as it wraps. @pre it is a whole number below 2^53, as sums of bytes' products are
std::int32_t wrapped(double sum) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(sum)));
}

double element(const TensorView& view, std::int64_t entry, std::int64_t row, std::int64_t column) {
  const Matrices m(view);
  return read_element(m.type(), m.first(entry), m.index(row, column));
}

}  // namespace

EpilogueReference::EpilogueReference(const TensorView& out, const std::optional<TensorView>& c,
                                     const Epilogue& epilogue, DType sums, double terms,
                                     const ReferenceOptions& options, Reference& reference)
    : c_(c),
      epilogue_(epilogue),
      reference_(reference),
      sums_wrap_(is_integer(sums)),
      compute_(compute_type(sums, out.dtype)),
      alpha_(scalar(epilogue.alpha)),
      beta_(scalar(epilogue.beta)) {
  if (const auto& scale = epilogue.scale) {
    const bool varies = scale->extents[0] > 1;
    const bool by_row = epilogue.scale_axis == BiasAxis::row;
    scale_row_stride_ = varies && by_row ? 1 : 0;
    scale_column_stride_ = varies && !by_row ? 1 : 0;
  }
  const Matrices m(out);
  const double a_row = static_cast<double>(m.count()) * static_cast<double>(m.columns()) * terms;
  const std::vector<std::int64_t> rows = chosen_rows(m.rows(), a_row, options);
  reference.outputs = {expected_output(Operand::out, out, rows)};
  if (epilogue.aux) reference.outputs.push_back(expected_output(Operand::aux, *epilogue.aux, rows));
  Expected& first = reference.outputs[0];
  first.clamp = epilogue.clamp;
  const bool is_clamped = epilogue.clamp != Clamp();
  if (is_integer(compute_) || (!is_clamped && !saturates(out.dtype))) return;  // integers are exact
  const std::size_t count = first.values.size();
  squares_.resize(count);
  if (is_clamped) first.unclamped.resize(count);
  first.magnitudes.resize(count);
  if (epilogue.aux && saturates(out.dtype)) reference.outputs[1].magnitudes.resize(count);
}

double EpilogueReference::scalar(const Scalar& s) const {
  return s.pointer == nullptr ? s.value : read_element(compute_, s.pointer, 0);
}

std::size_t EpilogueReference::place(std::int64_t entry, std::size_t row, std::int64_t column) const {
  const std::int64_t line = entry * std::ssize(out().rows) + static_cast<std::int64_t>(row);
  return static_cast<std::size_t>(line * out().columns + column);
}

double EpilogueReference::scale_at(std::int64_t row, std::int64_t column) const {
  const auto& scale = epilogue_.scale;
  if (!scale) return 1;
  return read_element(compute_, scale->data, row * scale_row_stride_ + column * scale_column_stride_);
}

EpilogueReference::Sources EpilogueReference::sources(std::int64_t entry, std::int64_t row,
                                                      std::int64_t column) const {
  const Epilogue& e = epilogue_;
  Sources s = {.scale = scale_at(row, column), .c = 0, .bias = 0, .residual = 0};
  if (beta_ != 0) s.c = element(*c_, entry, row, column);
  if (e.bias) {
    const std::int64_t at = e.bias_axis == BiasAxis::row ? row : column;
    s.bias = read_element(e.bias->dtype, e.bias->data, at * e.bias->strides[0]);
  }
  if (e.residual) s.residual = element(*e.residual, entry, row, column);
  return s;
}

void EpilogueReference::finish(std::int64_t entry, std::int64_t column, int columns) {
  for (std::size_t i = 0; i < rows().size(); ++i) {
    double* const row = sums(entry, i, column);
    double* const aux = epilogue_.aux ? &reference_.outputs[1].values[place(entry, i, column)] : nullptr;
    for (int j = 0; j < columns; ++j) {
      const Sources s = sources(entry, rows()[i], column + j);
      const double sum = sums_wrap_ ? static_cast<double>(wrapped(row[j])) : row[j];
      double z = 0;
      const double unclamped = is_integer(compute_) ? finished_integer(sum, s, z) : finished(sum, s, z);
      row[j] = clamped(unclamped);
      if (aux != nullptr) aux[j] = z;
      if (!squares_.empty()) note_bounded(place(entry, i, column + j), unclamped, s);
    }
  }
}

double EpilogueReference::clamped(double x) const {
  const Clamp& clamp = epilogue_.clamp;
  return x < clamp.low ? clamp.low : x > clamp.high ? clamp.high : x;
}

/// What compare() needs of an output that a clamp or its type bounds.
void EpilogueReference::note_bounded(std::size_t place, double unclamped, const Sources& s) {
  const double added = std::abs(beta_ * s.c) + std::abs(s.bias) + std::abs(s.residual);
  const double magnitude = (alpha_ == 0 ? 0 : std::abs(alpha_) * std::sqrt(squares_[place])) + added;
  for (Expected& output : reference_.outputs) {
    if (!output.magnitudes.empty()) output.magnitudes[place] = magnitude;
  }
  Expected& first = reference_.outputs[0];
  if (!first.unclamped.empty()) first.unclamped[place] = unclamped;
}

/// An output before the clamp. @param z what it is before the activation
double EpilogueReference::finished(double sum, const Sources& s, double& z) const {
  const Epilogue& e = epilogue_;
  z = (alpha_ == 0 ? 0 : alpha_ * s.scale * sum) + (beta_ == 0 ? 0 : beta_ * s.c) + s.bias;
  return host::activate(e.activation, e.leaky_slope, z) + s.residual;
}

/// The same in s32, of numbers that all are s32.
double EpilogueReference::finished_integer(double sum, const Sources& s, double& z) const {
  const auto as_integer = [](double x) { return static_cast<std::int32_t>(x); };
  const Epilogue& e = epilogue_;
  std::int32_t x = host::multiplied(as_integer(alpha_), as_integer(sum));
  x = host::added(host::multiplied_added(as_integer(beta_), as_integer(s.c), x), as_integer(s.bias));
  z = x;
  return host::added(host::activate(e.activation, e.leaky_slope, x), as_integer(s.residual));
}

/// ||C|| over the chosen rows.
double EpilogueReference::norm_of_c() const {
  Norm norm;
  for (std::int64_t entry = 0; entry < batch(); ++entry) {
    for (const std::int64_t row : rows()) {
      for (std::int64_t column = 0; column < columns(); ++column) norm.add(element(*c_, entry, row, column));
    }
  }
  return norm.finite_value();
}

void EpilogueReference::set_scale(double norm_of_sums) {
  const double scale =
      (alpha_ == 0 ? 0 : std::abs(alpha_) * norm_of_sums) + (beta_ == 0 ? 0 : std::abs(beta_) * norm_of_c());
  // An infinite scale would permit everything.
  for (Expected& output : reference_.outputs)
    output.scale = std::min(scale, std::numeric_limits<double>::max());
}

}  // namespace quarry::lab
