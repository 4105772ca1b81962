/// Plans. The library's own take pointers alone of each run; these also compare what the pointers stand for.
#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "others_go_on.hpp"
#include "workspace.hpp"

namespace quarry::python {
namespace {

/// A tensor that a plan was made for.
struct PlannedTensor {
  std::string name;
  TensorView view;
  /// Of alpha and beta, which each run of the plan reads where they were; otherwise nothing.
  nb::object owner;
};

/// A plan, with what its runs must agree with.
struct PythonPlan {
  Plan plan;
  Operation operation;
  std::vector<PlannedTensor> tensors;
};

bool is_scalar(const std::string& name) { return name == "alpha" || name == "beta"; }

[[noreturn]] void refuse_tensor(const std::string& name, const std::string& why) {
  throw nb::value_error((name + ": " + why).c_str());
}

/// "3x4 of f32 with strides 4, 1"
std::string described(const TensorView& view) {
  std::string extents, strides;
  for (std::size_t i = 0; i < view.rank; ++i) {
    extents += (i > 0 ? "x" : "") + std::to_string(view.extents[i]);
    strides += (i > 0 ? ", " : "") + std::to_string(view.strides[i]);
  }
  return extents + " of " + std::string(to_string(view.dtype)) + " with strides " + strides;
}

/// Whether both lead to elements in the same way. Strides of extents up to 1 lead nowhere.
bool is_like(const TensorView& a, const TensorView& b) {
  if (a.dtype != b.dtype || a.rank != b.rank || a.tag != b.tag || a.is_pointer_array != b.is_pointer_array)
    return false;
  for (std::size_t i = 0; i < a.rank; ++i) {
    if (a.extents[i] != b.extents[i]) return false;
    if (a.extents[i] > 1 && a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

void check_tensor(const PlannedTensor& planned, const std::string& name, const TensorView& view) {
  if (!is_like(planned.view, view)) {
    refuse_tensor(name,
                  "the plan was made for " + described(planned.view) + ", and this is " + described(view));
  }
  if (planned.view.is_pointer_array && view.assumed_alignment < planned.view.assumed_alignment)
    refuse_tensor(name, "the plan was made for addresses of a greater alignment");
  if (is_scalar(name) && view.data != planned.view.data)
    refuse_tensor(name, "a plan reads the tensor that it was made with: give that one");
}

/// Raises ValueError, with the name, unless the arguments have the tensors that the plan was made for.
void check_tensors(const PythonPlan& plan, const OperationArguments& arguments) {
  const auto& given = arguments.held();
  for (std::size_t i = 0; i < given.size() || i < plan.tensors.size(); ++i) {
    if (i == given.size())
      refuse_tensor(plan.tensors[i].name, "the plan was made with it: expected a tensor");
    const auto& [name, held] = given[i];
    if (i == plan.tensors.size() || plan.tensors[i].name != name) {
      refuse_tensor(name, "expected the tensors that the plan was made with, in the same order, and " +
                              (i < plan.tensors.size() ? "here `" + plan.tensors[i].name + "`" : "no more"));
    }
    check_tensor(plan.tensors[i], name, held.view);
  }
}

void run_plan(const PythonPlan& self, const OperationArguments& arguments, nb::handle stream,
              nb::handle workspace) {
  const quarry::Arguments given = arguments.get();
  if (given.operation() == self.operation) check_tensors(self, arguments);  // otherwise the run says it
  CUstream_st* const on = stream_of(stream);
  const RunWorkspace memory(workspace, self.plan.workspace_size(), arguments, on);
  Status status;
  {
    const OthersGoOn others_go_on;
    status = self.plan.run(given, on, memory.get());
  }
  check(status);
}

PythonPlan prepare(const Kernel& kernel, const OperationArguments& arguments, const Artifact* artifact) {
  Result<Plan> made = [&] {
    const OthersGoOn others_go_on;
    return kernel.prepare(arguments.get(), {.artifact = artifact});
  }();
  PythonPlan plan{value_of(std::move(made)), arguments.get().operation(), {}};
  for (const auto& [name, held] : arguments.held())
    plan.tensors.push_back({name, held.view, is_scalar(name) ? held.owner : nb::object()});
  return plan;
}

}  // namespace

void bind_plans(nb::module_& module, nb::class_<Kernel>& kernel) {
  nb::class_<PythonPlan>(
      module, "Plan", "A kernel prepared for one set of shapes, strides and epilogue. A run only launches.")
      .def("run", &run_plan, nb::arg("args"), nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("workspace") = nb::none(),
           nb::sig(
               "def run(self, args: Arguments, *, stream: object = None, workspace: object = None) -> None"),
           "Runs with the tensors of `args`: as many as in those of the plan, of the same types, shapes and "
           "strides; ValueError otherwise.\nAll else stays as it was prepared: numbers, the expression, "
           "controls, tensors of alpha and beta. `workspace` as in Kernel.run.")
      .def_prop_ro(
          "workspace_size", [](const PythonPlan& self) { return self.plan.workspace_size(); },
          "Bytes of workspace that each run needs.");
  kernel.def("prepare", &prepare, nb::arg("args"), nb::arg("compiled_artifact") = nb::none(),
             "A plan for these shapes, strides and epilogue.");
}

}  // namespace quarry::python
