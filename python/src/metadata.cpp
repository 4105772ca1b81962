#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>
#include <variant>

#include "bindings.hpp"

namespace quarry::python {
namespace {

// The parts of metadata that tell their kind apart by their class, as callers ask with isinstance.
struct SimtDesign : DesignMetadata {};
struct Sm80Design : DesignMetadata {};
struct Sm90Design : DesignMetadata {};
struct GemmOperands : OperandsMetadata {};

using Shape3 = std::tuple<int, int, int>;
Shape3 shape(const Extent3& extent) { return {extent.m, extent.n, extent.k}; }

template <class Word>
nb::object word_or_none(const std::optional<Word>& word) {
  return word ? nb::object(text(to_string(*word))) : nb::none();
}

nb::object design_of(const KernelMetadata& kernel) {
  if (kernel.family.ends_with("_sm90")) return nb::cast(Sm90Design{kernel.design});
  if (kernel.family.ends_with("_sm80")) return nb::cast(Sm80Design{kernel.design});
  if (kernel.family.ends_with("_simt")) return nb::cast(SimtDesign{kernel.design});
  return nb::cast(kernel.design);
}

nb::object operands_of(const KernelMetadata& kernel) {
  if (kernel.operation == Operation::gemm) return nb::cast(GemmOperands{kernel.operands});
  return nb::cast(kernel.operands);
}

nb::object operand_or_none(const OperandMetadata& operand) {
  return operand.dtype == DType::none ? nb::none() : nb::cast(operand);
}

nb::object python_value(const FieldValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return nb::bool_(*flag);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return nb::int_(*number);
  if (const auto* word = std::get_if<std::string_view>(&value)) return text(*word);
  return nb::none();
}

void bind_operands(nb::module_& module) {
  nb::class_<OperandMetadata>(module, "OperandMetadata", "One matrix operand of a kernel.")
      .def_prop_ro("dtype", [](const OperandMetadata& self) { return ElementType{self.dtype}; })
      .def_prop_ro(
          "layout", [](const OperandMetadata& self) { return text(to_string(self.layout)); },
          "\"row\", \"column\", ...")
      .def_ro("alignment", &OperandMetadata::alignment,
              "Elements that pointer, leading dimension and batch stride must be multiples of.");
  nb::class_<OperandsMetadata>(module, "OperandsMetadata",
                               "The operands of a kernel; None for those that it lacks.")
      .def_prop_ro(
          "A", [](const OperandsMetadata& self) { return operand_or_none(self.a); },
          nb::sig("def A(self) -> OperandMetadata | None"))
      .def_prop_ro(
          "B", [](const OperandsMetadata& self) { return operand_or_none(self.b); },
          nb::sig("def B(self) -> OperandMetadata | None"))
      .def_prop_ro(
          "C", [](const OperandsMetadata& self) { return operand_or_none(self.c); },
          nb::sig("def C(self) -> OperandMetadata | None"))
      .def_prop_ro(
          "out", [](const OperandsMetadata& self) { return operand_or_none(self.out); },
          nb::sig("def out(self) -> OperandMetadata | None"))
      .def_prop_ro(
          "accumulator_type", [](const OperandsMetadata& self) { return ElementType{self.accumulator}; },
          "Type that products, or partial sums, are added in; its name is \"none\" where nothing is added.");
  nb::class_<GemmOperands, OperandsMetadata>(module, "GemmOperandsMetadata", "The operands of a GEMM.");
}

void bind_design(nb::module_& module) {
  nb::class_<DesignMetadata>(
      module, "DesignMetadata",
      "How a kernel is built. Attributes that do not apply to the kernel's family are None,\n"
      "except tile_shape (0, 0, 0), math (\"exact\") and math_unit (\"simt\").\nThe fields of these, such as "
      "metadata[\"tile.m\"], are None.")
      .def_prop_ro(
          "tile_shape", [](const DesignMetadata& self) { return shape(self.tile); },
          "Output tile of a block (M, N), and the K extent of a pipeline stage.")
      .def_prop_ro("warps",
                   [](const DesignMetadata& self) {
                     return self.warps ? std::optional(shape(*self.warps)) : std::nullopt;
                   })
      .def_ro("stages", &DesignMetadata::stages)
      .def_prop_ro(
          "cluster_shape",
          [](const DesignMetadata& self) {
            return self.cluster ? std::optional(Shape3{self.cluster->m, self.cluster->n, 1}) : std::nullopt;
          })
      .def_prop_ro(
          "schedule", [](const DesignMetadata& self) { return word_or_none(self.schedule); },
          nb::sig("def schedule(self) -> str | None"))
      .def_prop_ro(
          "copy_engine", [](const DesignMetadata& self) { return word_or_none(self.copy_engine); },
          nb::sig("def copy_engine(self) -> str | None"))
      .def_prop_ro(
          "orientation", [](const DesignMetadata& self) { return word_or_none(self.orientation); },
          nb::sig("def orientation(self) -> str | None"))
      .def_ro("reorders", &DesignMetadata::reorders,
              "Whether operands are copied to another layout in the workspace first, and the output back.")
      .def_prop_ro("instruction_shape",
                   [](const DesignMetadata& self) {
                     return self.instruction ? std::optional(shape(*self.instruction)) : std::nullopt;
                   })
      .def_prop_ro("math", [](const DesignMetadata& self) { return text(to_string(self.math)); })
      .def_prop_ro("math_unit", [](const DesignMetadata& self) { return text(to_string(self.math_unit)); })
      .def_ro("threads", &DesignMetadata::threads, "Threads of a block.")
      .def_ro("shared_memory", &DesignMetadata::shared_memory, "Bytes of dynamic shared memory of a block.");
  nb::class_<SimtDesign, DesignMetadata>(module, "SimtDesignMetadata",
                                         "The design of a kernel without tensor cores.");
  nb::class_<Sm80Design, DesignMetadata>(module, "Sm80DesignMetadata",
                                         "The design of a kernel of mma.sync and cp.async.");
  nb::class_<Sm90Design, DesignMetadata>(module, "Sm90DesignMetadata", "The design of a kernel of wgmma.");
}

void bind_parts(nb::module_& module) {
  nb::class_<EpilogueMetadata>(module, "EpilogueMetadata", "What the epilogue of a kernel can do.")
      .def_ro("activation", &EpilogueMetadata::activation)
      .def_ro("bias", &EpilogueMetadata::bias)
      .def_ro("scale", &EpilogueMetadata::scale)
      .def_ro("residual", &EpilogueMetadata::residual)
      .def_ro("aux", &EpilogueMetadata::aux)
      .def_ro("clamp", &EpilogueMetadata::clamp)
      .def_ro("fast_clamp", &EpilogueMetadata::fast_clamp);
  nb::class_<ModesMetadata>(module, "ModesMetadata", "The modes that a kernel permits.")
      .def_ro("split_k_serial", &ModesMetadata::split_k_serial)
      .def_ro("split_k_parallel", &ModesMetadata::split_k_parallel)
      .def_ro("split_k_cluster", &ModesMetadata::split_k_cluster)
      .def_ro("stream_k", &ModesMetadata::stream_k)
      .def_ro("batched", &ModesMetadata::batched)
      .def_ro("array", &ModesMetadata::array);
}

}  // namespace

void bind_metadata(nb::module_& module) {
  bind_operands(module);
  bind_design(module);
  bind_parts(module);
  nb::class_<KernelMetadata>(module, "KernelMetadata",
                             "Everything that is known about a kernel before it is compiled.")
      .def("__repr__",
           [](const KernelMetadata& self) { return "<KernelMetadata of " + std::string(self.name) + ">"; })
      .def(
          "__reduce__",
          [](const KernelMetadata& self) {
            const nb::object find = nb::module_::import_("quarry._pickling").attr("metadata");
            return nb::make_tuple(find, nb::make_tuple(text(self.name)));
          },
          nb::sig("def __reduce__(self) -> tuple[object, ...]"))
      .def(
          "__getitem__",
          [](const KernelMetadata& self, std::string_view path) {
            const Result<MetadataField> field = find_metadata_field(path);
            if (!field) throw nb::key_error(field.status().message().c_str());
            return python_value(field_value(*field, self));
          },
          nb::arg("field"), nb::sig("def __getitem__(self, field: str) -> int | bool | str | None"),
          "The value of a field, by its path of the filter language, such as \"tile.m\".")
      .def_prop_ro("kernel_name", [](const KernelMetadata& self) { return text(self.name); })
      .def_prop_ro(
          "kernel_class", [](const KernelMetadata& self) { return text(self.family); },
          "The family: \"gemm_sm90\", ...")
      .def_prop_ro("operation", [](const KernelMetadata& self) { return text(to_string(self.operation)); })
      .def_ro("min_cc", &KernelMetadata::cc, "Least compute capability, as 80 or 90.")
      .def_ro("max_cc", &KernelMetadata::max_cc, "Greatest compute capability; None: open.")
      .def_prop_ro("operands", operands_of, nb::sig("def operands(self) -> OperandsMetadata"))
      .def_prop_ro("design", design_of, nb::sig("def design(self) -> DesignMetadata"))
      .def_ro("epilogue", &KernelMetadata::epilogue)
      .def_ro("modes", &KernelMetadata::modes);
}

}  // namespace quarry::python
