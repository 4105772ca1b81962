#include "arguments.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "epilogue.hpp"
#include "expression.hpp"

namespace quarry::python {
namespace {

nb::object expression_text(const std::optional<Expression>& expression) {
  return expression ? nb::cast(expression->text()) : nb::none();
}

template <class T>
std::optional<T> parsed(const std::optional<std::string>& word, Result<T> (*parse)(std::string_view)) {
  if (!word) return std::nullopt;
  return value_of(parse(*word));
}

/// alpha or beta: a number, or a tensor of one element that a run reads.
Scalar scalar(OperationArguments& arguments, nb::handle value, const char* name) {
  if (const std::optional<double> number = number_of(value)) return *number;
  const TensorView view = arguments.keep(with_rank(value), name);
  for (std::size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] != 1)
      throw nb::value_error((std::string(name) + ": expected a number or a tensor of one element").c_str());
  }
  if (view.data == nullptr)
    throw nb::value_error((std::string(name) + ": a fake tensor has no value").c_str());
  return Scalar::at(view.data);
}

/// An epilogue as EpilogueArguments, a text or a function.
PythonEpilogue epilogue_of(nb::handle given) {
  if (nb::isinstance<PythonEpilogue>(given)) return nb::cast<const PythonEpilogue&>(given);
  if (!nb::isinstance<nb::str>(given) && PyCallable_Check(given.ptr()) == 0)
    throw nb::type_error("epilogue: expected EpilogueArguments, the text of an expression, or a function");
  return {.expression = ExpressionSource{nb::borrow(given), nb::dict()}};
}

/// Takes the parts of an epilogue, or its expression and that one's tensors, into the arguments of a product.
/// @param owner holds the tensors @param out as it was given
template <class Arguments>
void take_epilogue(const PythonEpilogue& given, nb::handle out, OperationArguments& owner,
                   Arguments& arguments) {
  if (!given.expression) {
    arguments.c = owner.keep_if(given.c, "C");
    arguments.epilogue = standard_epilogue(owner, given);
    return;
  }
  const DType sums = sum_type(arguments.a.dtype, arguments.b.dtype, arguments.accumulator);
  BoundExpression expressed = bound(*given.expression, {arguments.out, nb::borrow(out), sums}, owner);
  arguments.expression = std::move(expressed.expression);
  arguments.tensors = std::move(expressed.tensors);
}

/// Scales of both operands and their granularities.
struct Scales {
  nb::handle a;
  std::string_view a_granularity;
  nb::handle b;
  std::string_view b_granularity;
};

/// Takes scales into the arguments of a product. @param owner holds them
template <class Arguments>
void take_scales(const Scales& given, OperationArguments& owner, Arguments& arguments) {
  arguments.a_scale = owner.keep_if(given.a, "a_scale");
  arguments.a_scale_granularity = value_of(parse_scale_granularity(given.a_granularity));
  arguments.b_scale = owner.keep_if(given.b, "b_scale");
  arguments.b_scale_granularity = value_of(parse_scale_granularity(given.b_granularity));
}

class Gemm final : public OperationArguments {
 public:
  Gemm(nb::handle a, nb::handle b, nb::handle out, nb::handle accumulator, nb::handle epilogue,
       const Controls* controls, std::string_view math, std::string_view accumulation, const Scales& scales,
       nb::handle b_zero) {
    arguments_.a = keep(a, "A");
    arguments_.b = keep(b, "B");
    arguments_.out = keep(out, "out", true);
    if (!accumulator.is_none()) arguments_.accumulator = dtype_of(accumulator);
    take_scales(scales, *this, arguments_);
    arguments_.b_zero = keep_if(b_zero, "b_zero");
    if (!epilogue.is_none()) take_epilogue(epilogue_of(epilogue), out, *this, arguments_);
    if (controls != nullptr) arguments_.controls = *controls;
    arguments_.math = value_of(parse_math(math));
    arguments_.accumulation = value_of(parse_accumulation(accumulation));
  }
  quarry::Arguments get() const override { return arguments_; }
  nb::object expression() const { return expression_text(arguments_.expression); }

