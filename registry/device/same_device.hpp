/// Whether what a run is given belongs to the device that it runs on. CUDA does not refuse a mixture: a
/// kernel runs on the device of its stream, and the first access to memory of another device is an error that
/// no later call of the process recovers from. Where there is one device only, nothing is asked.
#pragma once

#include <string_view>

#include "quarry/status.hpp"

struct CUstream_st;

namespace quarry::detail {

/// Whether this machine has more than one device, so that a run could be given things of another one.
bool has_several_devices();

/// Ok when the stream belongs to the device; device_error that names both devices where it does not, and
/// where CUDA refuses to say. The legacy stream and the stream of each thread belong to the device that is
/// current, and pass. Costs two calls of the runtime where there are several devices. It changes nothing, and
/// does not end a capture; a stream that is being captured passes where the driver cannot tell its context.
/// @param kernel for the message
Status check_stream(std::string_view kernel, CUstream_st* stream, int device);

/// Ok when the pointer leads to memory of the device, or to memory that belongs to no single one: managed,
/// pinned and plain host memory. Otherwise mixed_devices, with the code and the operand that are given. Costs
/// one call of the driver where there are several devices.
Status check_pointer(StatusCode code, Operand name, const void* pointer, int device);

}  // namespace quarry::detail
