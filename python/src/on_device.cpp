/// quarry.on_device: runs on a device with tensors in host memory.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "others_go_on.hpp"
#include "workspace.hpp"

namespace quarry::python {
namespace {

/// Memory of torch for tensors of torch, otherwise of a pool that is made when it is needed.
class TorchOrPool final : public DeviceAllocator {
 public:
  explicit TorchOrPool(int device) : device_(device) {}

  /// For which tensors memory is taken from now on.
  void set_torch(bool is_torch) { is_torch_ = is_torch; }

  /// Called without the lock of the interpreter.
  Result<std::shared_ptr<void>> allocate(std::size_t bytes, CUstream_st* stream) override {
    return is_torch_ ? from_torch(bytes, stream) : from_pool(bytes, stream);
  }

 private:
  Result<std::shared_ptr<void>> from_torch(std::size_t bytes, CUstream_st* stream) const {
    const nb::gil_scoped_acquire lock;
    try {
      return std::shared_ptr<void>(allocate_from_torch(bytes, device_, stream), [](void* memory) {
        const nb::gil_scoped_acquire lock;
        free_of_torch(memory);
      });
    } catch (const nb::python_error& error) {
      return Status(StatusCode::device_error,
                    std::string("Cannot allocate memory of torch: ") + error.what());
    }
  }

  Result<std::shared_ptr<void>> from_pool(std::size_t bytes, CUstream_st* stream) {
    const std::lock_guard lock(mutex_);
    if (!pool_) {
      Result<MemoryPool> pool = MemoryPool::create({.device = device_});
      if (!pool) return pool.status();
      pool_ = *std::move(pool);
    }
    Result<PooledWorkspace> memory = pool_->workspace(bytes, stream);
    if (!memory) return memory.status();
    const auto owner = std::make_shared<PooledWorkspace>(*std::move(memory));
    return std::shared_ptr<void>(owner, owner->data());
  }

  int device_;
  std::atomic<bool> is_torch_ = false;
  std::mutex mutex_;
  std::optional<MemoryPool> pool_;
};

/// Whether torch has memory on devices.
bool has_torch_memory() {
  return nb::cast<bool>(nb::module_::import_("torch").attr("cuda").attr("is_available")());
}

/// An OnDevice, with what must outlive its work.
class PythonOnDevice {
 public:
  PythonOnDevice(nb::handle device, nb::handle pool, nb::handle stream, std::size_t staging_bytes)
      : pool_(nb::borrow(pool)), stream_(nb::borrow(stream)), device_(made(device, staging_bytes)) {}
  ~PythonOnDevice() { close(); }
  PythonOnDevice(PythonOnDevice&&) = default;

  void run(nb::handle args, const Kernel* kernel, const Artifact* artifact, bool assume_supported,
           bool compile) {
    const OperationArguments& arguments = arguments_of(args);
    if (allocator_ != nullptr) allocator_->set_torch(arguments.has_torch() && has_torch_memory());
    const RunOptions options = {
        .artifact = artifact, .assume_supported = assume_supported, .compile = compile};
    const Status status = unlocked([&] {
      return kernel != nullptr ? device_.run(*kernel, arguments.get(), options)
                               : device_.run(arguments.get(), options);
    });
    check(status);
    kept_.add(nb::borrow(args));
  }

  void sync() {
    const Status status = unlocked([&] { return device_.sync(); });
    if (pending() == 0) kept_.clear();
    check(status);
  }

  void close() {
    {
      const OthersGoOn others_go_on;
      device_.close();
    }
    if (kept_.is_valid()) kept_.clear();
  }

  bool is_closed() const {
    const OthersGoOn others_go_on;
    return device_.is_closed();
  }
  std::size_t pending() const {
    const OthersGoOn others_go_on;
    return device_.pending();
  }
  std::uintptr_t stream() const {
    const OthersGoOn others_go_on;
    return reinterpret_cast<std::uintptr_t>(device_.stream());
  }
  /// None: host memory.
  std::optional<int> ordinal() const { return ordinal_; }

 private:
  /// Calls without the lock of the interpreter: a call may wait for another thread that needs it for torch.
  template <class Call>
  static Status unlocked(const Call& call) {
    const OthersGoOn others_go_on;
    return call();
  }

