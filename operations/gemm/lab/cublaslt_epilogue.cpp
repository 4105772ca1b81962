#include "operations/gemm/lab/cublaslt_epilogue.hpp"

#include <algorithm>
#include <bit>

#include "common/config_parts.hpp"

namespace quarry::lab::gemm {
namespace {

Status lacks(const std::string& what) { return Status(StatusCode::unsupported, what); }

/// Its word for an activation, with lt_epilogue_default for none.
Result<CublasLtEpilogueFunction> function_of(Activation activation) {
  switch (activation) {
    case Activation::identity: return lt_epilogue_default;
    case Activation::relu: return lt_epilogue_relu;
    case Activation::gelu_tanh: return lt_epilogue_gelu;
    default: return lacks("no " + std::string(to_string(activation)));
  }
}

/// Whether the bias lies along the rows of the output as cuBLASLt sees it, by columns: a row-major output is
/// the transposed one.
bool is_along_its_rows(BiasAxis axis, Layout out) {
  return axis == (out == Layout::row ? BiasAxis::column : BiasAxis::row);
}

Status check_bias(const Problem& p) {
  if (!is_along_its_rows(*p.epilogue.bias, p.out.layout))
    return lacks(p.out.layout == Layout::row ? "no bias by row of a row-major output"
                                             : "no bias by column of a column-major output");
  return is_floating(p.out.dtype) ? Status() : lacks("no bias of whole numbers");
}

/// GELU's input is kept in lines of whole multiples of 8 elements; of ReLU's, the signs are.
Status check_aux(const Problem& p) {
  const OperandSpec& aux = *p.epilogue.aux;
  if (p.epilogue.activation != Activation::gelu_tanh) return lacks("no aux without gelu_tanh");
  if (aux.layout != p.out.layout || aux.array) return lacks("no aux that is stored in another way than out");
  const std::int64_t along = aux.layout == Layout::row ? p.n : p.m;
  if (leading_dimension(aux, along) % 8 != 0 || alignment_of(aux) < 16)
    return lacks("no aux whose lines are not multiples of 8 elements");
  if (aux.stride.value_or(0) % 8 != 0)
    return lacks("no aux whose batch stride is not a multiple of 8 elements");
  return {};
}

/// What takes the place of C: a residual is one where nothing comes between.
Result<Operand> source_of(const EpilogueSpec& e) {
  const bool has_residual = e.residual || e.residual_in_place;
  if (!has_residual) return e.beta != 0 ? Operand::c : Operand::none;
  if (e.activation != Activation::identity) return lacks("no residual behind an activation");
  if (e.aux) return lacks("no residual beside an aux");
  if (e.beta != 0) return lacks("no residual beside C");
  return Operand::residual;
}

}  // namespace

std::string CublasLtEpilogue::text() const {
  std::string text;
  const auto add = [&text](bool is_there, std::string_view word) {
    if (is_there) text.append(text.empty() ? "" : ", ").append(word);
  };
  add(c != Operand::none, to_string(c));
  add(has_bias(), "bias");
  add((function & lt_epilogue_relu) != 0, "relu");
  add((function & lt_epilogue_gelu) != 0, "gelu_tanh");
  add(has_aux(), "aux");
  return text.empty() ? "plain" : text;
}

const OperandSpec& c_of(const CublasLtEpilogue& epilogue, const Problem& problem) {
  const EpilogueSpec& e = problem.epilogue;
  const std::optional<OperandSpec>& own = epilogue.c == Operand::residual ? e.residual : e.c;
  return own ? *own : problem.out;
}

std::uint32_t alignment_of(const OperandSpec& spec) {
  constexpr std::uint32_t allocated = 256;
  if (spec.alignment == 0) return allocated;
  const auto bytes = static_cast<std::uint32_t>(spec.alignment * bytes_of(spec.dtype));
  return std::min(allocated, std::uint32_t{1} << std::countr_zero(bytes));
}

Result<CublasLtEpilogue> cublaslt_epilogue(const Problem& problem) {
  const EpilogueSpec& e = problem.epilogue;
  if (e.scale) return lacks("no scale");
  if (e.clamp != Clamp{}) return lacks("no clamp");
  const bool reads_output_type = e.bias || e.beta != 0 || e.residual || e.residual_in_place || e.aux;
  if (is_fp8(problem.out.dtype) && reads_output_type)
    return lacks("no bias, C, residual or aux of " + std::string(to_string(problem.out.dtype)));
  const Result<CublasLtEpilogueFunction> activation = function_of(e.activation);
  if (!activation) return activation.status();
  unsigned function = *activation;
  const auto add = [&function](unsigned part) {
    function = function == lt_epilogue_default ? part : function | part;
  };
  if (e.bias) {
    if (Status s = check_bias(problem); !s) return s;
    add(lt_epilogue_bias);
  }
  if (e.aux) {
    if (Status s = check_aux(problem); !s) return s;
    add(lt_epilogue_aux);
  }
  const Result<Operand> c = source_of(e);
  if (!c) return c.status();
  CublasLtEpilogue made = {.function = static_cast<CublasLtEpilogueFunction>(function),
                           .c = *c,
                           .beta = *c == Operand::residual ? 1 : e.beta};
  if (*c != Operand::none) {
    const OperandSpec& source = gemm::c_of(made, problem);
    if (source.layout != problem.out.layout)
      return lacks("no " + std::string(to_string(*c)) + " that is stored in another way than out");
    if (source.array) return lacks("no arrays of pointers");
  }
  return made;
}

std::vector<Problem> simpler_problems(const Problem& problem) {
  std::vector<Problem> problems = {problem};
  const EpilogueSpec& e = problem.epilogue;
  Problem plain = problem;
  plain.epilogue = {.alpha = e.alpha};
  if (e.beta != 0) {
    Problem with_c = plain;
    with_c.epilogue.c = e.c;
    with_c.epilogue.in_place = e.in_place;
    with_c.epilogue.beta = e.beta;
    problems.push_back(std::move(with_c));
  }
  problems.push_back(std::move(plain));
  return problems;
}

}  // namespace quarry::lab::gemm
