/// A stand-in for cuBLASLt, which multiplies by columns in host memory as cublasLtMatmul documents it: what
/// it is told must give the result of the problem.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>

#include "lab/bench/result.hpp"
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
  std::int8_t fast = 0;
  const float* scales[2] = {};
  std::int32_t scale_modes[2] = {};
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

namespace quarry::test {

using namespace quarry::lab;
using lab::gemm::CublasLtProblem;
using lab::gemm::Lab;
using Gemm = lab::gemm::Problem;

inline DType dtype_of(int type) {
  switch (type) {
    case 0: return DType::f32;
    case 1: return DType::f64;
    case 2: return DType::f16;
    case 3: return DType::s8;
    case 10: return DType::s32;
    case 28: return DType::e4m3;
    default: return DType::bf16;
  }
}

inline double get(const void* data, const CublasLtMatrixLayout& m, std::int64_t entry, std::uint64_t row,
                  std::uint64_t column) {
  // What the library would not accept.
  REQUIRE(row < m.rows);
  REQUIRE(column < m.columns);
  REQUIRE(m.ld >= static_cast<std::int64_t>(m.rows));
  return host::read_element(
      dtype_of(m.type), data,
      entry * m.batch_stride + static_cast<std::int64_t>(column) * m.ld + static_cast<std::int64_t>(row));
}

inline double activated(double x, std::uint32_t epilogue) {
  if ((epilogue & lt_epilogue_relu) != 0) return std::max(x, 0.0);
  if ((epilogue & lt_epilogue_gelu) == 0) return x;
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

/// From what stands in D before the epilogue to the output. The bias lies along the rows, one for all
/// entries of a batch.
inline double finished(const CublasLtMatmulDesc& desc, DType type, std::int64_t entry, std::uint64_t row,
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

/// The scale of a product: `line` of A's rows or B's columns, of which there are `lines`; 1 without scales.
inline double scale_of(const CublasLtMatmulDesc& desc, int side, std::uint64_t line, std::uint64_t lines,
                       std::uint64_t i, std::uint64_t k) {
  const float* const scales = desc.scales[side];
  if (scales == nullptr) return 1;
  const std::uint64_t blocks_of_k = (k + 127) / 128;
  switch (desc.scale_modes[side]) {
    case 3: return scales[line];
    case 4: return scales[i / 128 * lines + line];  // lines x blocks of K, lines are neighbours
    case 5: return scales[line / 128 * ((blocks_of_k + 3) / 4 * 4) + i / 128];  // K is contiguous
    default: return scales[0];
  }
}

inline int matmul(CublasLtContext*, CublasLtMatmulDesc* desc, const void* alpha, const void* a,
                  CublasLtMatrixLayout* la, const void* b, CublasLtMatrixLayout* lb, const void* beta,
                  const void* c, CublasLtMatrixLayout* lc, void* d, CublasLtMatrixLayout* ld,
                  const CublasLtAlgorithm* algorithm, void*, std::size_t, CUstream_st*) {
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
                 (tb ? get(b, *lb, entry, column, i) : get(b, *lb, entry, i, column)) *
                 scale_of(*desc, 0, row, ld->rows, i, k) * scale_of(*desc, 1, column, ld->columns, i, k);
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

inline int told_fast = -1;
/// Modes of scales that were last told, of the library's A and B.
inline std::int32_t told_modes[2] = {};

/// What the library would be told, all of it.
inline int set_desc(CublasLtMatmulDesc* desc, int attribute, const void* value, std::size_t bytes) {
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
    case 17: return read(desc->scales[0]);
    case 18: return read(desc->scales[1]);
    case 25: told_fast = desc->fast = *static_cast<const std::int8_t*>(value); return bytes == 1 ? 0 : 7;
    case 31:
    case 32: {
      const int status = read(desc->scale_modes[attribute - 31]);
      told_modes[attribute - 31] = desc->scale_modes[attribute - 31];
      return status;
    }
    default: return 7;
  }
}

/// Alignments that were last told, and how many objects there are.
inline CublasLtPreference told;
inline int told_compute = 0;
inline int told_scalar = 0;
inline int objects = 0;

template <class Object>
inline int destroy(Object* object) {
  --objects;
  delete object;
  return 0;
}

template <class Object>
inline int keep(Object** object, Object* made) {
  ++objects;
  *object = made;
  return 0;
}

inline CublasLtFunctions stand_in() {
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
  // Tile 128x256, stages 64x4, cluster 2x1x1 and two slices of K, which no default is.
  f.config_get = [](const CublasLtAlgorithm* algorithm, int attribute, void* value, std::size_t bytes,
                    std::size_t* written) {
    constexpr std::uint32_t values[] = {66, 23, 2, 1, 0, 0, 16, 0, 3};
    if (algorithm->data[0] != 7 || attribute < 0 || attribute > 8 || bytes != (attribute < 7 ? 4 : 2))
      return 7;
    std::memcpy(value, &values[attribute], bytes);
    *written = bytes;
    return 0;
  };
  return f;
}

/// The problem solved by the stand-in, compared with float64. @param epilogue what it must be told to do
inline void check_solved(const Gemm& problem, std::uint64_t seed, const std::string& epilogue = "",
                         const YardstickOptions& options = {}) {
  INFO(Lab::command_text(problem) << ", seed " << seed);
  CublasLt library = CublasLt::of(stand_in());
  REQUIRE(library.start());
  const auto solved = CublasLtProblem::make(library, problem, options);
  REQUIRE(solved);
  HeldArguments stored = Lab::arguments(problem);
  solved->store(stored);
  auto made = lab::OperandsOf<GemmArguments>::make(stored.as<GemmArguments>(),
                                                   {.seed = seed, .in_place = Lab::in_place(problem)});
  REQUIRE(made);
  const GemmArguments& args = made->arguments;
  const auto reference = lab::compute_reference(args);
  REQUIRE(reference);
  CHECK(solved->algorithms() == 1);  // the others are refused, or need too much
  CHECK(lab::choice_text(solved->choice(0)) ==
        "algorithm 66, tile 128x256, stages 64x4, cluster 2x1x1, split_k 2, reduction in_place");
  CHECK(Lab::command_text(solved->solved().as<Gemm>()) == Lab::command_text(problem));
  if (!epilogue.empty()) CHECK(solved->epilogue() == epilogue);
  const PlanOperands operands = detail::operands_of(args);
  REQUIRE(solved->run(0, operands, nullptr, nullptr));
  CHECK(made->check_outputs());
  const lab::Tolerance tolerance = lab::tolerance(DType::f64, problem.out.dtype, MathUnit::simt, problem.k);
  CHECK(lab::compare(*reference, args, tolerance).within());
}

}  // namespace quarry::test
