// How problems are told to cuBLASLt, whatever the layouts.
#include <random>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "operations/gemm/lab/cublaslt_stand_in.hpp"

using namespace quarry;
using namespace quarry::test;

TEST_CASE("cuBLASLt is told every layout, stride, batch and factor as it is") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 dice(static_cast<unsigned>(seed));
  const auto toss = [&dice] { return dice() % 2 == 0; };
  constexpr DType types[] = {DType::f16, DType::bf16, DType::f32};
  for (unsigned round = 0; round < 160; ++round) {
    Gemm problem;
    for (std::int64_t* size : {&problem.m, &problem.n, &problem.k}) *size = 1 + static_cast<int>(dice() % 9);
    const DType type = types[dice() % 3];
    int number = 0;
    for (OperandSpec* spec : {&problem.a, &problem.b, &problem.out}) {
      spec->dtype = type;
      spec->layout = (round >> number++) % 2 == 0 ? Layout::row : Layout::column;
      if (toss()) spec->ld = 10 + static_cast<int>(dice() % 5);
    }
    if (toss()) problem.out.dtype = DType::f32;
    if (toss()) problem.batch = 1 + static_cast<int>(dice() % 3);
    for (OperandSpec* spec : {&problem.a, &problem.b}) {
      if (problem.batch == 0 || toss()) continue;
      spec->shared = toss();
      if (!spec->shared) spec->stride = toss() ? 0 : 400;
    }
    if (problem.batch > 0 && toss()) problem.out.stride = 500;
    if (toss()) problem.epilogue.alpha = 0.5;
    if (toss()) {
      problem.epilogue.beta = -2;
      problem.epilogue.in_place = toss();
      if (!problem.epilogue.in_place && toss()) {
        problem.epilogue.c = problem.out;
        problem.epilogue.c->ld = 17;
      }
    }
    check_solved(problem, seed + round);
  }
  CHECK(objects == 0);
}

TEST_CASE("cuBLASLt is told the epilogue where it has it") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 dice(static_cast<unsigned>(seed));
  for (const Layout layout : {Layout::row, Layout::column}) {
    for (const DType type : {DType::f32, DType::bf16}) {
      for (const std::int64_t batch : {0, 3}) {
        Gemm plain{.m = 1 + static_cast<int>(dice() % 20), .n = 1 + static_cast<int>(dice() % 20), .k = 5};
        for (OperandSpec* spec : {&plain.a, &plain.b, &plain.out}) *spec = {.dtype = type, .layout = layout};
        plain.batch = batch;
        const auto with = [&](auto change) {
          Gemm changed = plain;
          change(changed.epilogue);
          return changed;
        };
        const BiasAxis bias = layout == Layout::row ? BiasAxis::column : BiasAxis::row;
        const OperandSpec stored = {.dtype = type, .layout = layout, .ld = 24};
        check_solved(plain, seed, "plain");
        check_solved(with([&](auto& e) { e.bias = bias; }), seed, "bias");
        check_solved(with([&](auto& e) { e.activation = Activation::relu; }), seed, "relu");
        check_solved(with([&](auto& e) { e.activation = Activation::gelu_tanh; }), seed, "gelu_tanh");
        check_solved(with([&](auto& e) { e.bias = bias, e.activation = Activation::relu; }), seed,
                     "bias, relu");
        check_solved(
            with([&](auto& e) { e.bias = bias, e.activation = Activation::gelu_tanh, e.aux = stored; }), seed,
            "bias, gelu_tanh, aux");
        check_solved(with([&](auto& e) { e.activation = Activation::gelu_tanh, e.aux = stored; }), seed,
                     "gelu_tanh, aux");
        check_solved(with([&](auto& e) { e.beta = -2, e.c = stored, e.bias = bias; }), seed, "c, bias");
        check_solved(with([&](auto& e) { e.beta = 1, e.in_place = true, e.activation = Activation::relu; }),
                     seed, "c, relu");
        check_solved(with([&](auto& e) { e.residual = stored, e.alpha = 0.5; }), seed, "residual");
        check_solved(with([&](auto& e) { e.residual_in_place = true, e.bias = bias; }), seed,
                     "residual, bias");
        if (batch == 0) continue;
        OperandSpec shared = stored;
        shared.shared = true;
        check_solved(with([&](auto& e) { e.beta = 0.5, e.c = shared; }), seed, "c");
        OperandSpec apart = stored;
        apart.stride = 24 * 24;
        check_solved(with([&](auto& e) { e.activation = Activation::gelu_tanh, e.aux = apart; }), seed,
                     "gelu_tanh, aux");
      }
    }
  }
  CHECK(objects == 0);
}

