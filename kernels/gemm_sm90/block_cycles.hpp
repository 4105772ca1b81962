/// What a block of gemm_sm90 needs for a K tile, in cycles of a multiprocessor, and between tiles. Host only.
#pragma once

#include "gemm/family.hpp"
#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

/// Blocks of one_tile that a multiprocessor holds at once.
int resident_blocks(const Config& c, const DeviceModel& device);

/// Cycles to multiply a K tile, and to promote its sums, with those while nothing is multiplied.
double math_cycles(const Config& c, const DeviceRates& rates);

/// How many more they are where each column of B has scales of its own, of kernels that promote sums.
double column_cycles(const Config& c, const DeviceRates& rates);

/// Least cycles from one K tile of a block to the next. Groups of warpgroups have as many under way.
double least_cycles(const Config& c);

/// Cycles to bring a K tile of a block: its share of what the cluster needs, from L2.
double copy_cycles(const Config& c, const DeviceRates& rates);

/// GemmProfile::copied_a: the lines of the operand count of which a block copies more. A block waits for
/// both.
double weight_of_a(const Config& c);

/// Cycles from the last multiplication of a tile to the first of the next one.
double turn_cycles(const Config& c);

/// GemmProfile::output_lines.
double output_lines(const Config& c);

/// GemmProfile::split_output.
double split_output(const Config& c);

}  // namespace quarry::gemm_sm90
