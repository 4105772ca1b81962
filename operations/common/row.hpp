/// The static table that the generator writes: rows, the entries (device functions) they run, the units
/// (fatbins) that hold entries, and two indexes. All of it is constant-initialised data; nothing happens at
/// start-up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "gemm/family.hpp"
#include "quarry/metadata.hpp"

namespace quarry::detail {

/// A family as the table can hold it: which object a reference of another file names is not a constant of
/// this one, the address of a function that tells is.
struct FamilyHandle {
  const Family& (*get)();
  operator const Family*() const { return &get(); }
};

/// The most kernels that a run may start beside its own.
inline constexpr std::size_t most_companions = 2;

/// The number of no entry.
inline constexpr std::uint32_t no_entry = 0xffffffff;

/// One kernel: registered, or made by the program.
struct Row {
  KernelMetadata metadata;
  FamilyHandle family;
  /// The family's config of the device code that this row runs: its own, or the transposed problem's.
  const void* entry_config;
  /// Its number: an index into entries(), or beyond them (entry_of).
  std::uint32_t entry;
  /// The device code computes the transposed problem, operands exchanged.
  bool exchanged;
  /// Numbers of the other entries that a run may start, as Step::entry counts them: companion_names of the
  /// kernel. no_entry where it has none, or the library does not have it.
  std::array<std::uint32_t, most_companions> companions = {no_entry, no_entry};
};

/// What the compiler reported of an entry for one target; registers is 0 where it was not precompiled.
struct Resources {
  std::uint16_t registers = 0;
  std::uint16_t spill_bytes = 0;
};

/// One device function. It has the name of the row it was instantiated for.
struct Entry {
  std::string_view name;
  /// Index into units(), -1 when the entry is not precompiled.
  std::int32_t unit;
};

/// One embedded fatbin.
struct Unit {
  const unsigned char* begin;
  const unsigned char* end;
};

/// Rows of one functional key stand together: `rows()[begin, end)`.
struct KeyRange {
  std::uint64_t key;
  std::uint32_t begin;
  std::uint32_t end;
};

/// Operation, direction of a convolution, whether operands have scales, math, types and layouts, packed in
/// this order: kernels of an operation stand together.
constexpr std::uint64_t functional_key(Operation operation, Math math, const Types& t, const Layouts& l,
                                       bool has_scales = false, Direction direction = {}) {
  std::uint64_t key = static_cast<std::uint64_t>(operation) << 7 |
                      static_cast<std::uint64_t>(direction) << 5 |
                      static_cast<std::uint64_t>(has_scales) << 4 | static_cast<std::uint64_t>(math);
  for (const DType type : {t.a, t.b, t.accumulator, t.out}) key = key << 8 | static_cast<std::uint64_t>(type);
  for (const Layout layout : {l.a, l.b, l.out}) key = key << 4 | static_cast<std::uint64_t>(layout);
  return key;
}

/// The key of a kernel. A part that its operation has not counts as 0.
constexpr std::uint64_t functional_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return functional_key(kernel.operation, kernel.design.math,
                        {o.a.dtype, o.b.dtype, o.accumulator, o.out.dtype},
                        {o.a.layout, o.b.layout, o.out.layout}, o.scales != ScaleSupport::none,
                        kernel.direction.value_or(Direction::fprop));
}

std::span<const Row> rows();
std::span<const Entry> entries();
/// An entry of the table, or of a kernel that was made later, by number (Row::entry). Takes no lock.
const Entry& entry_of(std::uint32_t number);
std::span<const Unit> units();
/// Sorted by key.
std::span<const KeyRange> key_ranges();
/// Row numbers in the order of their names.
std::span<const std::uint32_t> rows_by_name();
/// Entry numbers in the order of their names.
std::span<const std::uint32_t> entries_by_name();
/// Resources of an entry for compute capability 80 or 90, as recorded at build; nothing recorded for entries
/// that are not in the table.
Resources resources(std::uint32_t entry, int cc);
/// The compute capabilities that precompiled units hold machine code for (QUARRY_CUDA_ARCHS), ascending.
std::span<const int> precompiled_targets();

}  // namespace quarry::detail
