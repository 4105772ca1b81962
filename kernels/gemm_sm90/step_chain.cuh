/// The parts of the standard chain that a step goes through from its activation on.
#pragma once

#include "common/epilogue.cuh"
#include "gemm_sm90/activation.cuh"
#include "gemm_sm90/step.cuh"

namespace quarry::gemm_sm90 {

/// Whether the epilogue computes in whole numbers, which are not scaled.
constexpr bool has_whole_numbers(const Config& c) {
  return is_integer(partial_type(c.types.accumulator)) && c.types.out == DType::s32;
}

/// x + what is added.
template <int count, class Value>
QUARRY_DEVICE void add_each(StepValues<count, Value>& x, const StepValues<count, Value>& addends) {
  QUARRY_UNROLL
  for (int i = 0; i < count; ++i) x.v[i] = added(x.v[i], addends.v[i]);
}

/// The activation of a step's values. Those of 32 bits go by the box, a few at a time.
template <Config config, class Step>
QUARRY_DEVICE void activate_step(const EpilogueParams& e, const Step& step, typename Step::Values& x) {
  using Out = Element<config.types.out>;
  if constexpr (has_whole_numbers(config)) {
    activate(e.activation, e.leaky_slope, x.v);
  } else if constexpr (sizeof(Out) == 4) {
    step.put(x);
    activate_box<box_out(config)>(e.activation, e.leaky_slope, step.buffer, step.box_column,
                                  step_columns(config), step.lane);
    x = {};
    step.add(x, 1);
  } else {
    activate_roughly<true>(e.activation, e.leaky_slope, x.v);
  }
}

/// What comes behind the activation: a residual and bounds. @param fetched what lies in the box already
template <Config config, class Step>
QUARRY_DEVICE void finish_step(const EpilogueParams& e, Fetched fetched, const Step& step,
                               typename Step::Values& x) {
  using Value = typename Step::Value;
  if (e.residual.data != nullptr) {
    if (fetched != Fetched::residual) step.read(step.beside(e.residual));
    step.add(x, 1);
  }
  if (e.clamps) {
    const auto low = static_cast<Value>(e.clamp_low);
    const auto high = static_cast<Value>(e.clamp_high);
    if constexpr (has_whole_numbers(config)) {
      replace_each(x.v, [&](Value v) { return v < low ? low : v > high ? high : v; });
    } else {
      replace_each(x.v, [&](Value v) { return arch::minimum(arch::maximum(v, low), high); });
    }
  }
}

}  // namespace quarry::gemm_sm90
