#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <string>
#include <vector>

#include "bindings.hpp"

namespace quarry::python {
namespace {

nb::bytes bytes_of(const Artifact& artifact) {
  const std::vector<std::byte> data = artifact.serialize();
  return nb::bytes(data.data(), data.size());
}

Artifact from_bytes(const nb::bytes& data) {
  return value_of(Artifact::deserialize(std::as_bytes(std::span(data.c_str(), data.size()))));
}

}  // namespace

void bind_artifacts(nb::module_& module) {
  nb::class_<Artifact>(module, "Artifact", "Machine code of one kernel for one target. It can be pickled.")
      .def("__repr__",
           [](const Artifact& self) {
             return "<Artifact of " + std::string(self.entry()) + " for " + std::to_string(self.target()) +
                    ">";
           })
      .def("__getstate__", &bytes_of)
      .def("__setstate__",
           [](Artifact& self, const nb::bytes& data) { new (&self) Artifact(from_bytes(data)); })
      .def("serialize", &bytes_of, "The artifact as bytes that another process can load, on any machine.")
      .def_static("deserialize", &from_bytes, nb::arg("data"),
                  "The artifact from such bytes; Error for damaged ones and those of another version.")
      .def_prop_ro(
          "entry", [](const Artifact& self) { return text(self.entry()); },
          "The name of the function in the code.")
      .def_prop_ro("target", &Artifact::target, "Compute capability of the machine code.")
      .def_prop_ro(
          "origin", [](const Artifact& self) { return text(to_string(self.origin())); },
          "\"precompiled\", \"compiled\", \"cached\" or \"loaded\".")
      .def_prop_ro("compiler", [](const Artifact& self) { return text(self.compiler()); })
      .def_prop_ro(
          "registers", [](const Artifact& self) { return self.resources().registers; },
          "Of a thread; 0: not known.")
      .def_prop_ro("code_bytes", [](const Artifact& self) { return self.resources().code_bytes; });

  module.def(
      "write_pack",
      [](const std::vector<Artifact>& artifacts, nb::handle path) {
        check(write_pack(artifacts, path_of(path)));
      },
      nb::arg("artifacts"), nb::arg("path"),
      nb::sig("def write_pack(artifacts: collections.abc.Sequence[Artifact], path: str | bytes | "
              "os.PathLike[str]) "
              "-> None"),
      "Writes artifacts into one file, which other processes load with load_pack.");
  module.def(
      "load_pack", [](nb::handle path) { check(load_pack(path_of(path))); }, nb::arg("path"),
      nb::sig("def load_pack(path: str | bytes | os.PathLike[str]) -> None"),
      "Adds all artifacts of a pack to this process, or none.");
}

}  // namespace quarry::python
