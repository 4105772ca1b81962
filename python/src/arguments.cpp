#include "arguments.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <string>

namespace quarry::python {
namespace {

/// The parts of an epilogue as Python gave them; the tensors become views with the arguments.
struct PythonEpilogue {
  nb::object alpha, beta, c, bias, scale, residual, aux;
  Activation activation = Activation::identity;
  float leaky_slope = 0.01F;
  BiasAxis bias_axis = BiasAxis::column;
  BiasAxis scale_axis = BiasAxis::column;
  Clamp clamp = {};
};

BiasAxis axis_of(std::string_view word, const char* name) {
  if (word == "row") return BiasAxis::row;
  if (word == "column") return BiasAxis::column;
  throw nb::value_error(
      (std::string(name) + ": expected \"row\" or \"column\", got \"" + std::string(word) + "\"").c_str());
}

Clamp clamp_of(nb::handle bounds) {
  Clamp clamp;
  if (bounds.is_none()) return clamp;
  if (!nb::isinstance<nb::sequence>(bounds) || nb::len(bounds) != 2)
    throw nb::type_error("clamp: expected a pair (low, high)");
  const nb::object low = bounds[0];
  const nb::object high = bounds[1];
  if (!low.is_none()) clamp.low = nb::cast<double>(low);
  if (!high.is_none()) clamp.high = nb::cast<double>(high);
  return clamp;
}

template <class T>
std::optional<T> parsed(const std::optional<std::string>& word, Result<T> (*parse)(std::string_view)) {
  if (!word) return std::nullopt;
  return value_of(parse(*word));
}

class Gemm final : public OperationArguments {
 public:
  Gemm(nb::handle a, nb::handle b, nb::handle out, nb::handle accumulator, const PythonEpilogue* epilogue,
       const Controls* controls, std::string_view math) {
    arguments_.a = keep(a, "A");
    arguments_.b = keep(b, "B");
    arguments_.out = keep(out, "out", true);
    if (!accumulator.is_none()) arguments_.accumulator = dtype_of(accumulator);
    if (epilogue != nullptr) {
      arguments_.c = keep_if(epilogue->c, "C");
      arguments_.epilogue = standard(*epilogue);
    }
    if (controls != nullptr) arguments_.controls = *controls;
    arguments_.math = value_of(parse_math(math));
  }
  quarry::Arguments get() const override { return arguments_; }

 protected:
  GemmArguments arguments_;

 private:
  Epilogue standard(const PythonEpilogue& given);
  Scalar scalar(nb::handle value, const char* name);
};

/// alpha or beta: a number, or a tensor of one element that a run reads.
Scalar Gemm::scalar(nb::handle value, const char* name) {
  if (nb::isinstance<nb::float_>(value) || nb::isinstance<nb::int_>(value)) return nb::cast<double>(value);
  const TensorView view = keep(value, name);
  for (int i = 0; i < view.rank; ++i) {
    if (view.extents[static_cast<std::size_t>(i)] != 1)
      throw nb::value_error((std::string(name) + ": expected a number or a tensor of one element").c_str());
  }
  if (view.data == nullptr)
    throw nb::value_error((std::string(name) + ": a fake tensor has no value").c_str());
  return Scalar::at(view.data);
}

Epilogue Gemm::standard(const PythonEpilogue& given) {
  Epilogue epilogue;
  epilogue.alpha = scalar(given.alpha, "alpha");
  epilogue.beta = scalar(given.beta, "beta");
  epilogue.activation = given.activation;
  epilogue.leaky_slope = given.leaky_slope;
  epilogue.bias = keep_if(given.bias, "bias");
  epilogue.bias_axis = given.bias_axis;
  epilogue.scale = keep_if(given.scale, "scale");
  epilogue.scale_axis = given.scale_axis;
  epilogue.residual = keep_if(given.residual, "residual");
  epilogue.aux = keep_if(given.aux, "aux", true);
  epilogue.clamp = given.clamp;
  return epilogue;
}

class Reorder final : public OperationArguments {
 public:
  Reorder(nb::handle from, nb::handle to)
      : arguments_{.from = keep(from, "from"), .to = keep(to, "to", true)} {}
  quarry::Arguments get() const override { return arguments_; }