 private:
  GemmArguments arguments_;
};

/// What a grouped GEMM has beside its operands and epilogue.
struct GroupChoices {
  std::string_view sizes_are;
  bool zero_outside;
  bool clamp_host_sizes;
  std::optional<std::int64_t> expected_total, expected_largest;
};

class GroupedGemm final : public OperationArguments {
 public:
  GroupedGemm(nb::handle a, nb::handle b, nb::handle out, nb::handle sizes, nb::handle accumulator,
              nb::handle epilogue, const GroupChoices& choices, const Scales& scales) {
    arguments_.a = keep(a, "A");
    arguments_.b = keep(b, "B");
    arguments_.out = keep(out, "out", true);
    arguments_.sizes = keep(sizes, "sizes");
    arguments_.sizes_are = value_of(parse_sizes_are(choices.sizes_are));
    arguments_.zero_outside = choices.zero_outside;
    arguments_.clamp_host_sizes = choices.clamp_host_sizes;
    arguments_.expected_total = choices.expected_total;
    arguments_.expected_largest = choices.expected_largest;
    take_scales(scales, *this, arguments_);
    if (!accumulator.is_none()) arguments_.accumulator = dtype_of(accumulator);
    if (!epilogue.is_none()) take_epilogue(epilogue_of(epilogue), out, *this, arguments_);
  }
  quarry::Arguments get() const override { return arguments_; }

 private:
  GroupedGemmArguments arguments_;
};

/// What a list of GEMMs has beside its operands and epilogue.
struct ListChoices {
  bool clamp_host_sizes;
  std::vector<std::int32_t> host_sizes;
  quarry::ListSchedule schedule;
};

class GemmList final : public OperationArguments {
 public:
  GemmList(nb::handle a, nb::handle b, nb::handle out, nb::handle sizes, nb::handle leading,
           nb::handle accumulator, nb::handle epilogue, ListChoices choices, const Scales& scales)
      : host_sizes_(std::move(choices.host_sizes)) {
    arguments_.a = keep(a, "A");
    arguments_.b = keep(b, "B");
    arguments_.out = keep(out, "out", true);
    arguments_.sizes = keep(sizes, "sizes");
    arguments_.leading = keep_if(leading, "leading");
    arguments_.clamp_host_sizes = choices.clamp_host_sizes;
    arguments_.host_sizes = host_sizes_;
    arguments_.schedule = choices.schedule;
    take_scales(scales, *this, arguments_);
    if (!accumulator.is_none()) arguments_.accumulator = dtype_of(accumulator);
    if (!epilogue.is_none()) take_epilogue(epilogue_of(epilogue), out, *this, arguments_);
  }
  quarry::Arguments get() const override { return arguments_; }

 private:
  std::vector<std::int32_t> host_sizes_;
  GemmListArguments arguments_;
};

class ReduceSplitK final : public OperationArguments {
 public:
  ReduceSplitK(nb::handle partials, nb::handle out, const PythonEpilogue* epilogue) {
    arguments_.partials = keep(partials, "partials");
    arguments_.out = keep(out, "out", true);
    if (epilogue == nullptr) return;
    if (epilogue->expression)
      throw nb::value_error("epilogue: a reduction takes the standard parts, and no expression");
    arguments_.c = keep_if(epilogue->c, "C");
    arguments_.epilogue = standard_epilogue(*this, *epilogue);
  }
  quarry::Arguments get() const override { return arguments_; }

 private:
  ReduceSplitKArguments arguments_;
};

class Elementwise final : public OperationArguments {
 public:
  Elementwise(const nb::object& expression, const nb::dict& tensors)
      : arguments_(made(*this, expression, tensors)) {}
  quarry::Arguments get() const override { return arguments_; }
  nb::object expression() const { return expression_text(arguments_.expression); }

