// Reordering matrices on a device.
#include <cstring>
#include <random>

#include "device_case.hpp"
#include "lab/problems/guarded_tensor.hpp"
#include "registry/host/reorder.hpp"

using namespace quarry;
using test::must;
using test::Random;

TEST_CASE("a matrix of any layout is copied to any other on the device", "[gpu]") {
  const std::uint64_t seed = std::random_device()();
  INFO("seed " << seed);
  Random random(seed);
  const test::Stream stream;
  for (int i = 0; i < 96; ++i) {
    const auto source = static_cast<Layout>(i % layout_count);
    const auto target = static_cast<Layout>(i / layout_count % layout_count);
    const DType type = i % 3 == 0 ? DType::s32 : test::coin(random) ? DType::s8 : DType::u8;
    const bool whole = is_interleaved(source) || is_interleaved(target);
    const auto extent = [&] {
      return whole ? 32 * test::between(random, 1, 40) : test::between(random, 1, 1000);
    };
    const int rows = extent();
    const int columns = extent();
    const int batch = test::coin(random) ? 0 : test::between(random, 1, 3);
    constexpr int alignments[] = {1, 4, 16};
    const int alignment = test::one_of(random, alignments);
    const auto shape = [&](Layout layout) {
      return test::padded_matrix(random, type, layout, alignment, batch, rows, columns);
    };
    CAPTURE(i, rows, columns, batch, static_cast<int>(type), alignment);
    lab::GuardedTensor from = must(lab::GuardedTensor::make(shape(source)));
    const TensorView to_shape = shape(target);
    lab::GuardedTensor to = must(lab::GuardedTensor::make(to_shape));
    const lab::GuardedTensor expected = must(lab::GuardedTensor::make(to_shape));
    lab::fill_random(from.view(), 1, {.seed = random()});
    host::reorder(from.view(), expected.view());

    const auto on_device = [](const lab::GuardedTensor& tensor, const lab::DeviceBuffer& buffer) {
      TensorView view = tensor.view().on({MemoryKind::device, 0});
      view.data = static_cast<std::byte*>(buffer.data()) + tensor.offset();
      return view;
    };
    const lab::DeviceBuffer x = must(lab::DeviceBuffer::allocate(from.storage_bytes(), 0));
    const lab::DeviceBuffer y = must(lab::DeviceBuffer::allocate(to.storage_bytes(), 0));
    must(x.upload(from.storage(), from.storage_bytes()));
    must(y.upload(to.storage(), to.storage_bytes()));
    must(reorder(on_device(from, x), on_device(to, y), {.stream = stream}));
    must(y.download(to.storage(), 0, to.storage_bytes()));
    REQUIRE(std::memcmp(to.storage(), expected.storage(), to.storage_bytes()) == 0);
  }
}
