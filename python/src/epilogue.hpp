/// What becomes of sums, as Python gives it: the standard epilogue, or an expression.
#pragma once

#include <optional>

#include "bindings.hpp"

namespace quarry::python {

/// An expression as Python gave it: text or a function, and its tensors and numbers by name.
struct ExpressionSource {
  nb::object source;
  nb::dict tensors;
};

/// The parts of an epilogue as Python gave them; the tensors become views with the arguments.
struct PythonEpilogue {
  nb::object alpha = {}, beta = {}, c = {}, bias = {}, scale = {}, residual = {}, aux = {};
  Activation activation = Activation::identity;
  float leaky_slope = 0.01F;
  BiasAxis bias_axis = BiasAxis::column;
  BiasAxis scale_axis = BiasAxis::column;
  Clamp clamp = {};
  /// In the place of all others.
  std::optional<ExpressionSource> expression = std::nullopt;
};

/// An epilogue as EpilogueArguments, a text or a function. Raises TypeError for all else.
PythonEpilogue epilogue_of(nb::handle given);

}  // namespace quarry::python