 private:
  static ElementwiseArguments made(OperationArguments& self, const nb::object& expression,
                                   const nb::dict& tensors) {
    if (!tensors.contains("out")) throw nb::type_error("out: expected a tensor, got nothing");
    const TensorView out = hold(tensors["out"], "out", true).view;
    BoundExpression expressed = bound({expression, tensors}, {.out = out}, self);
    return {std::move(expressed.expression), std::move(expressed.tensors)};
  }

  ElementwiseArguments arguments_;
};

class Reorder final : public OperationArguments {
 public:
  Reorder(nb::handle from, nb::handle to)
      : arguments_{.from = keep(from, "from"), .to = keep(to, "to", true)} {}
  quarry::Arguments get() const override { return arguments_; }

 private:
  ReorderArguments arguments_;
};

void bind_controls(nb::module_& module) {
  using Word = std::optional<std::string>;
  nb::class_<Controls>(module, "Controls",
                       "Run-time performance choices; the registry chooses those that are None.")
      .def(
          "__init__",
          [](Controls* self, const Word& mode, std::optional<int> slices, std::optional<int> swizzle,
             const Word& raster, std::optional<int> multiprocessors) {
            new (self) Controls{parsed(mode, &parse_mode), slices, swizzle, parsed(raster, &parse_raster),
                                multiprocessors};
          },
          nb::kw_only(), nb::arg("mode") = nb::none(), nb::arg("split_k_slices") = nb::none(),
          nb::arg("swizzle") = nb::none(), nb::arg("raster") = nb::none(),
          nb::arg("multiprocessors") = nb::none())
      .def_prop_ro(
          "mode",
          [](const Controls& self) {
            return self.mode ? nb::object(text(to_string(*self.mode))) : nb::none();
          },
          nb::sig("def mode(self) -> str | None"))
      .def_ro("split_k_slices", &Controls::split_k_slices)
      .def_ro("swizzle", &Controls::swizzle)
      .def_prop_ro(
          "raster",
          [](const Controls& self) {
            return self.raster ? nb::object(text(to_string(*self.raster))) : nb::none();
          },
          nb::sig("def raster(self) -> str | None"))
      .def_ro("multiprocessors", &Controls::multiprocessors);
}

void make_gemm(Gemm* self, nb::handle a, nb::handle b, nb::handle out, nb::handle accumulator,
               nb::handle epilogue, const Controls* controls, std::string_view math, nb::handle a_scale,
               std::string_view a_granularity, nb::handle b_scale, std::string_view b_granularity,
               nb::handle b_zero, std::string_view accumulation) {
  new (self) Gemm(a, b, out, accumulator, epilogue, controls, math, accumulation,
                  {a_scale, a_granularity, b_scale, b_granularity}, b_zero);
}

