#include "fuzz/arguments.hpp"

namespace quarry::fuzz {

void change(TensorView& view, Input& input) {
  const std::uint8_t part = input.byte();
  const std::size_t extent = part / 8 % TensorView::max_rank;
  switch (part % 8) {
    case 0: view.dtype = input.word<DType>(); break;
    case 1: view.rank = input.byte(); break;
    case 2: view.assumed_alignment = input.raw<std::uint16_t>(); break;
    case 3: view.memory = {input.word<MemoryKind>(), static_cast<int>(input.number())}; break;
    case 4: (input.coin() ? view.is_pointer_array : view.overlapping) = input.coin(); break;
    case 5: view.extents[extent] = input.number(); break;
    case 6: view.strides[extent] = input.number(); break;
    default: view.tag = input.word<LayoutTag>(); break;
  }
}

void change(std::optional<TensorView>& view, const TensorView& other, Input& input) {
  switch (input.byte() % 4) {
    case 0: view.reset(); break;
    case 1: view = other; break;
    default:
      if (!view) view = other;
      change(*view, input);
  }
}

namespace {

/// @param marked whether it is read through a pointer, which is set later
void change(Scalar& scalar, Input& input) {
  scalar.pointer = nullptr;
  switch (input.byte() % 4) {
    case 0: scalar.value = static_cast<double>(input.number()); break;
    case 1: scalar.value = input.raw<double>(); break;
    case 2: scalar.value = 0; break;
    default: scalar.pointer = &scalar; break;
  }
}

}  // namespace

void change(Epilogue& epilogue, const TensorView& out, Input& input) {
  TensorView vector = TensorView::vector(nullptr, out.dtype, out.extents[1]);
  switch (input.byte() % 12) {
    case 0: change(epilogue.alpha, input); break;
    case 1: change(epilogue.beta, input); break;
    case 2: epilogue.activation = input.word<Activation>(); break;
    case 3: epilogue.leaky_slope = input.raw<float>(); break;
    case 4: change(epilogue.bias, vector, input); break;
    case 5: epilogue.bias_axis = input.word<BiasAxis>(); break;
    case 6: change(epilogue.scale, vector, input); break;
    case 7: epilogue.scale_axis = input.word<BiasAxis>(); break;
    case 8: change(epilogue.residual, out, input); break;
    case 9: change(epilogue.aux, out, input); break;
    case 10: epilogue.clamp.low = input.raw<double>(); break;
    default: epilogue.clamp.high = input.raw<double>(); break;
  }
}

void change(Controls& controls, Input& input) {
  const auto number = [&input] { return static_cast<int>(input.number()); };
  switch (input.byte() % 6) {
    case 0: controls.mode = input.word<Mode>(); break;
    case 1: controls.split_k_slices = number(); break;
    case 2: controls.swizzle = number(); break;
    case 3: controls.raster = input.word<Raster>(); break;
    case 4: controls.multiprocessors = number(); break;
    default: controls = {}; break;
  }
}

void change(std::optional<DType>& accumulator, Input& input) {
  accumulator = input.word<DType>();
  if (input.coin()) accumulator.reset();
}

}  // namespace quarry::fuzz
