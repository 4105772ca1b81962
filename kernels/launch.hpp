/// The device work of one run as data: steps, an image of their parameters, and what of it changes from run
/// to run. A family makes it; a device, the emulator and the host executor interpret it. Host only.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "arch/tensor_map.hpp"
#include "quarry/plan_operands.hpp"
#include "quarry/status.hpp"

namespace quarry {

namespace detail {
struct InternedExpression;  // operations/common/expression/interned.hpp
}

/// Blocks of a grid, along the one extent that is used, and entries of a counter are counted in 31 bits.
inline constexpr std::int64_t grid_limit = 0x7fffffff;

/// A few elements in place. Elements that were not added are not initialised, so that an empty list costs
/// nothing.
template <class T, int most>
struct FewOf {
  static_assert(std::is_trivially_copyable_v<T>);
  int count = 0;
  T at[most];

  /// Room for one more. @pre there are fewer than `most`
  T& add(const T& element) {
    assert(count < most);
    return at[count++] = element;
  }
  const T& operator[](int i) const { return at[i]; }
  T* begin() { return at; }
  T* end() { return at + count; }
  const T* begin() const { return at; }
  const T* end() const { return at + count; }
};

/// One piece of device work. Steps follow one another on a stream.
struct Step {
  enum class Kind : std::uint8_t {
    clear,   ///< writes zeros to a part of the workspace
    kernel,  ///< starts a kernel
  };
  Kind kind;
  /// Which kernel: 0 is the row's own entry, n its companion n - 1.
  std::uint8_t entry;
  /// Blocks of the kernel wait for each other.
  bool blocks_wait;
  /// Blocks walk over the work, so that any number of them does all of it.
  bool blocks_walk;
  /// The kernel itself waits for earlier work of the stream before it touches memory, so that it may be
  /// started while that work still runs.
  bool waits_for_earlier;
  /// Where its parameters lie in the image, and how many bytes they have.
  std::uint16_t at;
  std::uint16_t bytes;
  unsigned grid;
  unsigned threads;
  unsigned shared_memory;  ///< dynamic, of a block
  /// Blocks of a cluster; the grid is a multiple of it.
  unsigned cluster;
  /// The bytes of the workspace that a clear writes.
  std::size_t clear_at;
  std::size_t clear_bytes;
};

/// A place in the image that depends on where an operand lies.
struct Relocation {
  enum class Kind : std::uint8_t {
    pointer,  ///< the operand's address, and `offset` bytes
    map,      ///< a TensorMap over the operand, made of Launch::maps[map], from its `offset` on
  };
  Kind kind;
  /// The operand as the caller names it, or Operand::workspace.
  Operand source;
  std::uint16_t at;
  std::uint16_t map;
  std::size_t offset;
};

/// A part of the workspace.
struct WorkspacePart {
  std::string_view name;
  std::size_t offset;
  std::size_t bytes;
};

/// The device work of one run. No step: there is nothing to do. Filled in place by the functions below;
/// large, so that it is passed by reference, and no more of it is initialised or copied than is used.
struct Launch {
  static constexpr std::size_t most_image = 6144;

  FewOf<Step, 5> steps;
  FewOf<PlanOperandNeed, 24> uses;
  FewOf<Relocation, 64> relocations;
  /// Their `data` is what the operand was when the launch was made; see Relocation.
  FewOf<TensorMapFields, 6> maps;
  FewOf<WorkspacePart, 4> parts;
  /// Bytes of the workspace in all, which starts at a multiple of 256.
  std::size_t workspace_bytes = 0;
  std::size_t image_bytes = 0;
  /// One of the entries has this expression compiled in; null: none has. It lives to the end of the process.
  const detail::InternedExpression* expression = nullptr;
  /// Which one, as Step::entry counts them. Its steps have the expression's parameters behind their own.
  std::uint8_t expression_entry = 0;
  /// Parameters, with the pointers that the launch was made with. Those of the workspace are null, and the
  /// slots of tensor maps zero.
  alignas(64) std::byte image[most_image];

