/// What a thread holds of the tensors of an expression: in registers, each with its own type.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"

namespace quarry {

/// Neighbours of a line of each of the tensors [first, last) that generated code knows by number.
template <class Code, int count, int first, int last>
struct HeldTensors {
  arch::Vector<Element<Code::type(first)>, count> own = {};
  HeldTensors<Code, count, first + 1, last> others = {};

  template <int tensor>
  QUARRY_DEVICE auto& of() {
    if constexpr (tensor == first) {
      return own;
    } else {
      return others.template of<tensor>();
    }
  }
};
template <class Code, int count, int last>
struct HeldTensors<Code, count, last, last> {};

}  // namespace quarry
