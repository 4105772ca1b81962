#include "bindings.hpp"

namespace quarry::python {
namespace {

void make_pool(MemoryPool* self, std::size_t initial_bytes, std::size_t max_bytes, int device) {
  new (self) MemoryPool(value_of(MemoryPool::create({device, initial_bytes, max_bytes})));
}

template <std::size_t MemoryPoolUse::*bytes>
std::size_t use(const MemoryPool& self) {
  return value_of(self.use()).*bytes;
}

}  // namespace

void bind_memory_pool(nb::module_& module) {
  nb::class_<MemoryPool>(module, "MemoryPool",
                         "A pool of the CUDA driver for the workspaces of runs: `kernel.run(args, "
                         "workspace=pool)`. Memory is taken and given\n"
                         "back in the order of the run's stream, so nothing waits for the device.")
      .def("__init__", &make_pool, nb::arg("initial_bytes") = 0, nb::arg("max_bytes") = 0, nb::kw_only(),
           nb::arg("device") = 0,
           "`initial_bytes` are taken from the device at once; `max_bytes` are the most, 0: as many as the "
           "device has.")
      .def_prop_ro("device", &MemoryPool::device)
      .def_prop_ro("used_bytes", &use<&MemoryPoolUse::used>, "Bytes of workspaces that are not freed.")
      .def_prop_ro("peak_used_bytes", &use<&MemoryPoolUse::peak_used>)
      .def_prop_ro("reserved_bytes", &use<&MemoryPoolUse::reserved>, "Bytes taken from the device.")
      .def_prop_ro("peak_reserved_bytes", &use<&MemoryPoolUse::peak_reserved>)
      .def(
          "reset_peaks", [](const MemoryPool& self) { check(self.reset_peaks()); },
          "The peaks begin again at what is used now.")
      .def(
          "trim", [](const MemoryPool& self, std::size_t keep) { check(self.trim(keep)); },
          nb::arg("keep_bytes") = 0,
          "Returns memory that no run uses to the device, until no more than `keep_bytes` are left. Memory "
          "of "
          "runs that have not\n"
          "ended stays: synchronise before.");
}

}  // namespace quarry::python
