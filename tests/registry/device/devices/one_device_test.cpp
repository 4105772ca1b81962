// One device: nothing can lie on another, and CUDA is not asked.
#include "registry/device/devices/cases.hpp"

using namespace quarry;
using namespace quarry::test;

TEST_CASE("plans ask nothing where there is one device", "[one]") {
  const Result<Plan> gemm = gemm_kernel().prepare(gemm_on(0));
  const Result<Plan> reduction = reduction_kernel().prepare(reduction_on(0));
  REQUIRE((gemm && reduction));
  (void)stand_in::take_questions();
  REQUIRE(gemm->run(detail::operands_of(gemm_on(0)), stand_in::stream_of(0), workspace_on(0)));
  REQUIRE(reduction->run(detail::operands_of(reduction_on(0)), stand_in::stream_of(0)));
  const stand_in::Questions asked = stand_in::take_questions();
  CHECK(asked.streams == 0);
  CHECK(asked.pointers == 0);
  CHECK(stand_in::take_launches() == std::vector<int>(3, 0));
}

TEST_CASE("runs do not ask for the device of their stream where there is one device", "[one]") {
  for (const Work& work : all_work()) {
    CAPTURE(work.name);
    (void)stand_in::take_questions();
    REQUIRE(work.run(0, stand_in::stream_of(0)));
    CHECK(stand_in::take_questions().streams == 0);
  }
}

TEST_CASE("work on a stream that is none is an error of the launch", "[one]") {
  for (const Work& work : all_work()) {
    CAPTURE(work.name);
    CHECK(work.run(0, stand_in::destroyed_stream()).code() == StatusCode::device_error);
  }
}
