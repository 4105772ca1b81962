#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <string>

#include "arguments.hpp"
#include "workspace.hpp"

namespace quarry::python {
namespace {

/// Bytes that a run needs where the caller gave no tensor; 0 where the run itself will say what is wrong.
std::size_t needed(const Kernel& kernel, const OperationArguments& arguments, nb::handle workspace) {
  const bool is_wanted = workspace.is_none() || nb::isinstance<MemoryPool>(workspace);
  return is_wanted ? kernel.workspace_size(arguments.get()).value_or(0) : 0;
}

void run(const Kernel& kernel, const OperationArguments& arguments, const Artifact* artifact,
         nb::handle stream, nb::handle workspace, bool assume_supported, bool compile) {
  CUstream_st* const on = stream_of(stream);
  const RunWorkspace memory(workspace, needed(kernel, arguments, workspace), arguments, on);
  const RunOptions options = {.stream = on,
                              .workspace = memory.get(),
                              .artifact = artifact,
                              .assume_supported = assume_supported,
                              .compile = compile};
  Status status;
  {
    const nb::gil_scoped_release others_go_on;
    status = kernel.run(arguments.get(), options);
  }
  check(status);
}

Artifact compile(const Kernel& kernel, nb::handle, int target, std::string_view backend, bool force) {
  const CompileOptions options = {
      .target = target, .backend = value_of(parse_compiler_backend(backend)), .force = force};
  const nb::gil_scoped_release others_go_on;
  Result<Artifact> artifact = kernel.compile(options);
  if (!artifact) {
    const nb::gil_scoped_acquire back;
    raise(artifact.status());
  }
  return *std::move(artifact);
}

}  // namespace

void bind_kernels(nb::module_& module) {
  nb::class_<Kernel> kernel(module, "Kernel", "One kernel of the registry.");
  bind_plans(module, kernel);
  kernel.def("__repr__", [](const Kernel& self) { return "<Kernel " + std::string(self.name()) + ">"; })
      .def(
          "__eq__",
          [](const Kernel& self, nb::handle other) {
            return nb::isinstance<Kernel>(other) && nb::cast<const Kernel&>(other) == self;
          },
          nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__", [](const Kernel& self) { return nb::hash(text(self.name())); })
      .def(
          "__reduce__",
          [](const Kernel& self) {
            const nb::object make = nb::module_::import_("quarry._pickling").attr("kernel");
            return nb::make_tuple(make, nb::make_tuple(text(self.name())));
          },
          nb::sig("def __reduce__(self) -> tuple[object, ...]"))
      .def_prop_ro("name", [](const Kernel& self) { return text(self.name()); })
      .def_prop_ro("metadata", &Kernel::metadata, nb::rv_policy::reference)
      .def_prop_ro("controls", &Kernel::controls)
      .def("precompiled", nb::overload_cast<int>(&Kernel::precompiled, nb::const_), nb::arg("cc"),
           "Whether this process has machine code of the kernel for `cc` (80, 90).")
      .def(
          "supports",
          [](const Kernel& self, const OperationArguments& arguments) {
            return self.supports(arguments.get());
          },
          nb::arg("args"), "Whether this kernel takes these arguments: false with an `error` otherwise.")
      .def(
          "get_workspace_size",
          [](const Kernel& self, const OperationArguments& arguments) {
            return value_of(self.workspace_size(arguments.get()));
          },
          nb::arg("args"), "Bytes of workspace that a run needs.")
      .def("compile", &compile, nb::arg("args") = nb::none(), nb::kw_only(), nb::arg("cc") = 0,
           nb::arg("backend") = "automatic", nb::arg("force") = false,
           nb::sig("def compile(self, args: Arguments | None = None, *, cc: int = 0, backend: str = "
                   "'automatic', force: bool = False) -> "
                   "Artifact"),
           "Machine code for compute capability `cc`; 0: that of the default device. `args` are not needed.")
      .def("run", &run, nb::arg("args"), nb::arg("compiled_artifact") = nb::none(), nb::kw_only(),
           nb::arg("stream") = nb::none(), nb::arg("workspace") = nb::none(),
           nb::arg("assume_supported_args") = false, nb::arg("compile") = true,
           nb::sig("def run(self, args: Arguments, compiled_artifact: Artifact | None = None, *, stream: "
                   "object = None, workspace: object "
                   "= None, assume_supported_args: bool = False, compile: bool = True) -> None"),
           "Runs where the tensors lie: on their device, or on the host executor for host tensors. "
           "`workspace` is a "
           "packed tensor or a\n"
           "MemoryPool. Without it, a run that needs memory takes some from torch's allocator if operands "
           "are tensors of torch, else "
           "it makes\nits own.");

  nb::class_<Candidate, Kernel>(module, "Candidate",
                                "A kernel that solves a problem, with the controls chosen for it.")
      .def(
          "__reduce__",
          [](const Candidate&) -> nb::tuple {
            throw nb::type_error(
                "a candidate belongs to its problem: pickle quarry.find_kernel(candidate.name)");
          },
          nb::sig("def __reduce__(self) -> tuple[object, ...]"))
      .def_prop_ro("predicted_seconds", &Candidate::predicted_seconds, "By the ranking's estimate.")
      .def_prop_ro("workspace_size", &Candidate::workspace,
                   "Bytes of workspace for the problem of the query.");
}

}  // namespace quarry::python
