/// Problems whose operands are arrays of pointers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

namespace quarry::test {

inline constexpr std::int64_t batch = 3;
inline constexpr std::int64_t m = 24;
inline constexpr std::int64_t n = 40;
inline constexpr std::int64_t k = 32;
inline constexpr Memory in_host = {MemoryKind::host, 0};
inline constexpr Memory on_device = {MemoryKind::device, 0};

/// A fake array of f16 matrices, at multiples of 16 bytes.
inline PointerArrayView fake(std::int64_t rows, std::int64_t columns, std::int64_t count = batch) {
  return PointerArrayView::row_major(nullptr, DType::f16, count, {rows, columns}).aligned(16);
}

/// Everything that may be an array is one, fake.
inline GemmArguments all_arrays() {
  GemmArguments args{.a = fake(m, k), .b = fake(k, n), .c = fake(m, n), .out = fake(m, n)};
  args.epilogue.beta = 0.5;
  args.epilogue.residual = fake(m, n);
  args.epilogue.aux = fake(m, n);
  return args;
}

/// The operands of such a problem.
inline std::vector<std::pair<Operand, TensorView*>> views_of(GemmArguments& args) {
  return {{Operand::a, &args.a},     {Operand::b, &args.b},
          {Operand::c, &*args.c},    {Operand::residual, &*args.epilogue.residual},
          {Operand::out, &args.out}, {Operand::aux, &*args.epilogue.aux}};
}

/// The kernel that a query offers first.
inline Kernel best(const GemmArguments& args) {
  const CandidateList found = get_kernels(args);
  INFO(found.status().message());
  REQUIRE_FALSE(found.empty());
  return found.front();
}

}  // namespace quarry::test
