#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "others_go_on.hpp"
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
    const OthersGoOn others_go_on;
    status = kernel.run(arguments.get(), options);
  }
  check(status);
}

/// The code of a kernel with the expression of the arguments compiled in.
Result<Artifact> compile_with(const Kernel& kernel, const quarry::Arguments& arguments,
                              const CompileOptions& options) {
  std::vector<Result<Artifact>> made = compile_for_pack({&kernel, 1}, {&arguments, 1}, options);
  return std::move(made.front());  // behind it: the entries that follow the kernel
}

/// The code that a run of these arguments launches; null: of the kernel as it is.
Result<Artifact> compile_for(const Kernel& kernel, const OperationArguments* arguments,
                             const CompileOptions& options) {
  if (arguments == nullptr) return kernel.compile(options);
  if (arguments->expression() != nullptr) return compile_with(kernel, arguments->get(), options);
  if (Status s = kernel.supports(arguments->get()); !s) return s;
  return kernel.compile(options);
}

Artifact compile(const Kernel& kernel, const OperationArguments* arguments, int target,
                 std::string_view backend, bool force) {
  const CompileOptions options = {
      .target = target, .backend = choice_of(parse_compiler_backend(backend), "backend"), .force = force};
  Result<Artifact> artifact = [&] {
    const OthersGoOn others_go_on;
    return compile_for(kernel, arguments, options);
  }();
  return value_of(std::move(artifact));
}

}  // namespace

void bind_kernels(nb::module_& module) {
  nb::class_<Kernel> kernel(module, "Kernel", "One kernel of the registry.");
  bind_plans(module, kernel);
  bind_account(module, kernel);
  kernel.def("__repr__", [](const Kernel& self) { return "<Kernel " + std::string(self.name()) + ">"; })
      .def(
          "__eq__",
          [](const Kernel& self, nb::handle other) {
            return nb::isinstance<Kernel>(other) && nb::cast<const Kernel&>(other) == self;
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object) -> bool"))
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
      .def(
          "precompiled",
          [](const Kernel& self, int cc, const OperationArguments* arguments) {
            return arguments != nullptr ? self.precompiled(cc, arguments->get()) : self.precompiled(cc);
          },
          nb::arg("cc"), nb::arg("args") = nb::none(),
          nb::sig("def precompiled(self, cc: int, args: Arguments | None = None) -> bool"),
          "Whether this process has machine code of the kernel for `cc` (80, 90); with `args`, of the kernel "
          "with their expression.")
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
           "Machine code for compute capability `cc`; 0: that of the default device. With `args`, the code "
           "that "
           "their run launches:\nan expression is compiled in. Fake tensors are fine.")
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
      .def_prop_ro("measured_seconds", &Candidate::measured_seconds,
                   "As a tuning table says, if this candidate was chosen by that measurement; else None.")
      .def_prop_ro("workspace_size", &Candidate::workspace,
                   "Bytes of workspace for the problem of the query.");
}

}  // namespace quarry::python
