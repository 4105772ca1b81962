#include <memory>

#include "fuzz/harness_list.hpp"
#include "fuzz/input.hpp"
#include "quarry/registry.hpp"
#include "quarry/reorder.hpp"
#include "support/dlpack.hpp"

namespace quarry::fuzz {
using test::DLTensor;

void dlpack_tensors(Bytes input) {
  Input values(input);
  DLTensor tensor = {};
  const std::uint8_t kind = values.byte();
  tensor.data = (kind & 1) != 0 ? reinterpret_cast<void*>(values.raw<std::uintptr_t>()) : nullptr;
  const std::int32_t type = (kind & 2) != 0 ? values.raw<std::int32_t>() : values.byte();
  tensor.device = {static_cast<test::DLDeviceType>(type), static_cast<std::int32_t>(values.number())};
  tensor.ndim = (kind & 4) != 0 ? values.raw<std::int32_t>() : values.byte() % 6;
  tensor.dtype = {values.byte(), values.byte(),
                  (kind & 8) != 0 ? values.raw<std::uint16_t>() : std::uint16_t{1}};
  tensor.byte_offset = (kind & 16) != 0 ? static_cast<std::uint64_t>(values.number()) : 0;
  // As many numbers as the tensor has extents; of more than a tensor of the library has, none may be read.
  constexpr std::int32_t most = 4;
  const auto extents = static_cast<std::size_t>(tensor.ndim < 0 || tensor.ndim > most ? 0 : tensor.ndim);
  const auto shape = std::make_unique<std::int64_t[]>(extents);
  const auto strides = std::make_unique<std::int64_t[]>(extents);
  for (std::size_t i = 0; i < extents; ++i) shape[i] = values.number();
  for (std::size_t i = 0; i < extents; ++i) strides[i] = values.number();
  tensor.shape = (kind & 32) != 0 ? nullptr : shape.get();
  tensor.strides = (kind & 64) != 0 ? nullptr : strides.get();
  const Result<TensorView> view = TensorView::from_dlpack(tensor);
  check_message(view.status());
  if (!view) return;
  require(view->rank == tensor.ndim, "the rank is that of the tensor");
  TensorView fake = *view;
  fake.data = nullptr;
  fake.memory = {};
  const TensorView packed = TensorView::row_major(nullptr, fake.dtype, {fake.extents[0], fake.extents[1]});
  check_message(find_best(ReorderArguments{.from = fake, .to = packed}).status());
}

}  // namespace quarry::fuzz
