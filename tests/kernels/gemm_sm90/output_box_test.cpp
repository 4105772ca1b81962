// Boxes of the output beside the stages: what shared memory has room for.
#include "gemm_sm90/config.hpp"
#include "support/catch_compat.hpp"

namespace {

using namespace quarry;
using gemm_sm90::box_out;
using gemm_sm90::Config;
using gemm_sm90::most_shared_memory;
using gemm_sm90::shared_memory_bytes;

constexpr Config config_of(Tile tile, int stages, Schedule schedule) {
  return {{DType::bf16, DType::bf16, DType::f32, DType::bf16},
          {Layout::row, Layout::column, Layout::row},
          tile,
          {1, 2},
          stages,
          schedule,
          CopyEngine::tma,
          Orientation::direct,
          {8, 8}};
}

}  // namespace

TEST_CASE("boxes of the output give room to a stage more", "[sm90]") {
  constexpr Config four = config_of({128, 192, 64}, 4, Schedule::ping_pong);
  constexpr Config five = config_of({128, 192, 64}, 5, Schedule::ping_pong);
  constexpr Config six = config_of({128, 192, 64}, 6, Schedule::ping_pong);
  CHECK(box_out(four).columns == 64);
  CHECK(box_out(five).columns == 32);
  CHECK(shared_memory_bytes(five) <= most_shared_memory);
  // No box is narrow enough for six.
  CHECK(box_out(six).columns == 32);
  CHECK(shared_memory_bytes(six) > most_shared_memory);
}

TEST_CASE("boxes are as wide as divides the tile, where there is room", "[sm90]") {
  CHECK(box_out(config_of({256, 160, 64}, 3, Schedule::cooperative)).columns == 40);
  CHECK(box_out(config_of({256, 160, 64}, 4, Schedule::cooperative)).columns == 32);
  CHECK(shared_memory_bytes(config_of({256, 160, 64}, 4, Schedule::cooperative)) <= most_shared_memory);
  CHECK(box_out(config_of({128, 144, 64}, 6, Schedule::ping_pong)).columns == 24);
  CHECK(shared_memory_bytes(config_of({128, 144, 64}, 6, Schedule::ping_pong)) <= most_shared_memory);
}
