// Reordering matrices on a device.
#include <cstring>

#include "device_case.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "support/random_reorder.hpp"

using namespace quarry;
using test::must;
using test::Random;

TEST_CASE("a matrix of any layout is copied to any other on the device", "[gpu]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const test::Stream stream;
  for (const detail::Row& row : test::reorder_rows()) {
    for (int i = 0; i < 16; ++i) {
      const ReorderArguments shape =
          test::random_reorder(random, row.metadata.operands.out.dtype, i, 1, 1000);
      const lab::OperandOptions options = {.seed = random()};
      auto host = must(lab::OperandsOf<ReorderArguments>::make(shape, options));
      const auto expected = must(lab::OperandsOf<ReorderArguments>::make(shape, options));
      const ReorderArguments& args = expected.arguments;
      CAPTURE(i, row.metadata.name, args.to.extents[0], args.to.extents[1], args.to.rank);
      must(reorder(args.from, args.to));
      const lab::DeviceOperands device = must(lab::DeviceOperands::make(host, 0));
      const ReorderArguments& there = device.arguments().as<ReorderArguments>();
      must(device.upload_outputs(host));
      must(reorder(there.from, there.to, {.stream = stream}));
      must(device.download_outputs(host));
      const lab::GuardedTensor& to = host[Operand::to];
      REQUIRE(std::memcmp(to.storage(), expected[Operand::to].storage(), to.storage_bytes()) == 0);
    }
  }
}
