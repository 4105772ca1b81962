/// Machine code of kernels: precompiled with the library, compiled at run time, or loaded by the program.
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

class CandidateList;

namespace detail {
struct ArtifactData;
}  // namespace detail

/// The compiler.
enum class CompilerBackend : std::uint8_t {
  automatic,  ///< as the environment variable QUARRY_COMPILER says: nvrtc (the default), nvcc or off
  nvrtc,      ///< NVRTC from QUARRY_NVRTC or the usual places, opened on first use
  nvcc,       ///< the nvcc of QUARRY_NVCC, or one from the usual places
};

/// The word for a backend, and back.
std::string_view to_string(CompilerBackend backend);
Result<CompilerBackend> parse_compiler_backend(std::string_view word);

/// Where an artifact came from.
enum class ArtifactOrigin : std::uint8_t {
  precompiled,  ///< in the library
  compiled,     ///< compiled by this process
  cached,       ///< compiled by an earlier process, from the cache on disk
  loaded,       ///< from bytes or a pack that the program supplied
};
std::string_view to_string(ArtifactOrigin origin);

/// What the compiler reported about the machine code of a kernel.
struct CodeResources {
  int registers = 0;  ///< of a thread; 0: not known
  int spill_bytes = 0;
  int shared_memory = 0;       ///< bytes of a block, dynamic
  std::size_t code_bytes = 0;  ///< of the machine code
};

/// Machine code of one kernel for one target. Immutable. Copies share the code, which lives as long as one of
/// them. Safe from any number of threads.
class Artifact {
 public:
  /// Name of the entry, which is the name of the function in the code. Kernels that are each other's
  /// transposition share one.
  std::string_view entry() const;
  /// Compute capability of the machine code (80, 90).
  int target() const;
  ArtifactOrigin origin() const;
  /// A cubin or a fatbin, for cuModuleLoadData and cudaLibraryLoadData. The fatbin of a precompiled kernel
  /// may hold other kernels, too.
  std::span<const std::byte> code() const;
  const CodeResources& resources() const;
  /// The compiler that made it, with its version ("nvrtc 13.0"); "" for precompiled code.
  std::string_view compiler() const;

  /// The artifact as bytes that another process can load, on any machine: format and library version, target,
  /// config, code, checksum.
  std::vector<std::byte> serialize() const;
  /// The artifact from such bytes. Fails with invalid_artifact and the reason if they are damaged, cut short,
  /// or from another version of the library.
  static Result<Artifact> deserialize(std::span<const std::byte> bytes);

  /// For the library.
  explicit Artifact(std::shared_ptr<const detail::ArtifactData> data) : data_(std::move(data)) {}
  const detail::ArtifactData& data() const { return *data_; }
  const std::shared_ptr<const detail::ArtifactData>& shared_data() const { return data_; }

 private:
  std::shared_ptr<const detail::ArtifactData> data_;
};

struct CompileOptions {
  /// Compute capability to compile for (80, 86, 89, 90); 0: the capability of the default device model.
  int target = 0;
  CompilerBackend backend = CompilerBackend::automatic;
  /// Look in the cache on disk first, and store a new result there.
  bool use_disk_cache = true;
  /// Compile even if there is machine code already, precompiled or in a cache.
  bool force = false;
};

/// Reports the progress of `compile` for many kernels. Several threads call it, one at a time. If it throws,
/// no further kernel is begun, and `compile` throws that exception.
using CompileProgress = std::function<void(std::size_t done, std::size_t total, const Kernel& last)>;

/// Compiles many kernels at once, on `threads` threads (0: one for each processor). Kernels that share an
/// entry are compiled once. Safe from any thread.
///
/// @return an artifact or a failure for each kernel, in their order
std::vector<Result<Artifact>> compile(std::span<const Kernel> kernels, const CompileOptions& options = {},
                                      const CompileProgress& progress = {}, int threads = 0);

/// The same for the answer to a query, such as its first few candidates.
std::vector<Result<Artifact>> compile(const CandidateList& candidates, const CompileOptions& options = {},
                                      const CompileProgress& progress = {}, int threads = 0);

/// Makes an artifact the machine code of its kernel in this process, unless the kernel already has machine
/// code for the target. Fails with invalid_artifact if no kernel of this library (or made by make_kernel) has
/// its entry and config.
/// Safe from any thread, also while others query and run: a run takes either code.
Status add_artifact(const Artifact& artifact);

}  // namespace quarry
