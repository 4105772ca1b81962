#include "operations/gemm/lab/cublaslt.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "common/config_parts.hpp"
#include "lab/bench/cublaslt_choice.hpp"
#include "operations/common/host/element.hpp"
#include "operations/gemm/lab/cublaslt_scales.hpp"

namespace quarry::lab::gemm {
namespace {

Status unsupported(const std::string& why) {
  return Status(StatusCode::unsupported, "cuBLASLt is not timed: " + why);
}

// The table of types holds the library's numbers.
static_assert(info_of(DType::f32).cuda_type == lt_f32 && info_of(DType::f64).cuda_type == lt_f64);
static_assert(info_of(DType::f16).cuda_type == lt_f16 && info_of(DType::bf16).cuda_type == lt_bf16);
static_assert(info_of(DType::s8).cuda_type == lt_s8 && info_of(DType::s32).cuda_type == lt_s32);

/// It multiplies neither unsigned integers nor elements that share bytes.
std::optional<CublasLtType> type_of(DType type) {
  if (is_unsigned(type) || bytes_of(type) == 0) return std::nullopt;
  return static_cast<CublasLtType>(info_of(type).cuda_type);
}

/// The type of alpha and beta: f16 beside sums in f16, else as ours.
DType scalar_of(const Problem& problem) {
  const DType accumulator = problem.sums();
  return accumulator == DType::f16 ? accumulator : problem.compute();
}

/// How products are computed. It has no 3xTF32: beside fast_f32 it multiplies f32 as they are.
CublasLtCompute compute_of(const Problem& problem) {
  struct Sums {
    DType type;
    CublasLtCompute compute;
  };
  constexpr Sums other_than_f32[] = {
      {DType::f16, lt_compute_f16}, {DType::f64, lt_compute_f64}, {DType::s32, lt_compute_s32}};
  for (const Sums& sums : other_than_f32) {
    if (sums.type == problem.sums()) return sums.compute;
  }
  if (problem.a.dtype != DType::f32) return lt_compute_f32;
  switch (problem.math) {
    case Math::fast_tf32: return lt_compute_fast_tf32;
    case Math::fast_f16: return lt_compute_fast_f16;
    case Math::fast_bf16: return lt_compute_fast_bf16;
    default: return lt_compute_f32;
  }
}

Status check_problem(const Problem& problem) {
  if (problem.b_zero) return unsupported("it knows no zero points");
  const bool has_scales = problem.a_scale || problem.b_scale;
  if (has_scales && (!is_fp8(problem.a.dtype) || problem.batch > 0))
    return unsupported("it scales operands of 8-bit floating point alone, without a batch");
  if (is_interleaved(problem.a.layout) || is_interleaved(problem.b.layout) ||
      is_interleaved(problem.out.layout))
    return unsupported("the problem has interleaved operands");
  for (const OperandSpec& spec : {problem.a, problem.b, problem.out}) {
    if (spec.array) return unsupported("the problem has arrays of pointers");
  }
  const DType accumulator = problem.sums();
  for (const DType type : {problem.a.dtype, problem.b.dtype, problem.out.dtype, accumulator}) {
    if (!type_of(type)) return unsupported("it has no such types");
  }
  if (accumulator == DType::bf16) return unsupported("it has no such types");
  if (is_byte(problem.a.dtype) != is_byte(problem.b.dtype)) return unsupported("it has no such types");
  return {};
}

}  // namespace

Status CublasLtProblem::check(int status, const char* what) const {
  if (status == 0) return {};
  return Status(StatusCode::device_error,
                std::string("cuBLASLt cannot ") + what + ": " + library_->functions().status_string(status));
}

Status CublasLtProblem::make_layout(const OperandSpec& spec, std::int64_t rows, std::int64_t columns,
                                    std::int64_t batch, Owned<CublasLtMatrixLayout>& layout) const {
  const CublasLtFunctions& f = library_->functions();
  // The library sees columns: the rows of a row-major matrix.
  const std::int64_t along = spec.layout == Layout::row ? columns : rows;
  const std::int64_t across = spec.layout == Layout::row ? rows : columns;
  const std::int64_t ld = leading_dimension(spec, along);
  CublasLtMatrixLayout* made = nullptr;
  if (Status s = check(f.layout_create(&made, *type_of(spec.dtype), static_cast<std::uint64_t>(along),
                                       static_cast<std::uint64_t>(across), ld),
                       "describe an operand");
      !s)
    return s;
  layout = Owned<CublasLtMatrixLayout>(made, CublasLtDestroy{f});
  if (batch == 0) return {};
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = spec.shared ? 0 : spec.stride.value_or(across * ld);
  if (Status s = check(f.layout_set(made, lt_batch_count, &count, sizeof count), "describe a batch"); !s)
    return s;
  return check(f.layout_set(made, lt_batch_stride, &stride, sizeof stride), "describe a batch");
}

Status CublasLtProblem::describe(const Problem& p) {
  const CublasLtFunctions& f = library_->functions();
  CublasLtMatmulDesc* desc = nullptr;
  if (Status s = check(f.desc_create(&desc, compute_of(p), *type_of(scalar_of(p))), "describe the product");
      !s)
    return s;
  desc_ = Owned<CublasLtMatmulDesc>(desc, CublasLtDestroy{f});

  // out = A B by columns, or by rows out^T = B^T A^T: what is stored the way that the output is goes as it
  // is.
  exchanged_ = p.out.layout == Layout::row;
  const auto operation = [&p](const OperandSpec& spec) {
    return spec.layout == p.out.layout ? lt_as_it_is : lt_transposed;
  };
  const std::int32_t first = operation(exchanged_ ? p.b : p.a);
  const std::int32_t second = operation(exchanged_ ? p.a : p.b);
  if (Status s = check(f.desc_set(desc, lt_transpose_a, &first, sizeof first), "transpose"); !s) return s;
  if (Status s = check(f.desc_set(desc, lt_transpose_b, &second, sizeof second), "transpose"); !s) return s;
  const std::int8_t fast = adds_up_fast() ? 1 : 0;
  if (is_fp8(p.a.dtype)) {
    if (Status s =
            check(f.desc_set(desc, lt_fast_accumulation, &fast, sizeof fast), "be told where it adds up");
        !s)
      return s;
  }

  Owned<CublasLtMatrixLayout>& a = exchanged_ ? b_ : a_;
  Owned<CublasLtMatrixLayout>& b = exchanged_ ? a_ : b_;
  if (Status s = make_layout(p.a, p.m, p.k, p.batch, a); !s) return s;
  if (Status s = make_layout(p.b, p.k, p.n, p.batch, b); !s) return s;
  OperandSpec c = gemm::c_of(epilogue_, p);
  // cuBLASLt wants a 16-bit layout of C beside an 8-bit output, even without C.
  if (is_fp8(p.out.dtype)) c.dtype = DType::bf16;
  if (Status s = make_layout(c, p.m, p.n, p.batch, c_); !s) return s;
  if (Status s = make_layout(p.out, p.m, p.n, p.batch, out_); !s) return s;
  host::write_element(scalar_of(p), alpha_.bytes, 0, p.epilogue.alpha);
  host::write_element(scalar_of(p), beta_.bytes, 0, epilogue_.beta);
  if (Status s = describe_scales(p); !s) return s;
  return describe_epilogue(p);
}

Status CublasLtProblem::set(int attribute, const void* value, std::size_t bytes) const {
  return check(library_->functions().desc_set(desc_.get(), attribute, value, bytes),
               "be told the epilogue or scales");
}

Status CublasLtProblem::describe_scales(const Problem& p) {
  const auto& first = exchanged_ ? p.b_scale : p.a_scale;
  const auto& second = exchanged_ ? p.a_scale : p.b_scale;
  if (first) {
    const std::int32_t of_a = scale_mode(*first);
    if (Status s = set(lt_a_scale_mode, &of_a, sizeof of_a); !s) return s;
  }
  if (second) {
    const std::int32_t of_b = scale_mode(*second);
    if (Status s = set(lt_b_scale_mode, &of_b, sizeof of_b); !s) return s;
  }
  // Algorithms are offered where scales are known to exist.
  return set_scales(reinterpret_cast<const void*>(std::uintptr_t{256}),
                    reinterpret_cast<const void*>(std::uintptr_t{256}));
}

Status CublasLtProblem::set_scales(const void* of_a, const void* of_b) const {
  const void* const first = exchanged_ ? of_b : of_a;
  const void* const second = exchanged_ ? of_a : of_b;
  if (exchanged_ ? problem_.b_scale : problem_.a_scale) {
    if (Status s = set(lt_a_scale_pointer, &first, sizeof first); !s) return s;
  }
  if (exchanged_ ? problem_.a_scale : problem_.b_scale) {
    if (Status s = set(lt_b_scale_pointer, &second, sizeof second); !s) return s;
  }
  return {};
}

/// Pointers come with each run; algorithms are offered for those that are aligned as memory is.
Status CublasLtProblem::describe_epilogue(const Problem& p) {
  if (epilogue_.function == lt_epilogue_default) return {};
  const auto function = static_cast<std::uint32_t>(epilogue_.function);
  if (Status s = set(lt_epilogue, &function, sizeof function); !s) return s;
  constexpr std::uintptr_t aligned = 256;
  const void* const anywhere = reinterpret_cast<const void*>(aligned);
  if (epilogue_.has_bias()) {
    if (Status s = set(lt_bias_pointer, &anywhere, sizeof anywhere); !s) return s;
  }
  if (!epilogue_.has_aux()) return {};
  const bool by_rows = p.out.layout == Layout::row;
  const std::int64_t ld = leading_dimension(*p.epilogue.aux, by_rows ? p.n : p.m);
  const std::int64_t stride = p.epilogue.aux->stride.value_or(ld * (by_rows ? p.m : p.n));
  if (Status s = set(lt_aux_pointer, &anywhere, sizeof anywhere); !s) return s;
  if (Status s = set(lt_aux_ld, &ld, sizeof ld); !s) return s;
  return p.batch == 0 ? Status() : set(lt_aux_batch_stride, &stride, sizeof stride);
}

Status CublasLtProblem::ask(const Problem& p) {
  const CublasLtFunctions& f = library_->functions();
  CublasLtPreference* made = nullptr;
  if (Status s = check(f.preference_create(&made), "be told preferences"); !s) return s;
  const Owned<CublasLtPreference> preference(made, CublasLtDestroy{f});
  const std::uint64_t workspace = bench_workspace;
  if (Status s = check(f.preference_set(made, lt_max_workspace, &workspace, sizeof workspace),
                       "be told of the workspace");
      !s)
    return s;
  const std::pair<int, std::uint32_t> alignments[] = {
      {lt_alignment_a, alignment_of(exchanged_ ? p.b : p.a)},
      {lt_alignment_b, alignment_of(exchanged_ ? p.a : p.b)},
      {lt_alignment_c, alignment_of(gemm::c_of(epilogue_, p))},
      {lt_alignment_d, alignment_of(p.out)}};
  for (const auto& [attribute, bytes] : alignments) {
    if (Status s = check(f.preference_set(made, attribute, &bytes, sizeof bytes), "be told alignments"); !s)
      return s;
  }
  std::array<CublasLtOffer, asked_algorithms> offers = {};
  int given = 0;
  const int status = f.heuristic(library_->context(), desc_.get(), a_.get(), b_.get(), c_.get(), out_.get(),
                                 made, asked_algorithms, offers.data(), &given);
  for (const CublasLtOffer& offer : std::span(offers).first(static_cast<std::size_t>(std::max(given, 0)))) {
    if (status == 0 && offer.state == 0 && offer.workspace <= bench_workspace) offers_.push_back(offer);
  }
  if (!offers_.empty()) return {};
  return unsupported(has_blocks(p) ? "it offers no algorithm with these blocks of scales"
                                   : "it offers no algorithm for the problem");
}

Result<CublasLtProblem> CublasLtProblem::make(const CublasLt& library, const Problem& problem,
                                              const CublasLtEpilogue& epilogue) {
  CublasLtProblem made;
  made.library_ = &library;
  made.problem_ = problem;
  made.epilogue_ = epilogue;
  if (Status s = made.describe(problem); !s) return s;
  if (Status s = made.ask(problem); !s) return s;
  return made;
}

Result<CublasLtProblem> CublasLtProblem::make(const CublasLt& library, const Problem& problem,
                                              const YardstickOptions& options) {
  if (Status s = check_problem(problem); !s) return s;
  const bool leaves_out_blocks = has_blocks(problem) && !options.block_scales;
  if (has_blocks(problem) && options.block_scales) {
    if (Status s = check_blocks(problem, library.version()); !s) return s;
  }
  std::string why = leaves_out_blocks ? "blocks of scales are not given to it: one factor, precise sums" : "";
  Status last;
  for (const Problem& simpler : simpler_problems(leaves_out_blocks ? without_blocks(problem) : problem)) {
    const Result<CublasLtEpilogue> epilogue = cublaslt_epilogue(simpler);
    if (epilogue) {
      Result<CublasLtProblem> made = make(library, simpler, *epilogue);
      if (made) made->why_other_ = why;
      if (made || made.status().code() != StatusCode::unsupported) return made;
      last = made.status();
    }
    if (why.empty())
      why = "it has " + (epilogue ? "no algorithm with " + epilogue->text() : epilogue.status().message());
  }
  return last;
}

void CublasLtProblem::store(HeldArguments& arguments) const {
  store_scales(problem_, arguments.as<GemmArguments>());
}

/// With blocks, sums are promoted from block to block.
bool CublasLtProblem::adds_up_fast() const {
  return problem_.accumulation == Accumulation::fast && !has_blocks(problem_);
}

Status CublasLtProblem::run(std::size_t algorithm, const PlanOperands& operands, void* workspace,
                            CUstream_st* stream) const {
  const void* const a = exchanged_ ? operands[Operand::b] : operands[Operand::a];
  const void* const b = exchanged_ ? operands[Operand::a] : operands[Operand::b];
  const void* const c = operands[epilogue_.c == Operand::none ? Operand::out : epilogue_.c];
  if (epilogue_.has_bias()) {
    const void* const bias = operands[Operand::bias];
    if (Status s = set(lt_bias_pointer, &bias, sizeof bias); !s) return s;
  }
  if (epilogue_.has_aux()) {
    const void* const aux = operands[Operand::aux];
    if (Status s = set(lt_aux_pointer, &aux, sizeof aux); !s) return s;
  }
  if (Status s = set_scales(operands[Operand::a_scale], operands[Operand::b_scale]); !s) return s;
  const int status = library_->functions().matmul(
      library_->context(), desc_.get(), alpha_.bytes, a, a_.get(), b, b_.get(), beta_.bytes, c, c_.get(),
      const_cast<void*>(operands[Operand::out]), out_.get(), &offers_[algorithm].algorithm, workspace,
      bench_workspace, stream);
  return check(status, "run");
}

Tolerance CublasLtProblem::tolerance() const {
  constexpr double slices_in_the_output_type = 8;
  const Problem& p = problem_;
  const Math math = p.a.dtype == DType::f32 ? p.math : Math::exact;
  const Accumulation sums = adds_up_fast() ? Accumulation::fast : Accumulation::precise;
  Tolerance tolerance =
      lab::tolerance(p.sums(), p.out.dtype, MathUnit::tensor_core, p.k, math, p.a.dtype, sums);
  for (double* bound : {&tolerance.output, &tolerance.accumulation}) *bound *= slices_in_the_output_type;
  return tolerance;
}

std::string CublasLtProblem::epilogue() const {
  return why_other_.empty() ? epilogue_.text() : epilogue_.text() + " (" + why_other_ + ")";
}

std::vector<ChoicePart> CublasLtProblem::choice(std::size_t algorithm) const {
  const auto choice = read_choice(library_->functions(), offers_[algorithm].algorithm);
  return choice ? choice_parts(*choice) : std::vector<ChoicePart>();
}

std::string CublasLtProblem::types() const {
  const auto text = [](const OperandSpec& spec) { return std::string(to_string(spec.dtype)); };
  return text(problem_.a) + " x " + text(problem_.b) + " to " + text(problem_.out);
}

}  // namespace quarry::lab::gemm
