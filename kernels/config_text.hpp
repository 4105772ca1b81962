/// Configs as text: the interface by which the generator knows a kernel family, and what the families share
/// of it. Host only, used when the library is built, and by the library for configs that are not registered.
///
/// A config of any family is seen here as the values of its settings, in the order of the family's list of
/// settings (settings.hpp). A config's name is the family's, then each setting in that order, so one function
/// writes all names and one reads them back.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/config_parts.hpp"
#include "quarry/metadata.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// What values a setting takes.
enum class SettingKind : unsigned char {
  dtype,    ///< a word: "f16"
  layouts,  ///< one letter each for a, b and out, r(ow) or c(olumn), capital where it is interleaved: "rcr"
  integer,  ///< 4
  pair,     ///< [8, 8], in a name 8x8
  triple,   ///< [128, 128, 32], in a name 128x128x32
  word,     ///< one of the setting's words: "ping_pong"
};

/// One setting of a family's configs.
struct Setting {
  /// What it is called in a space.
  std::string_view key;
  SettingKind kind;
  /// What stands before its numbers in a name: the "w" of w2x2x1.
  std::string_view prefix = "";
  /// Of a word: its words by value.
  std::span<const std::string_view> words = {};
  /// The value that a setting has where it is not mentioned: names leave it out, so that a later setting
  /// renames nothing; spaces and configs as JSON may. Absent: it must be said. Of words and of numbers with a
  /// prefix.
  std::optional<int> unsaid = std::nullopt;
};

/// The value of one setting: its integers, the enumerators of its DType or Layouts, or the number of its
/// word; unused ones are 0.
using SettingValue = std::array<int, 3>;

/// The greatest number that a setting may have; small enough that no size computed from settings overflows.
inline constexpr int max_setting = 1024;

/// One config: a value for each setting of its family.
using SettingValues = std::vector<SettingValue>;

/// How many integers a setting's value has.
constexpr std::size_t width(SettingKind kind) {
  if (kind == SettingKind::pair) return 2;
  return kind == SettingKind::triple || kind == SettingKind::layouts ? 3 : 1;
}

/// Which problem a config gives to an entry that it shares with others.
enum class EntryProblem : unsigned char {
  transposed,  ///< the transposed one, operands exchanged
  same,        ///< its own: types of one size, say, share code
};

/// C++ types of what kernels are launched with in most families, without and with scales of operands,
/// and with zero points, and reductions.
inline constexpr std::string_view gemm_params = "quarry::GemmParams";
inline constexpr std::string_view scaled_gemm_params = "quarry::ScaledGemmParams";
inline constexpr std::string_view zero_gemm_params = "quarry::ZeroGemmParams";
inline constexpr std::string_view reduce_params = "quarry::ReduceParams";

/// The text side of one family. Functions on values, so that families of different config types look alike.
/// Made by config_space (settings.hpp).
struct ConfigSpace {
  std::string_view family;
  std::span<const Setting> settings;
  /// Why there can be no such config, "" where there can.
  std::string (*fault)(const SettingValues&);
  /// The config whose device code this one runs: itself, or another one; see entry_problem.
  SettingValues (*entry)(const SettingValues&);
  /// The metadata; `name` is kept as a view.
  KernelMetadata (*describe)(const SettingValues&, std::string_view name);
  /// The config as a C++ initialiser: "{{quarry::DType::f16, ...}, ...}".
  std::string (*literal)(const SettingValues&);
  /// Entries of one group share compilation units: kernels that are likely to be wanted together.
  std::string (*unit_group)(const SettingValues&);
  /// The config as a value of the family's own type, which lives to the end of the process: what the Family
  /// takes.
  const void* (*kept)(const SettingValues&);
  /// The values of such a config.
  SettingValues (*values)(const void* config);
  /// The config whose kernel computes the transposed problem by the same device code: another row with the
  /// same entry. Null where a family has no such pairs, or says them by layouts alone.
  SettingValues (*mirrored)(const SettingValues&) = nullptr;
  /// C++ type of what its kernels are launched with.
  std::string_view params = gemm_params;
  /// The same of configs that differ in it, empty for others. Null where a family has none such.
  std::string_view (*own_params)(const SettingValues&) = nullptr;
  /// The same of kernels that take scales of operands.
  std::string_view scaled_params = scaled_gemm_params;
  /// The same of kernels that take zero points, too.
  std::string_view zero_params = zero_gemm_params;
  /// What a config asks of another one's device code.
  EntryProblem entry_problem = EntryProblem::transposed;
};

/// Whether a config's device code computes the transposed problem.
bool is_exchanged(const ConfigSpace& space, const SettingValues& values);

/// Why there can be no kernel of such a config, "" where there can: what `fault` says; and that zero points
/// are B's, which only the device code of transposed problems takes off the other operand.
std::string kernel_fault(const ConfigSpace& space, const SettingValues& values);

/// The families that this build knows, in the order in which it names them. Defined by a source that the
/// build writes from its list of families (cmake/families.cmake).
std::span<const ConfigSpace* const> config_spaces();

/// The folders of these families below kernels/, in the same order. Each is the namespace of its family, too.
std::span<const std::string_view> family_folders();

/// Why a space cannot be the one of a folder: it gives its family another name. "" where it can.
std::string folder_fault(std::string_view folder, const ConfigSpace& space);

/// A value for each setting: what is unsaid, and zeros for the others, which are no values yet.
SettingValues unsaid_values(const ConfigSpace& space);

/// The name of a config.
std::string config_name(const ConfigSpace& space, const SettingValues& values);

/// The config of a name; parse_error that says which part of the name is wrong. Inverse of config_name; the
/// config may be one that `fault` rejects.
Result<SettingValues> parse_config_name(const ConfigSpace& space, std::string_view name);

/// The parts of names: "f16_f16_f32_f16", "rcr".
std::string name_of(const Types& types);
std::string name_of(const Layouts& layouts);

/// Whether JSON has such a value as a string.
constexpr bool is_text(SettingKind kind) {
  return kind == SettingKind::dtype || kind == SettingKind::layouts || kind == SettingKind::word;
}

/// Reads the value of a setting that is text: a type, layouts, a word. "" where it was read, otherwise why
/// not: "unknown type `fp16`; did you mean `f16`?".
/// @pre is_text(setting.kind)
std::string read_text(const Setting& setting, std::string_view text, SettingValue& value);

/// The letter of a layout: r, c, R (row_interleaved32) or C.
char letter_of(Layout layout);

/// Why operands of these types cannot have such layouts, "" where they can: interleaved ones belong to
/// products of bytes. For families that have them.
std::string interleave_fault(const Types& types, const Layouts& layouts);

}  // namespace quarry
