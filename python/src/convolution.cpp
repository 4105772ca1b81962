#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "epilogue.hpp"
#include "expression.hpp"

namespace quarry::python {
namespace {

/// A number for each axis of an image, from one for both or a pair (height, width).
ImageAxes axes_of(nb::handle given, const char* name) {
  const auto number = [name](nb::handle value) {
    const std::optional<std::int64_t> whole = whole_number(value);
    if (!whole)
      throw nb::type_error(
          (std::string(name) + ": expected a whole number, or a pair of them (height, width)").c_str());
    return *whole;
  };
  if (!length_of(given) || nb::isinstance<nb::str>(given)) {
    const std::int64_t both = number(given);
    return {both, both};
  }
  if (nb::len(given) != 2)
    throw nb::value_error((std::string(name) + ": expected a pair (height, width), got " +
                           std::to_string(nb::len(given)) + " numbers")
                              .c_str());
  return {number(given[0]), number(given[1])};
}

/// How the window lies on the images, as Python gives it.
struct Windows {
  std::string_view direction;
  nb::handle padding, stride, dilation;
  std::int64_t groups;
  bool flips;
};

class Conv2d final : public OperationArguments {
 public:
  Conv2d(nb::handle a, nb::handle b, nb::handle out, nb::handle accumulator, nb::handle epilogue,
         const Windows& windows, std::string_view math, const Controls* controls) {
    if (controls != nullptr) arguments_.controls = *controls;
    arguments_.direction = choice_of(parse_direction(windows.direction), "direction");
    arguments_.a = keep(a, "A");
    arguments_.b = keep(b, "B");
    arguments_.out = keep(out, "out", true);
    arguments_.padding = axes_of(windows.padding, "padding");
    arguments_.stride = axes_of(windows.stride, "stride");
    arguments_.dilation = axes_of(windows.dilation, "dilation");
    arguments_.groups = windows.groups;
    arguments_.flips = windows.flips;
    if (!accumulator.is_none()) arguments_.accumulator = dtype_of(accumulator);
    arguments_.math = choice_of(parse_math(math), "math");
    take_epilogue(epilogue, out, *this, arguments_);
  }
  quarry::Arguments get() const override { return arguments_; }
  const Expression* expression() const override { return address_of(arguments_.expression); }

 private:
  Conv2dArguments arguments_;
};

void make_convolution(Conv2d* self, nb::handle a, nb::handle b, nb::handle out, nb::handle accumulator,
                      nb::handle epilogue, std::string_view direction, nb::handle padding, nb::handle stride,
                      nb::handle dilation, std::int64_t groups, bool flips, std::string_view math,
                      const Controls* controls) {
  new (self) Conv2d(a, b, out, accumulator, epilogue, {direction, padding, stride, dilation, groups, flips},
                    math, controls);
}

}  // namespace

void bind_convolution(nb::module_& module) {
  nb::class_<Conv2d, OperationArguments> convolution(
      module, "Conv2dArguments",
      "A convolution of images with filters, or one of its gradients. Activations x (N x H x W x C), filters "
      "w (K x R x S x C/groups),\n"
      "output y (N x P x Q x K), channels next to each other. `direction`:\n\n"
      "    \"fprop\"   A = x        B = w   out = y\n"
      "    \"dgrad\"   A = grad y   B = w   out = grad x\n"
      "    \"wgrad\"   A = grad y   B = x   out = grad w\n\n"
      "`padding`, `stride` and `dilation` are a number for both axes, or a pair (height, width). `flips`: "
      "the "
      "filters are turned by\n"
      "180 degrees; otherwise it is a cross-correlation. A tensor of torch with N x C x H x W in "
      "channels_last order is taken as\n"
      "`x.permute(0, 2, 3, 1)`.");
  convolution.def(
      "__init__", &make_convolution, nb::arg("A").none(), nb::arg("B").none(), nb::arg("out").none(),
      nb::arg("accumulator_type") = nb::none(), nb::arg("epilogue") = nb::none(), nb::kw_only(),
      nb::arg("direction") = "fprop", nb::arg("padding") = 0, nb::arg("stride") = 1, nb::arg("dilation") = 1,
      nb::arg("groups") = 1, nb::arg("flips") = false, nb::arg("math") = "exact",
      nb::arg("performance") = nb::none(),
      nb::sig("def __init__(self, A: object, B: object, out: object, accumulator_type: object = None, "
              "epilogue: EpilogueArguments | str | collections.abc.Callable[..., object] | None = None, *, "
              "direction: str = 'fprop', padding: int | "
              "tuple[int, int] = 0, stride: int | tuple[int, int] = 1, dilation: int | tuple[int, int] "
              "= 1, groups: int = 1, flips: bool = False, math: str = 'exact', "
              "performance: Controls | None = None) -> None"));
  bind_product(convolution);
}

}  // namespace quarry::python
