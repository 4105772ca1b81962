#include "operations/conv2d/lab/operation.hpp"

#include "common/config_parts.hpp"
#include "lab/problems/controls_spec.hpp"
#include "operations/conv2d/lab/cudnn.hpp"
#include "operations/conv2d/lab/definition.hpp"
#include "operations/gemm/lab/expression.hpp"

namespace quarry::lab::conv2d {
namespace {

constexpr Setting own_settings[] = {
    {"type", "TYPE", "Element type of all operands: f16, bf16, f32, f64, s8 or u8"},
    {"direction", "fprop|dgrad|wgrad", "What is computed, where the shape does not say it"},
    {"a", "OPERAND", "How A is stored"},
    {"b", "OPERAND", "How B is stored"},
    {"padding", "N|HxW", "Rows and columns of zeros on either side of an image (0)"},
    {"stride", "N|HxW", "From one position of the window to the next (1)"},
    {"dilation", "N|HxW", "From one element of a filter to the next (1)"},
    {"groups", "N", "Groups of channels and filters (1)"},
    {"layout", "nhwc|nc32hw32",
     "Where channels lie: neighbours, or in groups of 32, filters as c32rsk32 (nhwc)"},
    {"kind", "correlation|convolution", "Whether filters are turned: convolution (correlation)"},
    {"accumulator", "TYPE",
     "Type that products are summed in (f64 operands: f64, s8 and u8: s32, others: f32)"},
    {"math", "NAME", "How f32 operands may be rounded: exact, fast_tf32, fast_f32, fast_f16 or fast_bf16"},
};

/// A setting that other operations have, too.
constexpr Setting shared(std::span<const Setting> list, std::string_view name) {
  for (const Setting& each : list) {
    if (each.name == name) return each;
  }
  throw "there is no such setting";
}

constexpr Setting epilogue_parts[] = {
    shared(c_settings, "c"),
    shared(c_settings, "out"),
    shared(epilogue_settings, "alpha"),
    shared(epilogue_settings, "beta"),
    shared(epilogue_settings, "activation"),
    shared(epilogue_settings, "slope"),
    shared(epilogue_settings, "bias"),
    shared(epilogue_settings, "scale"),
    shared(epilogue_settings, "residual"),
    shared(epilogue_settings, "aux"),
    shared(epilogue_settings, "clamp"),
};
constexpr auto all_settings =
    joined(own_settings, epilogue_parts, gemm::expression_settings, controls_settings);

constexpr Example examples[] = {
    {"find", "quarry find conv2d fprop 32x56x56x64 64x3x3 bf16 --padding 1"},
    {"run", "quarry run conv2d fprop 1x28x28x16 32x3x3 bf16 --padding 1 --bias column --activation relu"},
    {"run",
     "quarry run conv2d fprop 1x28x28x16 32x3x3 bf16 --epilogue 'out = silu(sum + x)' --with "
     "x=bf16:per_column "
     "--on host"},
    {"run", "quarry run conv2d fprop 2x14x14x64 96x3x3 s8 --padding 1 --layout nc32hw32"},
    {"run", "quarry run conv2d dgrad 2x14x14x8 16x3x3 f32 --padding 1 --stride 2 --groups 4 --on host"},
};

double number(std::int64_t extent) { return static_cast<double>(extent); }

}  // namespace

DType Problem::sums() const { return accumulator.value_or(default_accumulator(a.dtype, b.dtype)); }

DType Problem::compute() const { return compute_type(sums(), out.dtype); }

Extents Problem::output() const {
  return {n, window_positions(h, r, padding.height, stride.height, dilation.height),
          window_positions(w, s, padding.width, stride.width, dilation.width), k};
}

Extents Problem::out_extents() const {
  switch (direction) {
    case Direction::dgrad: return activations();
    case Direction::wgrad: return filters();
    default: return output();
  }
}

std::int64_t Problem::terms() const {
  const Extents y = output();
  switch (direction) {
    case Direction::dgrad: return r * s * (k / groups);
    case Direction::wgrad: return y[0] * y[1] * y[2];
    default: return r * s * (c / groups);
  }
}

LabWords Lab::words() {
  return {.shape = "DIRECTION NxHxWxC KxRxS",
          .problem = "fprop 32x56x56x64 64x3x3 bf16",
          .notes =
              "Activations (NHWC) are convolved with K filters of R rows and S columns: fprop, or the\n"
              "gradient of activations (dgrad) or filters (wgrad). A and B are what is read.",
          .examples = examples,
          .shape_words = 3,
          .leading_setting = "direction"};
}

std::span<const Setting> Lab::settings() { return all_settings; }

NamedSizes Lab::sizes(const Problem& p) {
  const Extents y = p.output();
  return {{"n", p.n}, {"h", p.h}, {"w", p.w},  {"c", p.c},  {"k", p.k},
          {"r", p.r}, {"s", p.s}, {"p", y[1]}, {"q", y[2]}, {"groups", p.groups}};
}

void Lab::add_settings(const KernelMetadata& kernel, SettingTexts& texts) {
  const OperandsMetadata& operands = kernel.operands;
  texts.try_emplace("direction", to_string(kernel.direction.value_or(Direction::fprop)));
  texts.try_emplace("a", to_string(operands.a.dtype));
  texts.try_emplace("b", to_string(operands.b.dtype));
  texts.try_emplace("out", to_string(operands.out.dtype));
  texts.try_emplace("accumulator", to_string(operands.accumulator));
  texts.try_emplace("math", to_string(kernel.design.math));
  if (is_interleaved(operands.out.layout)) texts.try_emplace("layout", "nc32hw32");
}

double Lab::flops(const Problem& p) {
  const Extents y = p.output();
  return 2 * number(y[0]) * number(y[1]) * number(y[2]) * number(p.k) * number(p.r) * number(p.s) *
         number(p.c / p.groups);
}

std::vector<Operand> Lab::in_place(const Problem& p) {
  if (const Operand tensor = gemm::in_place_tensor(p.expression, p.in_place); tensor != Operand::none)
    return {tensor};
  return in_place_of(p.epilogue);
}

Tolerance Lab::tolerance(const KernelMetadata& kernel, const Conv2dArguments& args, Operand) {
  if (args.expression) return {};  // the reference knows the bound of each value
  return lab::tolerance(kernel, terms_of_output(args), args.epilogue.activation);
}

Result<std::unique_ptr<Yardstick>> Lab::yardstick(const Cudnn& library, const Problem& problem,
                                                  const YardstickOptions&) {
  Result<CudnnProblem> made = CudnnProblem::make(library, problem);
  if (!made) return made.status();
  return std::unique_ptr<Yardstick>(std::make_unique<CudnnProblem>(*std::move(made)));
}

}  // namespace quarry::lab::conv2d
