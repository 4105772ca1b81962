#include "operations/gemm/lab/many_types.hpp"

#include <cstddef>
#include <iterator>

namespace quarry::lab {
namespace {

constexpr DType any_type[] = {DType::f16, DType::bf16, DType::f32, DType::f64,
                              DType::s8,  DType::u8,   DType::s32, DType::e4m3};

}  // namespace

ManyTypes types_of(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return {o.a.dtype, o.b.dtype, o.accumulator, o.out.dtype};
}

std::string text_of(const ManyTypes& types) {
  std::string text;
  for (const DType type : {types.a, types.b, types.sums, types.out}) text.append(to_string(type)).append(" ");
  return text;
}

DrawnTypes::DrawnTypes(std::span<const Kernel> kernels) {
  for (const Kernel& kernel : kernels) {
    const ManyTypes types = types_of(kernel.metadata());
    all_.insert(types);
    if (takes_blocks(kernel.metadata().operands.scales)) scaled_.insert(types);
  }
  list_ = {all_.begin(), all_.end()};
}

ManyTypes DrawnTypes::draw(Dice& dice) const {
  ManyTypes types = list_[static_cast<std::size_t>(dice.between(0, std::ssize(list_) - 1))];
  if (dice.one_in(16)) types = {dice.one_of(any_type), dice.one_of(any_type), types.sums, types.out};
  return types;
}

}  // namespace quarry::lab