 private:
  ReorderArguments arguments_;
};

void bind_epilogue(nb::module_& module) {
  nb::class_<PythonEpilogue>(
      module, "EpilogueArguments",
      "z = alpha * scale * (A x B) + beta * C + bias; out = clamp(activation(z) + residual); aux = z.\n\n"
      "alpha and beta are numbers, or tensors of one element that a run reads. bias and scale are vectors "
      "along an\n"
      "axis (\"row\": a value for each row). clamp is a pair (low, high), None for no bound.")
      .def(
          "__init__",
          [](PythonEpilogue* self, nb::object alpha, nb::object beta, nb::object C,
             std::string_view activation, float leaky_slope, nb::object bias, std::string_view bias_axis,
             nb::object scale, std::string_view scale_axis, nb::object residual, nb::object aux,
             nb::handle clamp) {
            const Activation function = value_of(parse_activation(activation));
            const BiasAxis along_bias = axis_of(bias_axis, "bias_axis");
            const BiasAxis along_scale = axis_of(scale_axis, "scale_axis");
            const Clamp bounds = clamp_of(clamp);
            new (self) PythonEpilogue{std::move(alpha), std::move(beta),     std::move(C),   std::move(bias),
                                      std::move(scale), std::move(residual), std::move(aux), function,
                                      leaky_slope,      along_bias,          along_scale,    bounds};
          },
          nb::arg("alpha") = 1.0, nb::arg("beta") = 0.0, nb::kw_only(), nb::arg("C") = nb::none(),
          nb::arg("activation") = "identity", nb::arg("leaky_slope") = 0.01F, nb::arg("bias") = nb::none(),
          nb::arg("bias_axis") = "column", nb::arg("scale") = nb::none(), nb::arg("scale_axis") = "column",
          nb::arg("residual") = nb::none(), nb::arg("aux") = nb::none(), nb::arg("clamp") = nb::none());
}

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

}  // namespace

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

TensorView OperationArguments::keep(nb::handle tensor, const char* name, bool written) {
  held_.emplace_back(name, hold(tensor, name, written));
  return held_.back().second.view;
}

std::optional<TensorView> OperationArguments::keep_if(nb::handle tensor, const char* name, bool written) {
  if (!tensor.is_valid() || tensor.is_none()) return std::nullopt;
  return keep(tensor, name, written);
}

void bind_arguments(nb::module_& module) {
  bind_epilogue(module);
  bind_controls(module);
  nb::class_<OperationArguments>(
      module, "Arguments", "Arguments of one operation. They keep their tensors alive and copy nothing.");
  nb::class_<Gemm, OperationArguments>(
      module, "GemmArguments",
      "out (M x N) = epilogue(A (M x K) times B (K x N)); of rank 3, with a batch L in front.")
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, const PythonEpilogue*, const Controls*,
                    std::string_view>(),
           nb::arg("A").none(), nb::arg("B").none(), nb::arg("out").none(),
           nb::arg("accumulator_type") = nb::none(), nb::arg("epilogue") = nb::none(),
           nb::arg("performance") = nb::none(), nb::arg("math") = "exact",
           nb::sig("def __init__(self, A: object, B: object, out: object, accumulator_type: object = None, "
                   "epilogue: EpilogueArguments | "
                   "None = None, performance: Controls | None = None, math: str = 'exact') -> None"))
      .def_prop_ro(
          "A", [](const Gemm& self) { return self.owner("A"); }, nb::sig("def A(self) -> object"))
      .def_prop_ro(
          "B", [](const Gemm& self) { return self.owner("B"); }, nb::sig("def B(self) -> object"))
      .def_prop_ro(
          "out", [](const Gemm& self) { return self.owner("out"); }, nb::sig("def out(self) -> object"));
  nb::class_<Reorder, OperationArguments>(module, "ReorderArguments",
                                          "to = from: a copy from one layout to another.")
      .def(nb::init<nb::handle, nb::handle>(), nb::arg("from_").none(), nb::arg("to").none(),
           nb::sig("def __init__(self, from_: object, to: object) -> None"));
}

}  // namespace quarry::python
