#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "filter.hpp"

namespace quarry::python {
namespace {

/// Options that are about a problem: without one they would be ignored.
void refuse_options(std::optional<std::size_t> max_workspace, bool explain, bool batch_invariant) {
  const auto refuse = [](const char* name) {
    throw nb::value_error((std::string(name) + ": it is about a problem, and needs `args`").c_str());
  };
  if (max_workspace) refuse("max_workspace");
  if (explain) refuse("explain");
  if (batch_invariant) refuse("batch_invariant");
}

/// All kernels, or those for `cc`, that pass the filter. The first parameter is always None: the other
/// overloads of get_kernels take the arguments of a problem there.
nb::list list_all(nb::handle, nb::handle metadata_filter, std::optional<int> cc,
                  std::optional<std::size_t> limit, std::optional<std::size_t> max_workspace,
                  bool precompiled_only, bool explain, bool batch_invariant) {
  refuse_options(max_workspace, explain, batch_invariant);
  PythonFilter filter(metadata_filter);
  std::vector<Kernel> kernels = get_kernels(filter.get());
  filter.rethrow();
  const auto runs_on = [](const KernelMetadata& kernel, int target) {
    return kernel.cc <= target && target <= kernel.max_cc.value_or(target);
  };
  const int code_for = cc.value_or(default_device_model().cc);
  std::erase_if(kernels, [&](const Kernel& k) {
    return (cc && !runs_on(k.metadata(), *cc)) || (precompiled_only && !k.precompiled(code_for));
  });
  nb::list list;
  const std::size_t count = std::min(limit.value_or(kernels.size()), kernels.size());
  for (std::size_t i = 0; i < count; ++i) list.append(nb::cast(kernels[i]));
  return list;
}

/// The kernels for a problem.
nb::object find(nb::handle arguments, nb::handle metadata_filter, std::optional<int> cc,
                std::optional<std::size_t> limit, std::optional<std::size_t> max_workspace,
                bool precompiled_only, bool explain, bool batch_invariant) {
  PythonFilter filter(metadata_filter);
  const OperationArguments& asked = arguments_of(arguments);
  const AskedOfArguments question = {cc, limit, max_workspace, batch_invariant, tuning_changes()};
  const bool is_memorable = metadata_filter.is_none() && !precompiled_only && !explain;
  if (is_memorable) {
    if (nb::object known = asked.recall(question); known.is_valid()) return known;
  }
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  const FindOptions options = {
      .limit = limit.value_or(all),
      .max_workspace = max_workspace.value_or(all),
      .availability = precompiled_only ? Availability::precompiled : Availability::any,
      .explain = explain,
      .device = cc ? &model_of(*cc) : nullptr,
      .batch_invariant = batch_invariant};
  CandidateList list = get_kernels(asked.get(), filter.get(), options);
  filter.rethrow();
  if (list.status().code() == StatusCode::invalid_arguments) raise(list.status());
  nb::object answer = nb::cast(std::move(list));
  if (is_memorable) asked.remember(question, answer);
  return answer;
}

Candidate element(const CandidateList& list, Py_ssize_t index) {
  const auto size = static_cast<Py_ssize_t>(list.size());
  const Py_ssize_t place = index < 0 ? index + size : index;
  if (place < 0 || place >= size) {
    const std::string message = !list.status() ? list.status().message()
                                               : "there is no index " + std::to_string(index) +
                                                     " in a list of " + std::to_string(size) + " kernels";
    throw nb::index_error(message.c_str());
  }
  return list[static_cast<std::size_t>(place)];
}

nb::list elements(const CandidateList& list, const nb::slice& slice) {
  const auto [start, stop, step, count] = slice.compute(list.size());
  nb::list part;
  Py_ssize_t at = start;
  for (std::size_t i = 0; i < count; ++i, at += step)
    part.append(nb::cast(list[static_cast<std::size_t>(at)]));
  return part;
}

nb::list rejections(const CandidateList& list) {
  nb::list counts;
  for (const Rejection& rejection : list.rejections())
    counts.append(nb::make_tuple(rejection.reason, rejection.kernels));
  return counts;
}

/// (type, K) pairs as maps.
std::vector<ExplorerMap> maps_of(const nb::iterable& pairs) {
  std::vector<ExplorerMap> maps;
  for (const nb::handle pair : pairs) {
    std::pair<nb::object, std::int64_t> given;
    if (!nb::try_cast(pair, given))
      throw nb::type_error(("maps: expected pairs (type, K), got " + class_name(pair)).c_str());
    const auto& [type, k] = given;
    if (k < 1) throw nb::value_error(("maps: expected a K of 1 or more, got " + std::to_string(k)).c_str());
    maps.push_back({dtype_of(type), k});
  }
  return maps;
}

/// A line of such a file.
ExplorerTime time_of(const nb::object& line) {
  ExplorerTime time;
  const auto take = [&line](const char* name, auto& into) {
    const nb::object value = nb::object(line.attr("get")(name));
    return nb::try_cast(value, into);
  };
  if (!nb::isinstance<nb::dict>(line) || !take("command", time.problem) || !take("kernel", time.kernel) ||
      !take("measured_us", time.measured_us)) {
    throw nb::value_error("times: expected lines of JSON with `command`, `kernel` and `measured_us`");
  }
  take("predicted_us", time.predicted_us);
  return time;
}

/// A pathlib.Path of what names a file: bytes, too.
nb::object as_path(nb::handle path) {
  const nb::object text = nb::module_::import_("os").attr("fsdecode")(path);
  return nb::module_::import_("pathlib").attr("Path")(text);
}

/// The lines of a file that `quarry bench --dump-times` wrote.
std::vector<ExplorerTime> times_of(nb::handle path) {
  std::vector<ExplorerTime> times;
  if (path.is_none()) return times;
  const nb::object file = as_path(path);
  const nb::object loads = nb::module_::import_("json").attr("loads");
  for (const nb::handle line : nb::object(file.attr("read_text")("utf-8").attr("splitlines")())) {
    if (nb::len(line.attr("strip")()) == 0) continue;
    times.push_back(time_of(loads(line)));
  }
  return times;
}

std::string explorer(nb::handle path, nb::handle metadata_filter, const nb::iterable& maps,
                     nb::handle times) {
  PythonFilter filter(metadata_filter);
  const std::vector<Kernel> kernels = get_kernels(filter.get());
  filter.rethrow();
  std::string page = explorer_page(kernels, {.maps = maps_of(maps), .times = times_of(times)});
  if (!path.is_none()) as_path(path).attr("write_bytes")(nb::bytes(page.data(), page.size()));
  return page;
}

Status cc_supported(const nb::iterable& ccs) {
  std::vector<int> wanted;
  for (const nb::handle cc : ccs) {
    int number = 0;
    if (!nb::try_cast(cc, number))
      throw nb::type_error(("ccs: expected whole numbers, got " + class_name(cc)).c_str());
    wanted.push_back(number);
  }
  const Result<DeviceModel> device = device_model(0);
  if (!device) return device.status();
  if (std::ranges::find(wanted, device->cc) != wanted.end()) return {};
  return {StatusCode::unsupported, "device 0 has compute capability " + std::to_string(device->cc)};
}

nb::list all_of(const CandidateList& list) {
  nb::list all;
  for (const Candidate& candidate : list) all.append(nb::cast(candidate));
  return all;
}

/// What makes a class a sequence beside its length and elements: as of a list of the same elements.
template <class Class>
void bind_sequence(Class& list) {
  list.def(
          "__iter__", [](const CandidateList& self) { return nb::iter(all_of(self)); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[Candidate]"))
      .def(
          "__reversed__",
          [](const CandidateList& self) { return nb::object(all_of(self).attr("__reversed__")()); },
          nb::sig("def __reversed__(self) -> collections.abc.Iterator[Candidate]"))
      .def(
          "__contains__",
          [](const CandidateList& self, nb::handle value) {
            return nb::cast<bool>(all_of(self).attr("__contains__")(value));
          },
          nb::arg("value").none(), nb::sig("def __contains__(self, value: object) -> bool"))
      .def(
          "index",
          [](const CandidateList& self, nb::handle value, Py_ssize_t start, Py_ssize_t stop) {
            return nb::object(all_of(self).attr("index")(value, start, stop));
          },
          nb::arg("value").none(), nb::arg("start") = 0, nb::arg("stop") = PY_SSIZE_T_MAX,
          nb::sig("def index(self, value: object, start: int = 0, stop: int = ...) -> int"))
      .def(
          "count",
          [](const CandidateList& self, nb::handle value) {
            return nb::object(all_of(self).attr("count")(value));
          },
          nb::arg("value").none(), nb::sig("def count(self, value: object) -> int"));
  nb::module_::import_("collections.abc").attr("Sequence").attr("register")(list);
}

void bind_candidates(nb::module_& module) {
  nb::class_<CandidateList> list(module, "Candidates",
                                 nb::sig("class Candidates(collections.abc.Sequence[Candidate])"),
                                 "The kernels that solve a problem, best first: a sequence of Candidate.");
  bind_sequence(list);
  list.def("__len__", &CandidateList::size)
      .def("__getitem__", &element, nb::arg("index"))
      .def("__getitem__", &elements, nb::arg("part"),
           nb::sig("def __getitem__(self, part: slice) -> list[Candidate]"))
      .def("__repr__",
           [](const CandidateList& self) { return "<" + std::to_string(self.size()) + " candidates>"; })
      .def_prop_ro(
          "status", [](const CandidateList& self) { return self.status(); }, "Why the list is empty.")
      .def_prop_ro("matched", &CandidateList::matched,
                   "Kernels that match, including those beyond the limit.")
      .def_prop_ro("rejections", &rejections, nb::sig("def rejections(self) -> list[tuple[str, int]]"),
                   "With explain: reasons, and how many kernels each rejected.");
}

void bind_queries(nb::module_& module) {
  module.def(
      "get_kernels", &find, nb::arg("args"), nb::arg("metadata_filter") = nb::none(),
      nb::arg("cc") = nb::none(), nb::kw_only(), nb::arg("limit") = nb::none(),
      nb::arg("max_workspace") = nb::none(), nb::arg("precompiled_only") = false, nb::arg("explain") = false,
      nb::arg("batch_invariant") = false,
      nb::sig("def get_kernels(args: Arguments, metadata_filter: str | "
              "collections.abc.Callable[[KernelMetadata], bool] | None = None, "
              "cc: int | None = None, *, limit: int | None = None, max_workspace: int | None = None, "
              "precompiled_only: bool = "
              "False, explain: bool = False, batch_invariant: bool = False) -> Candidates"),
      "Kernels that solve a problem, best first; without arguments all kernels, in the registry's order.\n\n"
      "`metadata_filter` is a text of the filter language or a predicate on KernelMetadata. `cc` is the "
      "compute capability to\n"
      "rank for, by default that of the tensors' device. `limit` is how many to return at most, "
      "`max_workspace` how many bytes they\n"
      "may need. `precompiled_only`: those that need no compiler. `explain` counts the rejected ones by "
      "reason.\n"
      "`batch_invariant` asks for kernels that give a row of A the same bits in problems that differ in M "
      "alone.\n"
      "Error for arguments that no kernel could take. Without arguments, `max_workspace`, `explain` and "
      "`batch_invariant` raise\n"
      "ValueError.");
  module.def("get_kernels", &list_all, nb::arg("args").none() = nb::none(),
             nb::arg("metadata_filter") = nb::none(), nb::arg("cc") = nb::none(), nb::kw_only(),
             nb::arg("limit") = nb::none(), nb::arg("max_workspace") = nb::none(),
             nb::arg("precompiled_only") = false, nb::arg("explain") = false,
             nb::arg("batch_invariant") = false,
             nb::sig("def get_kernels(args: None = None, metadata_filter: str | "
                     "collections.abc.Callable[[KernelMetadata], bool] | None = None, "
                     "cc: int | None = None, *, limit: int | None = None, precompiled_only: bool = False) -> "
                     "list[Kernel]"));
}

}  // namespace

const DeviceModel& model_of(int cc) {
  if (default_device_model().cc == cc) return default_device_model();
  for (const DeviceModel& model : device_models()) {
    if (model.cc == cc) return model;
  }
  throw nb::value_error(
      ("cc: no device model of compute capability " + std::to_string(cc) + "; there are models of 80 and 90")
          .c_str());
}

void bind_registry(nb::module_& module) {
  bind_candidates(module);
  bind_queries(module);
  module.def(
      "find_kernel", [](std::string_view name) { return value_of(find_kernel(name)); }, nb::arg("name"),
      "The kernel of this name; Error with the nearest names otherwise.");
  module.def(
      "make_kernel", [](std::string_view config) { return value_of(make_kernel(config)); }, nb::arg("config"),
      "A kernel from a name or a config as JSON, registered or not.");
  module.def(
      "explorer", &explorer, nb::arg("path") = nb::none(), nb::arg("metadata_filter") = nb::none(),
      nb::arg("maps") = nb::make_tuple(nb::make_tuple("bf16", 4096)), nb::arg("times") = nb::none(),
      nb::sig("def explorer(path: str | bytes | os.PathLike[str] | None = None, metadata_filter: str | "
              "collections.abc.Callable[[KernelMetadata], bool] | None = None, maps: "
              "collections.abc.Iterable[tuple[object, int]] = (('bf16', 4096),), times: str | bytes | "
              "os.PathLike[str] | None = None) -> str"),
      "One HTML page of all kernels, or of those that pass the filter, to look through in a browser; "
      "it needs "
      "no network.\n"
      "Written to `path` where one is given. `maps`: the types and K of GEMMs of which it shows the "
      "kernels that are chosen\n"
      "over M and N. `times`: a file that `quarry bench --dump-times` wrote.");
  module.def("is_device_cc_supported", &cc_supported, nb::arg("ccs"),
             nb::sig("def is_device_cc_supported(ccs: collections.abc.Iterable[int]) -> Status"),
             "Whether device 0 has one of these compute capabilities.");
}

}  // namespace quarry::python