void bind_gemm(nb::module_& module) {
  nb::class_<Gemm, OperationArguments>(
      module, "GemmArguments",
      "out (M x N) = epilogue(A (M x K) times B (K x N)); of rank 3, with a batch L in front.\n\n"
      "a_scale and b_scale are matrices of Float32: the value of an element is the stored number times its "
      "scale. Their\n"
      "granularities are \"tensor\", \"row\" (of A), \"column\" (of B), \"1x128\", \"1x64\", \"1x32\" and "
      "\"128x128\" (of B).\n"
      "b_zero is a matrix of UInt8 beside b_scale, of its extents: zero points of unsigned weights, which "
      "are "
      "taken off\n"
      "the stored numbers before the scale.\n"
      "accumulation is \"fast\" or \"precise\": where sums of Float8 operands are added up.")
      .def("__init__", &make_gemm, nb::arg("A").none(), nb::arg("B").none(), nb::arg("out").none(),
           nb::arg("accumulator_type") = nb::none(), nb::arg("epilogue") = nb::none(),
           nb::arg("performance") = nb::none(), nb::arg("math") = "exact", nb::kw_only(),
           nb::arg("a_scale") = nb::none(), nb::arg("a_scale_granularity") = "tensor",
           nb::arg("b_scale") = nb::none(), nb::arg("b_scale_granularity") = "tensor",
           nb::arg("b_zero") = nb::none(), nb::arg("accumulation") = "fast",
           nb::sig("def __init__(self, A: object, B: object, out: object, accumulator_type: object = None, "
                   "epilogue: EpilogueArguments | str | collections.abc.Callable[..., object] | None = None, "
                   "performance: Controls | None = None, math: str = 'exact', *, a_scale: object = None, "
                   "a_scale_granularity: str = 'tensor', b_scale: object = None, b_scale_granularity: str = "
                   "'tensor', b_zero: object = None, accumulation: str = 'fast') -> None"))
      .def_prop_ro(
          "A", [](const Gemm& self) { return self.owner("A"); }, nb::sig("def A(self) -> object"))
      .def_prop_ro(
          "B", [](const Gemm& self) { return self.owner("B"); }, nb::sig("def B(self) -> object"))
      .def_prop_ro(
          "out", [](const Gemm& self) { return self.owner("out"); }, nb::sig("def out(self) -> object"))
      .def_prop_ro("expression", &Gemm::expression, nb::sig("def expression(self) -> str | None"),
                   "The epilogue's expression as text; None for a standard epilogue.");
}

void make_grouped(GroupedGemm* self, nb::handle a, nb::handle b, nb::handle out, nb::handle sizes,
                  nb::handle accumulator, nb::handle epilogue, std::string_view sizes_are, bool zero_outside,
                  bool clamp_host_sizes, std::optional<std::int64_t> expected_total,
                  std::optional<std::int64_t> expected_largest, nb::handle a_scale,
                  std::string_view a_granularity, nb::handle b_scale, std::string_view b_granularity) {
  new (self) GroupedGemm(a, b, out, sizes, accumulator, epilogue,
                         {sizes_are, zero_outside, clamp_host_sizes, expected_total, expected_largest},
                         {a_scale, a_granularity, b_scale, b_granularity});
}

void bind_grouped(nb::module_& module) {
  nb::class_<GroupedGemm, OperationArguments>(
      module, "GroupedGemmArguments",
      "A GEMM for each of G groups: A (rows x K), B (G x K x N) and out (rows x N) for groups of rows that "
      "follow "
      "one another;\n"
      "A (G x capacity x K) and out (G x capacity x N) for masked groups; A (M x T), B (T x N) and out (G x "
      "M x N) "
      "for groups of K.\n"
      "`sizes` are G numbers of Int32, where groups end (\"ends\") or how long they are (\"counts\").\n"
      "A tensor (G x 1 x N) of an epilogue's expression has a value for each column of each group.\n"
      "a_scale and b_scale are as in GemmArguments; b_scale of rank 3 has scales for each group.")
      .def("__init__", &make_grouped, nb::arg("A").none(), nb::arg("B").none(), nb::arg("out").none(),
           nb::arg("sizes").none(), nb::arg("accumulator_type") = nb::none(),
           nb::arg("epilogue") = nb::none(), nb::kw_only(), nb::arg("sizes_are") = "ends",
           nb::arg("zero_outside") = false, nb::arg("clamp_host_sizes") = false,
           nb::arg("expected_total") = nb::none(), nb::arg("expected_largest") = nb::none(),
           nb::arg("a_scale") = nb::none(), nb::arg("a_scale_granularity") = "tensor",
           nb::arg("b_scale") = nb::none(), nb::arg("b_scale_granularity") = "tensor",
           nb::sig("def __init__(self, A: object, B: object, out: object, sizes: object, accumulator_type: "
                   "object = "
                   "None, epilogue: EpilogueArguments | str | collections.abc.Callable[..., object] | None = "
                   "None, "
                   "*, sizes_are: str = 'ends', "
                   "zero_outside: bool = "
                   "False, clamp_host_sizes: bool = False, expected_total: int | None = None, "
                   "expected_largest: int | None = None, a_scale: object = None, a_scale_granularity: str = "
                   "'tensor', b_scale: object = None, b_scale_granularity: str = 'tensor') -> None"));
}

