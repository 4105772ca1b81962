/// Controls as settings, for the operations that have them.
#pragma once

#include <string>

#include "lab/problems/settings.hpp"
#include "quarry/controls.hpp"

namespace quarry::lab {

inline constexpr Setting controls_settings[] = {
    {"mode", "MODE",
     "gemm, split_k_serial, split_k_parallel, split_k_cluster or stream_k (otherwise chosen)"},
    {"split-k", "N", "Slices of K (otherwise chosen)"},
    {"swizzle", "N", "Tile columns that are walked together: 1, 2, 4 or 8 (otherwise chosen)"},
    {"raster", "ORDER", "Tiles are walked along_n or along_m first (otherwise chosen)"},
    {"multiprocessors", "N", "Most multiprocessors that a persistent kernel uses (all)"},
};

Controls read_controls(SettingReader& reader);

/// The same as text: " --mode split_k_serial --split-k 3".
std::string controls_flags(const Controls& controls);

}  // namespace quarry::lab
