/// The epilogue of integer problems, as arguments are checked: which values and activations there are in s32.
#include <cmath>
#include <string>

#include "operations/gemm/normalise.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_checks.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;
using test::accepted;
using test::check_refused;
using test::memory;

namespace {}  // namespace

TEST_CASE("what is computed in s32 takes whole numbers, identity and relu", "[normalise]") {
  GemmArguments args = test::plain_problem(8, 8, 8, DType::s8);
  args.out.dtype = DType::s32;
  args.epilogue.alpha = -2147483648.0;
  args.epilogue.activation = Activation::relu;
  accepted(args);
  for (const double alpha : {0.5, 2147483648.0, -2147483649.0, HUGE_VAL, std::nan("")}) {
    args.epilogue.alpha = alpha;
    check_refused(args, "`alpha` is ");
    check_refused(args, "computed in s32");
  }
  args.epilogue.alpha = Scalar::at(memory + 4);
  accepted(args);
  args.epilogue.alpha = Scalar::at(memory + 2);
  check_refused(args, "`alpha` is misaligned");
  args.epilogue.alpha = 1;
  args.epilogue.beta = 1.25;
  args.c = args.out;
  check_refused(args, "`beta` is 1.25, and an s32 output is computed in s32");
  args.epilogue.beta = 2;
  args.epilogue.activation = Activation::leaky_relu;
  check_refused(args, "Activation `leaky_relu` is unsupported: an s32 output is computed in s32");

  args = test::plain_problem(8, 8, 8, DType::s8);  // computed in f32
  args.epilogue.alpha = 0.5;
  args.epilogue.activation = Activation::gelu;
  accepted(args);
}