  OnDevice made(nb::handle device, std::size_t staging_bytes) {
    if (nb::isinstance<nb::str>(device) && nb::cast<std::string>(device) == "host") {
      if (!pool_.is_none()) throw nb::value_error("pool: copies in host memory use none");
      if (!stream_.is_none()) throw nb::value_error("stream: copies in host memory use none");
      return value_of(OnDevice::in_host_memory(staging_bytes));
    }
    if (!nb::isinstance<nb::int_>(device) || nb::isinstance<nb::bool_>(device))
      throw nb::type_error("device: expected the number of a CUDA device, or \"host\"");
    ordinal_ = nb::cast<int>(device);
    const MemoryPool* pool = nullptr;
    if (!pool_.is_none() && !nb::try_cast(pool_, pool))
      throw nb::type_error("pool: expected a MemoryPool or None");
    if (pool == nullptr) allocator_ = std::make_shared<TorchOrPool>(*ordinal_);
    return value_of(OnDevice::create({.device = *ordinal_,
                                      .stream = stream_of(stream_),
                                      .pool = pool,
                                      .allocator = allocator_,
                                      .staging_bytes = staging_bytes}));
  }

  nb::object pool_;
  nb::object stream_;
  std::optional<int> ordinal_;
  std::shared_ptr<TorchOrPool> allocator_;
  nb::set kept_;  ///< arguments of runs whose outputs have not come back
  OnDevice device_;
};

/// The end of a `with`: outputs come back unless it is left by an exception.
void leave(PythonOnDevice& self, nb::handle kind) {
  struct Closing {
    PythonOnDevice& self;
    ~Closing() { self.close(); }
  } const closing{self};
  if (kind.is_none() && !self.is_closed()) self.sync();
}

}  // namespace

void bind_on_device(nb::module_& module) {
  nb::class_<PythonOnDevice>(
      module, "OnDevice",
      "Runs kernels on a device for tensors in host memory; made by `quarry.on_device`.\n\n"
      "In a `with` block, the outputs come back at its end; after an exception they do not.")
      .def("run", &PythonOnDevice::run, nb::arg("args"), nb::arg("kernel") = nb::none(),
           nb::arg("compiled_artifact") = nb::none(), nb::kw_only(), nb::arg("assume_supported_args") = false,
           nb::arg("compile") = true,
           nb::sig("def run(self, args: Arguments, kernel: Kernel | None = None, compiled_artifact: Artifact "
                   "| None = None, *, assume_supported_args: bool = False, compile: bool = True) -> None"),
           "Copies the inputs of `args` to the device and runs the kernel there, by default the best one.\n"
           "Inputs may change when it returns. Outputs are written by `sync`; a later run may read them "
           "before.")
      .def("sync", &PythonOnDevice::sync,
           "Waits for all runs, and writes their outputs to the tensors in host memory.")
      .def("close", &PythonOnDevice::close,
           "Waits for all runs, drops outputs that were not synchronised, and frees all memory.")
      .def_prop_ro("device", &PythonOnDevice::ordinal, "The number of the device; None: host memory.")
      .def_prop_ro("stream", &PythonOnDevice::stream, "The handle of the stream of copies and kernels.")
      .def_prop_ro("pending", &PythonOnDevice::pending, "Outputs that have not come back.")
      .def_prop_ro("closed", &PythonOnDevice::is_closed)
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> OnDevice"))
      .def(
          "__exit__",
          [](PythonOnDevice& self, nb::handle kind, nb::handle, nb::handle) { leave(self, kind); },
          nb::arg("kind").none(), nb::arg("error").none(), nb::arg("traceback").none(),
          nb::sig("def __exit__(self, kind: object, error: object, traceback: object) -> None"));
  module.def(
      "on_device",
      [](nb::handle device, nb::handle pool, nb::handle stream, std::size_t staging_bytes) {
        return PythonOnDevice(device, pool, stream, staging_bytes);
      },
      nb::arg("device").none() = 0, nb::kw_only(), nb::arg("pool") = nb::none(),
      nb::arg("stream") = nb::none(), nb::arg("staging_bytes") = std::size_t{32} << 20,
      nb::sig("def on_device(device: int | str = 0, *, pool: MemoryPool | None = None, stream: object = "
              "None, staging_bytes: int = 33554432) -> OnDevice"),
      "Runs on a device with tensors in host memory.\n\n"
      "`device` is the number of a CUDA device; \"host\" tries a program without one: copies lie in host "
      "memory, and the host\n"
      "executor computes. Device memory comes from `pool`; without it, from torch's allocator for tensors of "
      "torch, otherwise\n"
      "from a pool of its own. `stream` is as in Kernel.run, by default a stream of its own. Copies go "
      "through at most\n"
      "`staging_bytes` of page-locked memory.");
}

}  // namespace quarry::python
