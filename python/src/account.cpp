/// Why a kernel is predicted to be as fast as it is, and kernels for other runtimes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <string>

#include "arguments.hpp"
#include "filter.hpp"
#include "others_go_on.hpp"

namespace quarry::python {
namespace {

Account account(const Kernel& kernel, const OperationArguments& arguments, std::optional<int> cc) {
  return value_of(account_of(kernel, arguments.get(), {.device = cc ? &model_of(*cc) : nullptr}));
}

nb::dict parts(const Account& account) {
  nb::dict seconds;
  for (int part = 0; part < time_part_count; ++part) {
    const auto each = static_cast<TimePart>(part);
    seconds[text(to_string(each))] = account[each];
  }
  return seconds;
}

/// Of a kernel as it is, with an expression, or for one problem.
void write_export(const Kernel& kernel, nb::handle path, const OperationArguments* arguments,
                  bool for_this_problem, int target, const std::string& name) {
  const std::string folder = path_of(path);
  const ExportOptions options = {.compile = {.target = target}, .name = name};
  if (arguments == nullptr && (for_this_problem || !name.empty()))
    throw nb::value_error("args: expected those of the problem, which is exported under the name");
  Status status;
  {
    const OthersGoOn others_go_on;
    if (arguments == nullptr) {
      status = export_kernel(kernel, folder, options.compile);
    } else if (for_this_problem) {
      status = export_plan(kernel, arguments->get(), folder, options);
    } else {
      status = export_kernel(kernel, arguments->get(), folder, options);
    }
  }
  check(status);
}

}  // namespace

void bind_account(nb::module_& module, nb::class_<Kernel>& kernel) {
  nb::class_<Account>(
      module, "Account",
      "What the ranking expects of a kernel for a problem. Parts of the time overlap, so that "
      "their sum is more than the whole.")
      .def("__repr__",
           [](const Account& self) {
             return "<Account: " + std::to_string(self.seconds * 1e6) + " us, bound by " +
                    std::string(to_string(self.limit())) + ">";
           })
      .def_ro("seconds", &Account::seconds, "Predicted for all parts together.")
      .def_prop_ro("parts", &parts, nb::sig("def parts(self) -> dict[str, float]"),
                   "Seconds of each part alone, by its name.")
      .def_prop_ro(
          "limit", [](const Account& self) { return text(to_string(self.limit())); },
          nb::sig("def limit(self) -> str"), "The name of the longest part.")
      .def_ro("operations", &Account::operations, "Operations on elements that the problem needs.")
      .def_ro("bytes", &Account::bytes, "Of the operands, each counted once.")
      .def_ro("waves", &Account::waves, "How many times the blocks fill the device.");
  kernel.def("account", &account, nb::arg("args"), nb::arg("cc") = nb::none(),
             nb::sig("def account(self, args: Arguments, cc: int | None = None) -> Account"),
             "Why this kernel is predicted to be as fast as it is for a problem; `cc` as in get_kernels.");
  kernel.def(
      "export", &write_export, nb::arg("folder"), nb::arg("args") = nb::none(), nb::kw_only(),
      nb::arg("plan") = false, nb::arg("cc") = 0, nb::arg("name") = "",
      nb::sig(
          "def export(self, folder: str | bytes | os.PathLike[str], args: Arguments | None = None, *, plan: "
          "bool = False, cc: int = 0, name: str = '') -> None"),
      "Writes the machine code for `cc`, and a header for programs in C, into a folder. With `args`, "
      "their expression is compiled in;\nwith plan=True it is for exactly this problem. `name` is that "
      "of the files of an export with `args`.");
}

}  // namespace quarry::python