void make_list(GemmList* self, nb::handle a, nb::handle b, nb::handle out, nb::handle sizes,
               nb::handle leading, nb::handle accumulator, nb::handle epilogue, bool clamp_host_sizes,
               std::optional<std::vector<std::int32_t>> host_sizes, std::string_view schedule,
               nb::handle a_scale, std::string_view a_granularity, nb::handle b_scale,
               std::string_view b_granularity) {
  new (self) GemmList(a, b, out, sizes, leading, accumulator, epilogue,
                      {clamp_host_sizes, std::move(host_sizes).value_or(std::vector<std::int32_t>()),
                       value_of(quarry::parse_list_schedule(schedule))},
                      {a_scale, a_granularity, b_scale, b_granularity});
}

void bind_gemm_list(nb::module_& module) {
  nb::class_<GemmList, OperationArguments>(
      module, "GemmListArguments",
      "G GEMMs with sizes of their own: A (G x M x K), B (G x K x N) and out (G x M x N), PointerArrays or "
      "batches, whose extents are bounds.\n"
      "`sizes` are G x 3 numbers of Int32: M, N and K of each; `leading` G x 4: leading dimensions of A, B, "
      "C and out.\n"
      "`host_sizes`, the numbers of `sizes` where the host knows them, help the ranking. With "
      "schedule='host' "
      "they are a promise: tiles are counted at the launch.\n"
      "A tensor (G x 1 x N) of an epilogue's expression has a value for each column of each problem. a_scale "
      "and b_scale are as in GemmArguments, of the bounds' extents.")
      .def("__init__", &make_list, nb::arg("A").none(), nb::arg("B").none(), nb::arg("out").none(),
           nb::arg("sizes").none(), nb::arg("leading") = nb::none(), nb::arg("accumulator_type") = nb::none(),
           nb::arg("epilogue") = nb::none(), nb::kw_only(), nb::arg("clamp_host_sizes") = false,
           nb::arg("host_sizes") = nb::none(), nb::arg("schedule") = "device",
           nb::arg("a_scale") = nb::none(), nb::arg("a_scale_granularity") = "tensor",
           nb::arg("b_scale") = nb::none(), nb::arg("b_scale_granularity") = "tensor",
           nb::sig("def __init__(self, A: object, B: object, out: object, sizes: object, leading: object = "
                   "None, accumulator_type: object = None, epilogue: EpilogueArguments | str | "
                   "collections.abc.Callable[..., object] | None = None, *, clamp_host_sizes: bool = False, "
                   "host_sizes: list[int] | None = None, schedule: str = "
                   "'device', a_scale: object = None, a_scale_granularity: str = 'tensor', b_scale: object = "
                   "None, b_scale_granularity: str = 'tensor') -> None"));
}