TEST_CASE("what cuBLASLt has no epilogue for is told, and what takes its place") {
  using lab::gemm::cublaslt_epilogue;
  CublasLt library = CublasLt::of(stand_in());
  REQUIRE(library.start());
  Gemm problem{.m = 8, .n = 8, .k = 8};
  for (OperandSpec* spec : {&problem.a, &problem.b, &problem.out}) spec->dtype = DType::f16;
  const auto check_lacks = [&](const std::string& why, auto change, const std::string& instead = "plain") {
    Gemm changed = problem;
    change(changed);
    INFO(Lab::command_text(changed));
    CHECK(cublaslt_epilogue(changed).status().message() == why);
    const auto solved = CublasLtProblem::make(library, changed);
    REQUIRE(solved);
    CHECK(solved->epilogue() == instead + " (it has " + why + ")");
    const EpilogueSpec e = solved->solved().as<Gemm>().epilogue;
    CHECK_FALSE((e.bias || e.scale || e.residual || e.residual_in_place || e.aux));
    CHECK(e.clamp == Clamp{});
    CHECK(e.activation == Activation::identity);
    CHECK(e.alpha == changed.epilogue.alpha);
    CHECK((e.beta != 0) == (instead == "c"));
  };
  const OperandSpec column = {.dtype = DType::f16, .layout = Layout::column};
  check_lacks("no bias by row of a row-major output", [](Gemm& p) { p.epilogue.bias = BiasAxis::row; });
  check_lacks("no bias by column of a column-major output", [](Gemm& p) {
    p.out.layout = Layout::column;
    p.epilogue.bias = BiasAxis::column;
  });
  check_lacks("no silu", [](Gemm& p) { p.epilogue.activation = Activation::silu, p.epilogue.alpha = 2; });
  check_lacks("no gelu", [](Gemm& p) { p.epilogue.activation = Activation::gelu; });
  check_lacks("no scale", [](Gemm& p) { p.epilogue.scale = ScaleAxis::tensor; });
  check_lacks("no clamp", [](Gemm& p) { p.epilogue.clamp.low = 0; });
  check_lacks("no residual behind an activation", [](Gemm& p) {
    p.epilogue.residual = p.out;
    p.epilogue.activation = Activation::relu;
  });
  check_lacks(
      "no residual beside C", [](Gemm& p) { p.epilogue.residual = p.out, p.epilogue.beta = 1; }, "c");
  check_lacks(
      "no silu",
      [](Gemm& p) {
        p.epilogue.in_place = true, p.epilogue.beta = 1, p.epilogue.activation = Activation::silu;
      },
      "c");
  check_lacks("no residual that is stored in another way than out",
              [&](Gemm& p) { p.epilogue.residual = column; });
  check_lacks("no c that is stored in another way than out",
              [&](Gemm& p) { p.epilogue.beta = 1, p.epilogue.c = column; });
  check_lacks("no aux without gelu_tanh", [](Gemm& p) { p.epilogue.aux = p.out; });
  check_lacks("no aux without gelu_tanh",
              [](Gemm& p) { p.epilogue.aux = p.out, p.epilogue.activation = Activation::relu; });
  const auto with_aux = [](OperandSpec aux) {
    return [aux](Gemm& p) { p.epilogue.aux = aux, p.epilogue.activation = Activation::gelu_tanh; };
  };
  check_lacks("no aux that is stored in another way than out", with_aux(column));
  const std::string lines = "no aux whose lines are not multiples of 8 elements";
  check_lacks(lines, with_aux({.dtype = DType::f16, .ld = 12}));
  check_lacks(lines, with_aux({.dtype = DType::f16, .alignment = 4}));
  check_lacks("no aux whose batch stride is not a multiple of 8 elements", [&](Gemm& p) {
    with_aux({.dtype = DType::f16, .stride = 68})(p);
    p.batch = 2;
  });
  for (const bool has_bias : {false, true}) {
    check_lacks("no bias, C, residual or aux of e4m3", [&](Gemm& p) {
      p.a.dtype = p.b.dtype = p.out.dtype = DType::e4m3;
      if (has_bias) p.epilogue.bias = BiasAxis::column;
      if (!has_bias) p.epilogue.beta = 1;
    });
  }
  check_lacks("no bias of whole numbers", [](Gemm& p) {
    p.a.dtype = p.b.dtype = DType::s8;
    p.out.dtype = DType::s32;
    p.epilogue.bias = BiasAxis::column;
  });
}

TEST_CASE("an epilogue without an algorithm gives way to a simpler one") {
  CublasLtFunctions functions = stand_in();
  functions.heuristic = [](CublasLtContext* context, CublasLtMatmulDesc* desc, CublasLtMatrixLayout* a,
                           CublasLtMatrixLayout* b, CublasLtMatrixLayout* c, CublasLtMatrixLayout* d,
                           CublasLtPreference* preference, int asked, CublasLtOffer* offers, int* given) {
    if (desc->epilogue != lt_epilogue_default) return 15;
    return stand_in().heuristic(context, desc, a, b, c, d, preference, asked, offers, given);
  };
  CublasLt library = CublasLt::of(functions);
  REQUIRE(library.start());
  Gemm problem{.m = 8, .n = 8, .k = 8};
  for (OperandSpec* spec : {&problem.a, &problem.b, &problem.out}) spec->dtype = DType::f64;
  problem.epilogue.bias = BiasAxis::column;
  problem.epilogue.activation = Activation::relu;
  const auto solved = CublasLtProblem::make(library, problem);
  REQUIRE(solved);
  CHECK(solved->epilogue() == "plain (it has no algorithm with bias, relu)");
}

