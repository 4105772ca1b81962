#include "bindings.hpp"
#include "others_go_on.hpp"
#include "quarry/version.hpp"

NB_MODULE(_quarry, module) {
  using namespace quarry::python;
  watch_the_end();
  nb::set_leak_warnings(false);  // threads that run on while Python ends keep what they hold
  module.doc() = "The registry of GPU kernels; use it as the package quarry.";
  module.attr("__version__") = QUARRY_VERSION;
  bind_status(module);
  bind_types(module);
  bind_tensors(module);
  bind_layouts(module);
  bind_metadata(module);
  bind_expressions(module);
  bind_epilogue(module);
  bind_arguments(module);
  bind_artifacts(module);
  bind_memory_pool(module);
  bind_kernels(module);
  bind_on_device(module);
  bind_registry(module);
  bind_preparation(module);
}