void bind_others(nb::module_& module) {
  nb::class_<ReduceSplitK, OperationArguments>(
      module, "ReduceSplitKArguments",
      "out = epilogue(partials[0] + partials[1] + ...): partial sums of a GEMM, slices in front.")
      .def(nb::init<nb::handle, nb::handle, const PythonEpilogue*>(), nb::arg("partials").none(),
           nb::arg("out").none(), nb::arg("epilogue") = nb::none(),
           nb::sig("def __init__(self, partials: object, out: object, epilogue: EpilogueArguments | None = "
                   "None) -> None"));
  nb::class_<Elementwise, OperationArguments>(
      module, "ElementwiseArguments",
      "An expression of tensors alone, a text or a function of them; its tensors and numbers by name, with "
      "`out`.")
      .def(
          "__init__",
          [](Elementwise* self, const nb::object& expression, const nb::kwargs& tensors) {
            new (self) Elementwise(expression, tensors);
          },
          nb::arg("expression"), nb::arg("tensors"),
          nb::sig("def __init__(self, expression: str | collections.abc.Callable[..., object], /, **tensors: "
                  "object) -> None"))
      .def_prop_ro("expression", &Elementwise::expression, nb::sig("def expression(self) -> str"),
                   "The expression as text.");
  nb::class_<Reorder, OperationArguments>(module, "ReorderArguments",
                                          "to = from: a copy from one layout to another.")
      .def(nb::init<nb::handle, nb::handle>(), nb::arg("from_").none(), nb::arg("to").none(),
           nb::sig("def __init__(self, from_: object, to: object) -> None"));
}

}  // namespace

Epilogue standard_epilogue(OperationArguments& arguments, const PythonEpilogue& given) {
  Epilogue epilogue;
  epilogue.alpha = scalar(arguments, given.alpha, "alpha");
  epilogue.beta = scalar(arguments, given.beta, "beta");
  epilogue.activation = given.activation;
  epilogue.leaky_slope = given.leaky_slope;
  epilogue.bias = arguments.keep_if(given.bias, "bias");
  epilogue.bias_axis = given.bias_axis;
  epilogue.scale = arguments.keep_if(given.scale, "scale");
  epilogue.scale_axis = given.scale_axis;
  epilogue.residual = arguments.keep_if(given.residual, "residual");
  epilogue.aux = arguments.keep_if(given.aux, "aux", true);
  epilogue.clamp = given.clamp;
  return epilogue;
}

const OperationArguments& arguments_of(nb::handle object, const char* name) {
  const OperationArguments* arguments = nullptr;
  if (nb::try_cast(object, arguments) && arguments != nullptr) return *arguments;
  const std::string found = nb::cast<std::string>(nb::str(object.type().attr("__name__")));
  throw nb::type_error(
      (std::string(name) + ": expected arguments of an operation, such as GemmArguments, got " + found)
          .c_str());
}

nb::object OperationArguments::owner(std::string_view name) const {
  for (const auto& [known, held] : held_) {
    if (known == name) return held.owner;
  }
  return nb::none();
}

Memory OperationArguments::memory() const {
  for (const auto& [name, held] : held_) {
    if (held.view.data != nullptr) return held.view.memory;
  }
  return {};
}

bool OperationArguments::has_torch() const {
  return std::ranges::any_of(held_, [](const auto& each) {
    const nb::object module = nb::getattr(each.second.owner.type(), "__module__", nb::none());
    return nb::isinstance<nb::str>(module) && nb::cast<std::string>(module).starts_with("torch");
  });
}

TensorView OperationArguments::keep(nb::handle tensor, const char* name, bool written) {
  held_.emplace_back(name, hold(tensor, name, written));
  return held_.back().second.view;
}

std::optional<TensorView> OperationArguments::keep_if(nb::handle tensor, const char* name, bool written) {
  if (!tensor.is_valid() || tensor.is_none()) return std::nullopt;
  return keep(tensor, name, written);
}

void OperationArguments::check_written(std::string_view name) const {
  for (const auto& [known, held] : held_) {
    if (known == name) hold(held.owner, known.c_str(), true);
  }
}

void bind_arguments(nb::module_& module) {
  bind_controls(module);
  nb::class_<OperationArguments>(
      module, "Arguments", "Arguments of one operation. They keep their tensors alive and copy nothing.");
  bind_gemm(module);
  bind_grouped(module);
  bind_gemm_list(module);
  bind_convolution(module);
  bind_others(module);
}

}  // namespace quarry::python