TEST_CASE("cuBLASLt is told how to multiply, and takes factors of the type that the epilogue computes in") {
  CublasLt library = CublasLt::of(stand_in());
  REQUIRE(library.start());
  const auto asked = [&](DType type, DType out, Math math) {
    Gemm problem{.m = 8, .n = 8, .k = 16};
    problem.a.dtype = problem.b.dtype = type;
    problem.out.dtype = out;
    problem.math = math;
    REQUIRE(CublasLtProblem::make(library, problem));
    return std::pair(told_compute, told_scalar);
  };
  CHECK(asked(DType::f32, DType::f32, Math::exact) == std::pair(68, 0));
  CHECK(asked(DType::f32, DType::f32, Math::fast_f32) == std::pair(68, 0));
  CHECK(asked(DType::f32, DType::f32, Math::fast_f16) == std::pair(74, 0));
  CHECK(asked(DType::f32, DType::f32, Math::fast_bf16) == std::pair(75, 0));
  CHECK(asked(DType::f32, DType::f32, Math::fast_tf32) == std::pair(77, 0));
  CHECK(asked(DType::f16, DType::f16, Math::fast_tf32) == std::pair(68, 0));
  CHECK(asked(DType::s8, DType::s32, Math::exact) == std::pair(72, 10));
  CHECK(asked(DType::s8, DType::s8, Math::exact) == std::pair(72, 0));
  Gemm bytes{.m = 7, .n = 5, .k = 9, .epilogue = {.alpha = 3}};
  bytes.a.dtype = bytes.b.dtype = DType::s8;
  bytes.out.dtype = DType::s32;
  check_solved(bytes, 1);
}

TEST_CASE("cuBLASLt is told the alignment that pointers have, and the workspace") {
  CublasLt library = CublasLt::of(stand_in());
  REQUIRE(library.start());
  Gemm problem{.m = 8, .n = 8, .k = 8};
  problem.a = {.dtype = DType::f16, .alignment = 2};
  problem.b = {.dtype = DType::f16, .alignment = 3};
  problem.out = {.dtype = DType::f32, .alignment = 4};
  REQUIRE(CublasLtProblem::make(library, problem));
  CHECK(told.workspace == bench_workspace);
  // By rows, the operands are exchanged. Three elements are aligned as two bytes are.
  CHECK(told.alignment[0] == 2);
  CHECK(told.alignment[1] == 4);
  CHECK(told.alignment[3] == 16);
  problem.a.alignment = 0;
  problem.out.layout = Layout::column;
  REQUIRE(CublasLtProblem::make(library, problem));
  CHECK(told.alignment[0] == 256);
  CHECK(told.alignment[2] == 16);
}

TEST_CASE("problems that cuBLASLt does not solve in one call are refused with the reason") {
  CublasLt library = CublasLt::of(stand_in());
  REQUIRE(library.start());
  Gemm problem{.m = 8, .n = 8, .k = 8};
  for (OperandSpec* spec : {&problem.a, &problem.b, &problem.out}) spec->dtype = DType::f16;
  const auto why = [&](auto change) {
    Gemm changed = problem;
    change(changed);
    return CublasLtProblem::make(library, changed).status().message();
  };
  CHECK_THAT(why([](Gemm& p) { p.a_scale = ScaleGranularity::row; }), Catch::Contains("8-bit floating"));
  CHECK_THAT(why([](Gemm& p) { p.b_scale = ScaleGranularity::tensor; }), Catch::Contains("8-bit floating"));
  CHECK_THAT(why([](Gemm& p) { p.a.dtype = DType::s8; }), Catch::Contains("types"));
  CHECK_THAT(why([](Gemm& p) { p.a.dtype = p.b.dtype = DType::u8; }), Catch::Contains("types"));
  CHECK_THAT(why([](Gemm& p) { p.accumulator = DType::bf16; }), Catch::Contains("types"));
  CublasLtFunctions none = stand_in();
  none.heuristic = [](CublasLtContext*, CublasLtMatmulDesc*, CublasLtMatrixLayout*, CublasLtMatrixLayout*,
                      CublasLtMatrixLayout*, CublasLtMatrixLayout*, CublasLtPreference*, int, CublasLtOffer*,
                      int*) { return 15; };
  CublasLt without = CublasLt::of(none);
  REQUIRE(without.start());
  CHECK_THAT(CublasLtProblem::make(without, problem).status().message(), Catch::Contains("no algorithm"));
  none.create = [](CublasLtContext**) { return 1; };
  CublasLt broken = CublasLt::of(none);
  CHECK_THAT(broken.start().message(), Catch::Contains("what the library says"));
}
