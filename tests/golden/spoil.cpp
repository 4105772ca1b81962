#include <cstdint>
#include <limits>

#include "problem.hpp"

namespace quarry::golden {
namespace {

using std::int64_t;

/// No word of any enumeration, also of those to come.
template <class Word>
constexpr Word no_word() {
  return static_cast<Word>(200);
}

std::size_t any_axis(const TensorView& view, Dice& dice) {
  return static_cast<std::size_t>(dice.between(0, view.rank == 0 ? 0 : view.rank - 1));
}

void spoil_extent(TensorView& view, Dice& dice) {
  int64_t& extent = view.extents[any_axis(view, dice) % TensorView::max_rank];
  switch (dice.between(0, 4)) {
    case 0: extent += 1; return;
    case 1: extent = -extent - 1; return;
    case 2: extent = std::numeric_limits<std::int32_t>::max(); return;
    case 3: extent = int64_t{1} << dice.between(31, 62); return;
    default: extent = 0;
  }
}

void spoil_stride(TensorView& view, Dice& dice) {
  int64_t& stride = view.strides[any_axis(view, dice) % TensorView::max_rank];
  switch (dice.between(0, 4)) {
    case 0: stride = -1; return;
    case 1: stride = 0; return;
    case 2: stride = 1; return;
    case 3: stride += 1; return;
    default: stride = int64_t{1} << dice.between(30, 62);
  }
}

void spoil_alignment(TensorView& view, Dice& dice) {
  constexpr std::uint16_t alignments[] = {0, 1, 3, 24, 2048};
  if (view.data == nullptr || dice.one_in(3)) {
    view.assumed_alignment = dice.one_of(alignments);
  } else {
    view.data = static_cast<const char*>(view.data) + dice.between(1, 15);
  }
}

void spoil_memory(TensorView& view, Dice& dice) {
  switch (dice.between(0, 3)) {
    case 0: view.memory.kind = static_cast<MemoryKind>(dice.between(1, 4)); return;
    case 1: view.memory.kind = no_word<MemoryKind>(); return;
    case 2: view.memory.device = static_cast<int>(dice.between(1, 2)); return;
    default: view.memory.device = -1;
  }
}

void spoil_type(TensorView& view, Dice& dice) {
  constexpr DType types[] = {DType::none, DType::f16, DType::bf16, DType::f32,
                             DType::f64,  DType::s8,  DType::u8,   DType::s32};
  view.dtype = dice.one_of(types);
}

void spoil_tag(TensorView& view, Dice& dice) {
  constexpr LayoutTag tags[] = {LayoutTag::strided, LayoutTag::row_interleaved32,
                                LayoutTag::column_interleaved32, no_word<LayoutTag>()};
  view.tag = dice.one_of(tags);
}

/// Puts an operand into the memory of another one, or near its end. @pre operands have addresses
void spoil_place(Problem& problem, TensorView& view, Dice& dice) {
  const auto all = operands(problem);
  const TensorView& other = *dice.one_of(all).second;
  const int64_t elements = dice.one_in(2) ? 0 : dice.log_uniform(int64_t{1} << 24);
  const auto address =
      reinterpret_cast<std::uintptr_t>(other.data) + static_cast<std::uintptr_t>(16 * elements);
  view.data = reinterpret_cast<const void*>(address);
}

void spoil_operand(Problem& problem, Dice& dice) {
  TensorView& view = *dice.one_of(operands(problem)).second;
  switch (dice.between(0, 9)) {
    case 0: view.rank = static_cast<std::uint8_t>(dice.between(0, TensorView::max_rank + 1)); return;
    case 1:
    case 2: spoil_extent(view, dice); return;
    case 3:
    case 4: spoil_stride(view, dice); return;
    case 5: spoil_alignment(view, dice); return;
    case 6: spoil_memory(view, dice); return;
    case 7: spoil_type(view, dice); return;
    case 8: spoil_tag(view, dice); return;
    default: view.is_pointer_array = !view.is_pointer_array;
  }
}

void spoil_epilogue(Problem& problem, Dice& dice) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Epilogue& e = problem.epilogue();
  switch (dice.between(0, 8)) {
    case 0: e.activation = no_word<Activation>(); return;
    case 1: e.bias_axis = dice.one_in(2) ? no_word<BiasAxis>() : BiasAxis::row; return;
    case 2: e.scale_axis = dice.one_in(2) ? no_word<BiasAxis>() : BiasAxis::row; return;
    case 3: e.clamp = {1, dice.one_in(2) ? -1 : std::numeric_limits<double>::quiet_NaN()}; return;
    case 4: e.clamp = {dice.one_in(2) ? 0.5 : 1e12, infinity}; return;
    case 5: e.alpha = dice.one_in(2) ? 0.3 : 1e10; return;
    case 6: e.alpha = Scalar::at(reinterpret_cast<const void*>(std::uintptr_t{4098})); return;
    case 7: e.beta = Scalar::at(reinterpret_cast<const void*>(std::uintptr_t{4100})); return;
    default: problem.c().reset(), e.beta = 1;
  }
}

void spoil_gemm(GemmArguments& args, Dice& dice) {
  Controls& c = args.controls;
  switch (dice.between(0, 6)) {
    case 0: args.math = no_word<Math>(); return;
    case 1: args.accumulator = DType::none; return;
    case 2: c.mode = no_word<Mode>(); return;
    case 3: c.split_k_slices = static_cast<int>(dice.between(-1, 1) * 70000); return;
    case 4: c.swizzle = static_cast<int>(dice.between(-1, 16)); return;
    case 5: c.raster = no_word<Raster>(); return;
    default: c.multiprocessors = static_cast<int>(dice.between(-1, 0));
  }
}

void spoil_device(DeviceModel& device, Dice& dice) {
  switch (dice.between(0, 3)) {
    case 0: device.clock = 0; return;
    case 1: device.multiprocessors = 5000; return;
    case 2: device.cc = 75; return;
    default: device.shared_memory_per_block = 48 * 1024;
  }
}

}  // namespace

void spoil(Problem& problem, Dice& dice) {
  switch (dice.between(0, 11)) {
    case 0:
    case 1: spoil_epilogue(problem, dice); return;
    case 2:
      if (!problem.reduces) spoil_gemm(problem.gemm, dice);
      return;
    case 3:
    case 4:
      if (problem.out().data != nullptr) {
        spoil_place(problem, *dice.one_of(operands(problem)).second, dice);
      } else {
        spoil_operand(problem, dice);
      }
      return;
    case 5: spoil_device(problem.device, dice); return;
    default: spoil_operand(problem, dice);
  }
}

}  // namespace quarry::golden
