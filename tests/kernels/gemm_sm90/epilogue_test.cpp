// The host side of gemm_sm90's epilogue: what the copy engine moves.
#include "support/sm90_launch.hpp"

namespace {

using namespace quarry;
using test::bf16_problem;
using test::launch_of;
using test::Resolved;
using test::sm90;

}  // namespace

TEST_CASE("the copy engine fetches C or the residual, where it can", "[sm90]") {
  const Kernel kernel = sm90("128x256x64_c2x1_s4_cooperative_a8x8");
  const auto fetched = [&](const GemmArguments& args) {
    const Resolved launch = launch_of(kernel, args);
    const bool has_map = launch.params().fetched != Fetched::none;
    const Operand operand = launch.params().fetched == Fetched::c ? Operand::c : Operand::residual;
    CHECK((launch.map(operand) != nullptr) == has_map);
    return launch.params().fetched;
  };
  alignas(256) static char memory[1024 * 1024];
  const auto matrix = [&](std::int64_t ld) {
    return TensorView::row_major(memory, DType::bf16, {512, 512}, ld);
  };
  const GemmArguments plain = bf16_problem(512, 512, 512);
  GemmArguments with_c = plain;
  with_c.c = matrix(512);
  with_c.epilogue.beta = 1.0;
  GemmArguments with_residual = plain;
  with_residual.epilogue.residual = matrix(520);

  CHECK(fetched(plain) == Fetched::none);
  CHECK(fetched(with_c) == Fetched::c);
  CHECK(fetched(with_residual) == Fetched::residual);
  GemmArguments both = with_c;
  both.epilogue.residual = matrix(512);
  CHECK(fetched(both) == Fetched::none);
  GemmArguments unaligned = with_c;
  unaligned.c = matrix(513);
  CHECK(fetched(unaligned) == Fetched::none);
  unaligned = with_residual;
  unaligned.epilogue.residual = matrix(514);
  CHECK(fetched(unaligned) == Fetched::none);
  GemmArguments unread = with_c;
  unread.epilogue.beta = 0.0;
  CHECK(fetched(unread) == Fetched::none);
  GemmArguments with_aux = with_residual;  // the box holds what goes to aux, where the residual would lie
  alignas(256) static char other[1024 * 1024];
  with_aux.epilogue.aux = TensorView::row_major(other, DType::bf16, {512, 512}, 512);
  CHECK(fetched(with_aux) == Fetched::none);
}

TEST_CASE("an epilogue that only adds what is fetched says so", "[sm90]") {
  const Kernel kernel = sm90("128x192x64_c1x1_s4_ping_pong_a8x8");
  const auto only_adds = [&](const GemmArguments& args) {
    return launch_of(kernel, args).params().only_adds;
  };
  alignas(256) static char memory[1024 * 1024];
  alignas(256) static char other[1024 * 1024];
  const GemmArguments plain = bf16_problem(512, 512, 512);
  GemmArguments with_c = plain;
  with_c.c = TensorView::row_major(memory, DType::bf16, {512, 512}, 512);
  with_c.epilogue.beta = 1.0;
  GemmArguments with_residual = plain;
  with_residual.epilogue.residual = with_c.c;

  CHECK_FALSE(only_adds(plain));
  for (const GemmArguments& added : {with_c, with_residual}) {
    CHECK(only_adds(added));
    GemmArguments more = added;
    more.epilogue.bias = TensorView::vector(memory, DType::bf16, 512);
    CHECK(only_adds(more));
    more = added;
    more.epilogue.activation = Activation::relu;
    CHECK_FALSE(only_adds(more));
    more = added;
    more.epilogue.clamp.low = 0.0;
    CHECK_FALSE(only_adds(more));
    more = added;
    more.epilogue.aux = TensorView::row_major(other, DType::bf16, {512, 512}, 512);
    CHECK_FALSE(only_adds(more));
  }
  GemmArguments both = with_c;
  both.epilogue.residual = with_c.c;
  CHECK_FALSE(only_adds(both));
  GemmArguments unaligned = with_c;
  unaligned.c = TensorView::row_major(memory, DType::bf16, {512, 512}, 513);
  CHECK_FALSE(only_adds(unaligned));
}
