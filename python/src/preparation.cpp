// What makes later calls fast: tuning tables, the cache on disk, and kernels that are made ready before the
// first request.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "filter.hpp"
#include "others_go_on.hpp"

namespace quarry::python {
namespace {

std::size_t changes_of_tuning = 0;

TuningSummary load(nb::handle path) {
  const std::string file = path_of(path);
  ++changes_of_tuning;
  return value_of(load_tuning(file));
}

void forget_tuning() {
  ++changes_of_tuning;
  clear_tuning();
}

std::size_t empty_cache() {
  Result<std::size_t> removed = [] {
    const OthersGoOn others_go_on;
    return clear_cache();
  }();
  return value_of(std::move(removed));
}

/// A callable of Python that is told the progress. What it raises is kept, and it is not called again.
class PythonProgress {
 public:
  explicit PythonProgress(nb::handle callable) : callable_(callable) {}
  void tell(std::size_t done, std::size_t total) {
    const nb::gil_scoped_acquire held;
    if (raised_) return;
    try {
      callable_(done, total);
    } catch (...) {
      raised_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  nb::handle callable_;
  std::exception_ptr raised_;
};

WarmUpReport make_ready(const nb::iterable& problems, nb::handle metadata_filter, std::optional<int> cc,
                        std::optional<int> device, int threads, nb::handle progress,
                        std::optional<std::size_t> max_workspace, bool batch_invariant) {
  std::vector<nb::object> owners;  // which keep the tensors alive
  std::vector<quarry::Arguments> arguments;
  for (const nb::handle problem : problems) {
    arguments.push_back(arguments_of(problem, "problems").get());
    owners.push_back(nb::borrow(problem));
  }
  PythonFilter filter(metadata_filter);
  PythonProgress told(progress);
  WarmUpOptions options = {.device = device.value_or(-1), .threads = threads};
  if (!progress.is_none())
    options.progress = [&told](std::size_t done, std::size_t total) { told.tell(done, total); };
  const FindOptions find = {.max_workspace = max_workspace.value_or(std::numeric_limits<std::size_t>::max()),
                            .device = cc ? &model_of(*cc) : nullptr,
                            .batch_invariant = batch_invariant};
  WarmUpReport report = [&] {
    const OthersGoOn others_go_on;
    return warm_up(arguments, options, filter.get(), find);
  }();
  filter.rethrow();
  told.rethrow();
  return report;
}

nb::list failures(const WarmUpReport& report) {
  nb::list list;
  for (const WarmUpFailure& failure : report.failures)
    list.append(nb::make_tuple(failure.problem, failure.kernel, failure.status));
  return list;
}

void bind_tuning(nb::module_& module) {
  nb::class_<TuningSummary>(
      module, "TuningSummary",
      "What is in a tuning table: counts of the measurements that this process can use, and of the "
      "others by the reason.")
      .def("__repr__",
           [](const TuningSummary& self) {
             return "<" + std::to_string(self.usable) + " usable measurements>";
           })
      .def_ro("usable", &TuningSummary::usable)
      .def_ro("other_sources", &TuningSummary::other_sources)
      .def_ro("other_devices", &TuningSummary::other_devices)
      .def_ro("unknown_kernels", &TuningSummary::unknown_kernels)
      .def_ro("future_lines", &TuningSummary::future_lines)
      .def_ro("damaged_lines", &TuningSummary::damaged_lines)
      .def_ro("from_index", &TuningSummary::from_index)
      .def_prop_ro("skipped", &TuningSummary::skipped, "Measurements that are not usable.");
  module.def(
      "load_tuning", &load, nb::arg("path"),
      nb::sig("def load_tuning(path: str | bytes | os.PathLike[str]) -> TuningSummary"),
      "Adds a tuning table to those of this process: kernels that it measured for a problem come first.");
  module.def("clear_tuning", &forget_tuning, "Forgets all tuning tables, also those of the environment.");
}

void bind_cache(nb::module_& module) {
  nb::class_<CacheInfo>(module, "CacheInfo", "The cache of compiled kernels on disk.")
      .def_ro("folder", &CacheInfo::folder, "Empty without a cache.")
      .def_ro("usable", &CacheInfo::usable, "True, or false with an `error`.")
      .def_ro("bytes", &CacheInfo::bytes)
      .def_ro("limit", &CacheInfo::limit, "Bytes; 0: the cache is off.")
      .def_ro("entries", &CacheInfo::entries)
      .def_ro("set_aside", &CacheInfo::set_aside, "Damaged entries that were moved out of use.");
  module.def("cache_info", &cache_info,
             "The cache that the environment variables selected at its first use.");
  module.def("clear_cache", &empty_cache, "Removes all entries of the cache and returns how many.");
}

void bind_warm_up(nb::module_& module) {
  nb::class_<WarmUpReport>(module, "WarmUpReport", "What became of the kernels that problems need.")
      .def("__repr__",
           [](const WarmUpReport& self) {
             return "<" + std::to_string(self.ready()) + " ready, " + std::to_string(self.failures.size()) +
                    " failures>";
           })
      .def_ro("precompiled", &WarmUpReport::precompiled, "In the library, a pack, or in memory already.")
      .def_ro("cached", &WarmUpReport::cached, "From the cache on disk.")
      .def_ro("compiled", &WarmUpReport::compiled, "Compiled now.")
      .def_prop_ro("ready", &WarmUpReport::ready, "All of these.")
      .def_prop_ro(
          "failures", &failures, nb::sig("def failures(self) -> list[tuple[int, str, Status]]"),
          "What failed: the place of the first problem that needs it, the kernel (empty if none takes the "
          "problem), and why.");
  module.def(
      "warm_up", &make_ready, nb::arg("problems"), nb::arg("metadata_filter") = nb::none(),
      nb::arg("cc") = nb::none(), nb::kw_only(), nb::arg("device") = nb::none(), nb::arg("threads") = 0,
      nb::arg("progress") = nb::none(), nb::arg("max_workspace") = nb::none(),
      nb::arg("batch_invariant") = false,
      nb::sig(
          "def warm_up(problems: collections.abc.Iterable[Arguments], metadata_filter: str | "
          "collections.abc.Callable[[KernelMetadata], bool] | None = None, cc: int | None = None, *, device: "
          "int | None = None, threads: int = 0, progress: collections.abc.Callable[[int, int], object] | "
          "None = None, max_workspace: int | None = None, batch_invariant: bool = False) -> WarmUpReport"),
      "Finds the first choice for each problem, and compiles what these need into the cache on disk, on all "
      "processors (or\n`threads`). With a `device`, it also loads them there, so that first runs do neither. "
      "Fake tensors are fine.\n`progress(done, total)` is called as it goes on. `max_workspace` and "
      "`batch_invariant` are as in get_kernels, for all problems.");
}

}  // namespace

std::size_t tuning_changes() { return changes_of_tuning; }

void bind_preparation(nb::module_& module) {
  bind_tuning(module);
  bind_cache(module);
  bind_warm_up(module);
}

}  // namespace quarry::python
