/// What entries with an expression include beside kernel.cuh: an expression takes the place of StandardChain.
#pragma once

#include "common/expression_epilogue.cuh"
#include "reduce_split_k/kernel.cuh"
