/// How the device code of one config is instantiated, as text: what the generator writes into units of many
/// entries, and the library compiles when one of them is asked for. Host only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config_text.hpp"

namespace quarry {

/// One entry: a device function that runs the kernel of one config.
struct EntryText {
  /// The function's name: the name of the config, whose kernel may serve others too (ConfigSpace::entry).
  std::string name;
  /// Folder under kernels/ of its kernel.cuh, whose namespace quarry::<folder> holds `kernel`.
  std::string folder;
  /// C++ type of the parameter struct.
  std::string params;
  /// C++ type and initialiser of its config.
  std::string config_type;
  std::string config_literal;
  /// The one compute capability that it is for, with instructions that are no part of later ones ("sm_90a");
  /// 0: any from 8.0 on.
  int only_cc = 0;
  /// Its source asks for what it is compiled, and is read once for each target: so rounding to tf32 is one
  /// instruction on 9.0. Others are read once for all.
  bool differs_by_target = false;

  std::string config() const { return config_type + config_literal; }
};

/// What compilers call a target: "90", or "90a" for an entry of that compute capability alone; behind "sm_"
/// or "compute_".
std::string architecture(int target, int only_cc);

/// The entry of a config. @pre it is its own entry: space.entry(values) == values
EntryText entry_text(const ConfigSpace& space, const SettingValues& values);

/// The names of the other entries that a run of such a kernel may start, as Step::entry counts them. A name
/// is empty if there is no entry of its number. The first is the reduction that follows a parallel split-K,
/// the second the copy of operands that are reordered. A convolution that reorders has the copies of operands
/// and of outputs.
std::vector<std::string> companion_names(const KernelMetadata& kernel);

/// The source that defines entries of one folder. @pre there is one
std::string instantiation(std::span<const EntryText> entries);

}  // namespace quarry