  bool is_empty() const { return steps.count == 0; }
};

/// Appends a kernel with the parameters' bytes, all zero; size and manner are left to be filled in, as far as
/// they differ from a plain kernel's.
inline Step& add_kernel(Launch& launch, std::uint8_t entry, std::size_t params_bytes) {
  constexpr std::size_t alignment = alignof(TensorMap);
  const std::size_t at = (launch.image_bytes + alignment - 1) / alignment * alignment;
  assert(at + params_bytes <= Launch::most_image);
  std::memset(launch.image + launch.image_bytes, 0, at + params_bytes - launch.image_bytes);
  launch.image_bytes = at + params_bytes;
  return launch.steps.add({.kind = Step::Kind::kernel,
                           .entry = entry,
                           .blocks_wait = false,
                           .blocks_walk = false,
                           .waits_for_earlier = false,
                           .at = static_cast<std::uint16_t>(at),
                           .bytes = static_cast<std::uint16_t>(params_bytes),
                           .grid = 0,
                           .threads = 0,
                           .shared_memory = 0,
                           .cluster = 1,
                           .clear_at = 0,
                           .clear_bytes = 0});
}

/// Appends the clearing of a part of the workspace.
inline void add_clear(Launch& launch, const WorkspacePart& part) {
  launch.steps.add({.kind = Step::Kind::clear,
                    .entry = 0,
                    .blocks_wait = false,
                    .blocks_walk = false,
                    .waits_for_earlier = false,
                    .at = 0,
                    .bytes = 0,
                    .grid = 0,
                    .threads = 0,
                    .shared_memory = 0,
                    .cluster = 1,
                    .clear_at = part.offset,
                    .clear_bytes = part.bytes});
}

/// The parameters of a step, in an image of its launch. @pre they are, or begin with, a Params
template <class Params>
const Params& params_of(const std::byte* image, const Step& step) {
  static_assert(std::is_trivially_copyable_v<Params> && alignof(Params) <= alignof(TensorMap));
  return *reinterpret_cast<const Params*>(image + step.at);
}
template <class Params>
Params& params_of(Launch& launch, const Step& step) {
  return const_cast<Params&>(params_of<Params>(launch.image, step));
}

/// The first step that runs the kernel of this number; null where there is none.
inline const Step* kernel_step(const Launch& launch, int entry = 0) {
  for (const Step& step : launch.steps) {
    if (step.kind == Step::Kind::kernel && step.entry == entry) return &step;
  }
  return nullptr;
}

/// Whether the kernel of a step has the launch's expression compiled in. @pre it is a kernel's step
inline bool has_expression(const Launch& launch, const Step& step) {
  return launch.expression != nullptr && step.entry == launch.expression_entry;
}

/// Says that a pointer in the image belongs to an operand. @param pointer in the image
template <class T>
void relocate(Launch& launch, T* const& pointer, Operand source, std::size_t offset = 0) {
  const auto at = reinterpret_cast<const std::byte*>(&pointer) - launch.image;
  launch.relocations.add({Relocation::Kind::pointer, source, static_cast<std::uint16_t>(at), 0, offset});
}

/// Appends a step once more, with parameters of its own: a copy of those so far, with the same pointers. Its
/// slots of tensor maps stay zero.
inline Step& repeat_step(Launch& launch, const Step& step) {
  const std::uint16_t from = step.at;
  Step& again = add_kernel(launch, step.entry, step.bytes);
  const std::uint16_t to = again.at;
  again = step;
  again.at = to;
  std::memcpy(launch.image + to, launch.image + from, step.bytes);
  const int relocations = launch.relocations.count;
  for (int i = 0; i < relocations; ++i) {
    Relocation relocation = launch.relocations[i];
    const bool is_own = relocation.at >= from && relocation.at < from + step.bytes;
    if (!is_own || relocation.kind != Relocation::Kind::pointer) continue;
    relocation.at = static_cast<std::uint16_t>(relocation.at - from + to);
    launch.relocations.add(relocation);
  }
  return again;
}

/// Says that a slot in the image is a tensor map over an operand.
inline void add_map(Launch& launch, const TensorMap& slot, const TensorMapFields& fields, Operand source) {
  const auto at = reinterpret_cast<const std::byte*>(&slot) - launch.image;
  launch.relocations.add({Relocation::Kind::map, source, static_cast<std::uint16_t>(at),
                          static_cast<std::uint16_t>(launch.maps.count), 0});
  launch.maps.add(fields);
}

/// The fields of the map over an operand; null where there is none.
inline const TensorMapFields* find_map(const Launch& launch, Operand source) {
  for (const Relocation& relocation : launch.relocations) {
    if (relocation.kind == Relocation::Kind::map && relocation.source == source)
      return &launch.maps[relocation.map];
  }
  return nullptr;
}

/// The part of the workspace of this name; null where there is none.
inline const WorkspacePart* find_part(const Launch& launch, std::string_view name) {
  for (const WorkspacePart& part : launch.parts) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

/// Writes the pointers of a run into an image of the launch. Slots of tensor maps are left alone.
inline void put_pointers(const Launch& launch, const PlanOperands& pointers, std::byte* image) {
  for (const Relocation& relocation : launch.relocations) {
    if (relocation.kind != Relocation::Kind::pointer) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(pointers[relocation.source]) + relocation.offset;
    std::memcpy(image + relocation.at, &address, sizeof address);
  }
}

}  // namespace quarry
