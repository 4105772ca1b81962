// How problems are told to cuBLASLt: a stand-in for the library, which multiplies by columns in host memory
// as cublasLtMatmul documents it, must give the result of the problem, whatever the layouts.
#include <algorithm>
#include <random>
#include <vector>

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
                            value);
      }
    }
  }
  return 0;
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
  f.desc_set = [](CublasLtMatmulDesc* desc, int attribute, const void* value, std::size_t bytes) {
    if (bytes != 4 || (attribute != 3 && attribute != 4)) return 7;
    desc->transposed[attribute - 3] = *static_cast<const std::int32_t*>(value);
    return 0;
  };
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

/// The problem solved by the stand-in, compared with float64.
void check(const Gemm& problem, std::uint64_t seed) {
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
  const PlanOperands operands = detail::operands_of(args);
  REQUIRE(solved->run(0, operands, nullptr, nullptr));
  CHECK(made->check_outputs());
  const lab::Tolerance tolerance = lab::tolerance(DType::f64, problem.out.dtype, MathUnit::simt, problem.k);
  CHECK(lab::compare(*reference, args, tolerance).within());
}

}  // namespace

TEST_CASE("cuBLASLt is told every layout, stride, batch and factor as it is") {
  const std::uint64_t seed = std::random_device()();
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
  CHECK_THAT(why([](Gemm& p) { p.epilogue.bias = BiasAxis::row; }), Catch::Contains("bias"));
  CHECK_THAT(why([](Gemm& p) { p.epilogue.activation = Activation::relu; }), Catch::Contains("activation"));
  CHECK_THAT(why([](Gemm& p) { p.epilogue.scale = ScaleAxis::tensor; }), Catch::Contains("scale"));
  CHECK_THAT(why([](Gemm& p) { p.a_scale = ScaleGranularity::row; }), Catch::Contains("scales of operands"));
  CHECK_THAT(why([](Gemm& p) { p.b_scale = ScaleGranularity::tensor; }),
             Catch::Contains("scales of operands"));
  CHECK_THAT(why([](Gemm& p) { p.epilogue.residual_in_place = true; }), Catch::Contains("residual"));
  CHECK_THAT(why([](Gemm& p) { p.epilogue.residual = p.out; }), Catch::Contains("residual"));
  CHECK_THAT(why([](Gemm& p) { p.epilogue.aux = p.out; }), Catch::Contains("aux"));
  CHECK_THAT(why([](Gemm& p) { p.epilogue.clamp.low = 0; }), Catch::Contains("clamp"));
  CHECK_THAT(why([](Gemm& p) { p.a.dtype = DType::s8; }), Catch::Contains("types"));
  CHECK_THAT(why([](Gemm& p) { p.a.dtype = p.b.dtype = DType::u8; }), Catch::Contains("types"));
  CHECK_THAT(why([](Gemm& p) { p.accumulator = DType::bf16; }), Catch::Contains("types"));
  CHECK_THAT(why([](Gemm& p) {
               p.epilogue.beta = 1;
               p.epilogue.c = OperandSpec{.dtype = DType::f16, .layout = Layout::column};
             }),
             Catch::Contains("C and the output"));
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
