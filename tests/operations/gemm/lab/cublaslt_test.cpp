// How problems are told to cuBLASLt: a stand-in for the library, which multiplies by columns in host memory
// as cublasLtMatmul documents it, must give the result of the problem, whatever the layouts.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/host/element.hpp"
#include "operations/gemm/lab/cublaslt.hpp"
#include "operations/gemm/lab/operation.hpp"
#include "registry/device/prepared.hpp"
#include "support/catch_compat.hpp"

namespace quarry::lab {

// The stand-in's own objects.
struct CublasLtContext {};
struct CublasLtMatmulDesc {
  int scale_type;
  std::int32_t transposed[2] = {};
  std::uint32_t epilogue = lt_epilogue_default;
  const void* bias = nullptr;
  void* aux = nullptr;
  std::int64_t aux_ld = 0;
  std::int64_t aux_stride = 0;
};
struct CublasLtMatrixLayout {
  int type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t ld;
  std::int32_t batch = 1;
  std::int64_t batch_stride = 0;
};
struct CublasLtPreference {
  std::uint64_t workspace = 0;
  std::uint32_t alignment[4] = {};
};

}  // namespace quarry::lab

using namespace quarry;
using namespace quarry::lab;
using lab::gemm::CublasLtProblem;
using lab::gemm::Lab;
using Gemm = lab::gemm::Problem;

