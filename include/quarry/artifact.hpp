/// Machine code of kernels: precompiled with the library, compiled when it is needed, or brought along.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry {

namespace detail {
struct ArtifactData;
}  // namespace detail

/// Who compiles.
enum class CompilerBackend : std::uint8_t {
  automatic,  ///< what the environment variable QUARRY_COMPILER says: nvrtc (also where it is not set), nvcc
              ///< or off
  nvrtc,      ///< NVRTC, opened when it is first needed: QUARRY_NVRTC, else the usual places
  nvcc,       ///< the nvcc on PATH, in CUDA_PATH, CUDA_HOME or /usr/local/cuda
};

/// The word for a backend, and back.
std::string_view to_string(CompilerBackend backend);
Result<CompilerBackend> parse_compiler_backend(std::string_view word);

/// Where an artifact came from.
enum class ArtifactOrigin : std::uint8_t {
  precompiled,  ///< in the library
  compiled,     ///< by this process
  cached,       ///< by an earlier process, from the cache on disk
  loaded,       ///< from bytes or a pack that the program gave
};
std::string_view to_string(ArtifactOrigin origin);

/// What the compiler said of a kernel's machine code.
struct CodeResources {
  int registers = 0;  ///< of a thread; 0: not known
  int spill_bytes = 0;
  int shared_memory = 0;       ///< bytes of a block, dynamic
  std::size_t code_bytes = 0;  ///< of the machine code
};

/// Machine code of one kernel for one target. Immutable; copies share the code, which lives as long as one of
/// them; safe from any number of threads.
class Artifact {
 public:
  /// Name of the kernel's entry, which is the function's name in the code. Kernels that are each other's
  /// transposition share one.
  std::string_view entry() const;
  /// Compute capability of the machine code (80, 90).
  int target() const;
  ArtifactOrigin origin() const;
  /// A cubin or a fatbin, as cuModuleLoadData and cudaLibraryLoadData take it. That of a precompiled kernel
  /// may hold others beside it.
  std::span<const std::byte> code() const;
  const CodeResources& resources() const;
  /// The compiler that made it, with its version ("nvrtc 13.0"); "" for precompiled code.
  std::string_view compiler() const;

  /// The artifact as bytes that another process can load, on any machine: format and library version, target,
  /// config, code, checksum.
  std::vector<std::byte> serialize() const;
  /// The artifact of such bytes. Fails with invalid_artifact, and says why, when they are damaged, cut short,
  /// or of another version of the library.
  static Result<Artifact> deserialize(std::span<const std::byte> bytes);

  /// For the library.
  explicit Artifact(std::shared_ptr<const detail::ArtifactData> data) : data_(std::move(data)) {}
  const detail::ArtifactData& data() const { return *data_; }
  const std::shared_ptr<const detail::ArtifactData>& shared_data() const { return data_; }

 private:
  std::shared_ptr<const detail::ArtifactData> data_;
};

struct CompileOptions {
  /// Compute capability to compile for (80, 86, 89, 90); 0: that of the default device model.
  int target = 0;
  CompilerBackend backend = CompilerBackend::automatic;
  /// Look for it in the cache on disk first, and leave it there.
  bool use_disk_cache = true;
  /// Compile although there is machine code already, precompiled or in a cache.
  bool force = false;
};

/// How far `compile` of many kernels is. Called from several threads, one at a time.
using CompileProgress = std::function<void(std::size_t done, std::size_t total, const Kernel& last)>;

/// Compiles many kernels at once, on `threads` threads (0: one a processor). Kernels that share an entry are
/// compiled once.
/// @return an artifact or a failure for each kernel, in their order
std::vector<Result<Artifact>> compile(std::span<const Kernel> kernels, const CompileOptions& options = {},
                                      const CompileProgress& progress = {}, int threads = 0);

/// Makes an artifact the machine code of its kernel in this process, unless it has some for the target
/// already. Fails with invalid_artifact where no kernel of this library (or made by make_kernel) has its
/// entry and config.
Status add_artifact(const Artifact& artifact);

}  // namespace quarry
