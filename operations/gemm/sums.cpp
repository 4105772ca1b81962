#include "quarry/sums.hpp"

#include "common/config_parts.hpp"

namespace quarry {

DType sum_type(DType a, DType b, std::optional<DType> accumulator) {
  return partial_type(accumulator.value_or(default_accumulator(a, b)));
}

}  // namespace quarry