namespace {

DType dtype_of(int type) {
  switch (type) {
    case 0: return DType::f32;
    case 1: return DType::f64;
    case 2: return DType::f16;
    case 3: return DType::s8;
    case 10: return DType::s32;
    default: return DType::bf16;
  }
}

double get(const void* data, const CublasLtMatrixLayout& m, std::int64_t entry, std::uint64_t row,
           std::uint64_t column) {
  // What the library would not accept.
  REQUIRE(row < m.rows);
  REQUIRE(column < m.columns);
  REQUIRE(m.ld >= static_cast<std::int64_t>(m.rows));
  return host::read_element(
      dtype_of(m.type), data,
      entry * m.batch_stride + static_cast<std::int64_t>(column) * m.ld + static_cast<std::int64_t>(row));
}

double activated(double x, std::uint32_t epilogue) {
  if ((epilogue & lt_epilogue_relu) != 0) return std::max(x, 0.0);
  if ((epilogue & lt_epilogue_gelu) == 0) return x;
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

/// From what stands in D before the epilogue to the output. The bias lies along the rows, one for all
/// entries of a batch.
double finished(const CublasLtMatmulDesc& desc, DType type, std::int64_t entry, std::uint64_t row,
                std::uint64_t column, double value) {
  if ((desc.epilogue & lt_epilogue_bias) != 0)
    value += host::read_element(type, desc.bias, static_cast<std::int64_t>(row));
  if ((desc.epilogue & lt_epilogue_aux) != 0) {
    REQUIRE(desc.aux_ld % 8 == 0);
    REQUIRE(desc.aux_stride % 8 == 0);
    host::write_element(type, desc.aux,
                        entry * desc.aux_stride + static_cast<std::int64_t>(column) * desc.aux_ld +
                            static_cast<std::int64_t>(row),
                        value);
  }
  return activated(value, desc.epilogue);
}

int matmul(CublasLtContext*, CublasLtMatmulDesc* desc, const void* alpha, const void* a,
           CublasLtMatrixLayout* la, const void* b, CublasLtMatrixLayout* lb, const void* beta, const void* c,
           CublasLtMatrixLayout* lc, void* d, CublasLtMatrixLayout* ld, const CublasLtAlgorithm* algorithm,
           void*, std::size_t, CUstream_st*) {
  if (algorithm->data[0] != 7) return 15;
  const bool ta = desc->transposed[0] == 1;
  const bool tb = desc->transposed[1] == 1;
  const std::uint64_t k = ta ? la->rows : la->columns;
  REQUIRE((ta ? la->columns : la->rows) == ld->rows);
  REQUIRE((tb ? lb->columns : lb->rows) == k);
  REQUIRE((tb ? lb->rows : lb->columns) == ld->columns);
  const double x = host::read_element(dtype_of(desc->scale_type), alpha, 0);
  const double y = host::read_element(dtype_of(desc->scale_type), beta, 0);
  for (std::int64_t entry = 0; entry < ld->batch; ++entry) {
    for (std::uint64_t row = 0; row < ld->rows; ++row) {
      for (std::uint64_t column = 0; column < ld->columns; ++column) {
        double sum = 0;
        for (std::uint64_t i = 0; i < k; ++i) {
          sum += (ta ? get(a, *la, entry, i, row) : get(a, *la, entry, row, i)) *
                 (tb ? get(b, *lb, entry, column, i) : get(b, *lb, entry, i, column));
        }
        double value = x * sum;
        if (y != 0) value += y * get(c, *lc, entry, row, column);
        host::write_element(dtype_of(ld->type), d,
                            entry * ld->batch_stride + static_cast<std::int64_t>(column) * ld->ld +
                                static_cast<std::int64_t>(row),
                            finished(*desc, dtype_of(ld->type), entry, row, column, value));
      }
    }
  }
  return 0;
}

/// What the library would be told, all of it.
int set_desc(CublasLtMatmulDesc* desc, int attribute, const void* value, std::size_t bytes) {
  const auto read = [&](auto& member) {
    if (bytes != sizeof member) return 7;
    std::memcpy(&member, value, bytes);
    return 0;
  };
  switch (attribute) {
    case 3: return read(desc->transposed[0]);
    case 4: return read(desc->transposed[1]);
    case 7: return read(desc->epilogue);
    case 8: return read(desc->bias);
    case 11: return read(desc->aux);
    case 12: return read(desc->aux_ld);
    case 13: return read(desc->aux_stride);
    default: return 7;
  }
}

/// Alignments that were last told, and how many objects there are.
CublasLtPreference told;
int told_compute = 0;
int told_scalar = 0;
int objects = 0;

template <class Object>
int destroy(Object* object) {
  --objects;
  delete object;
  return 0;
}

template <class Object>
int keep(Object** object, Object* made) {
  ++objects;
  *object = made;
  return 0;
}

CublasLtFunctions stand_in() {
  CublasLtFunctions f = {};
  f.version = [] { return std::size_t{130000}; };
  f.status_string = [](int) { return "what the library says"; };
  f.create = [](CublasLtContext** context) { return keep(context, new CublasLtContext); };
  f.destroy = destroy<CublasLtContext>;
  f.desc_create = [](CublasLtMatmulDesc** desc, int compute, int type) {
    told_compute = compute;
    told_scalar = type;
    return keep(desc, new CublasLtMatmulDesc{type});
  };
  f.desc_destroy = destroy<CublasLtMatmulDesc>;
  f.desc_set = set_desc;
  f.layout_create = [](CublasLtMatrixLayout** layout, int type, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t ld) {
    return keep(layout, new CublasLtMatrixLayout{type, rows, columns, ld});
  };
  f.layout_destroy = destroy<CublasLtMatrixLayout>;
  f.layout_set = [](CublasLtMatrixLayout* layout, int attribute, const void* value, std::size_t bytes) {
    if (attribute == 5 && bytes == 4) {
      layout->batch = *static_cast<const std::int32_t*>(value);
    } else if (attribute == 6 && bytes == 8) {
      layout->batch_stride = *static_cast<const std::int64_t*>(value);
    } else {
      return 7;
    }
    return 0;
  };
  f.preference_create = [](CublasLtPreference** preference) {
    return keep(preference, new CublasLtPreference);
  };
  f.preference_destroy = destroy<CublasLtPreference>;
  f.preference_set = [](CublasLtPreference* preference, int attribute, const void* value, std::size_t bytes) {
    if (attribute == 1 && bytes == 8) {
      preference->workspace = *static_cast<const std::uint64_t*>(value);
    } else if (attribute >= 5 && attribute <= 8 && bytes == 4) {
      preference->alignment[attribute - 5] = *static_cast<const std::uint32_t*>(value);
    } else {
      return 7;
    }
    return 0;
  };
  f.heuristic = [](CublasLtContext*, CublasLtMatmulDesc*, CublasLtMatrixLayout*, CublasLtMatrixLayout*,
                   CublasLtMatrixLayout*, CublasLtMatrixLayout*, CublasLtPreference* preference, int asked,
                   CublasLtOffer* offers, int* given) {
    told = *preference;
    *given = std::min(asked, 3);
    offers[0] = {.algorithm = {{7}}, .workspace = 0, .state = 0, .waves = 1, .reserved = {}};
    offers[1] = {.algorithm = {{8}}, .workspace = 0, .state = 15, .waves = 1, .reserved = {}};
    offers[2] = {
        .algorithm = {{9}}, .workspace = bench_workspace + 1, .state = 0, .waves = 1, .reserved = {}};
    return 0;
  };
  f.matmul = matmul;
  return f;
}

/// The problem solved by the stand-in, compared with float64. @param epilogue what it must be told to do
void check(const Gemm& problem, std::uint64_t seed, const std::string& epilogue = "") {
  INFO(Lab::command_text(problem) << ", seed " << seed);
  auto made = lab::OperandsOf<GemmArguments>::make(Lab::arguments(problem),
                                                   {.seed = seed, .in_place = Lab::in_place(problem)});
  REQUIRE(made);
  const GemmArguments& args = made->arguments;
  const auto reference = lab::compute_reference(args);
  REQUIRE(reference);
  CublasLt library = CublasLt::of(stand_in());
  REQUIRE(library.start());
  const auto solved = CublasLtProblem::make(library, problem);
  REQUIRE(solved);
  CHECK(solved->algorithms() == 1);  // the others are refused, or need too much
  CHECK(Lab::command_text(solved->solved().as<Gemm>()) == Lab::command_text(problem));
  if (!epilogue.empty()) CHECK(solved->epilogue() == epilogue);
  const PlanOperands operands = detail::operands_of(args);
  REQUIRE(solved->run(0, operands, nullptr, nullptr));
  CHECK(made->check_outputs());
  const lab::Tolerance tolerance = lab::tolerance(DType::f64, problem.out.dtype, MathUnit::simt, problem.k);
  CHECK(lab::compare(*reference, args, tolerance).within());
}

}  // namespace

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
    check(problem, seed + round);
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
        check(plain, seed, "plain");
        check(with([&](auto& e) { e.bias = bias; }), seed, "bias");
        check(with([&](auto& e) { e.activation = Activation::relu; }), seed, "relu");
        check(with([&](auto& e) { e.activation = Activation::gelu_tanh; }), seed, "gelu_tanh");
        check(with([&](auto& e) { e.bias = bias, e.activation = Activation::relu; }), seed, "bias, relu");
        check(with([&](auto& e) { e.bias = bias, e.activation = Activation::gelu_tanh, e.aux = stored; }),
              seed, "bias, gelu_tanh, aux");
        check(with([&](auto& e) { e.activation = Activation::gelu_tanh, e.aux = stored; }), seed,
              "gelu_tanh, aux");
        check(with([&](auto& e) { e.beta = -2, e.c = stored, e.bias = bias; }), seed, "c, bias");
        check(with([&](auto& e) { e.beta = 1, e.in_place = true, e.activation = Activation::relu; }), seed,
              "c, relu");
        check(with([&](auto& e) { e.residual = stored, e.alpha = 0.5; }), seed, "residual");
        check(with([&](auto& e) { e.residual_in_place = true, e.bias = bias; }), seed, "residual, bias");
        if (batch == 0) continue;
        OperandSpec shared = stored;
        shared.shared = true;
        check(with([&](auto& e) { e.beta = 0.5, e.c = shared; }), seed, "c");
        OperandSpec apart = stored;
        apart.stride = 24 * 24;
        check(with([&](auto& e) { e.activation = Activation::gelu_tanh, e.aux = apart; }), seed,
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
  check(bytes, 1);
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
  CHECK_THAT(why([](Gemm& p) { p.a_scale = ScaleGranularity::row; }), Catch::Contains("scales of operands"));
  CHECK_THAT(why([](Gemm& p) { p.b_scale = ScaleGranularity::tensor; }),
             Catch::Contains("scales of operands"));
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
