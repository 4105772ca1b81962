/// Kernels for other runtimes: machine code, and all that is needed to launch it without this library.
#pragma once

#include <string>

#include "quarry/arguments.hpp"
#include "quarry/artifact.hpp"
#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// Writes a kernel into a folder, which is made where it is not there:
///   NAME.cubin  its code for one target, compiled now where the library does not hold it alone
///   NAME.h      a header for C11 and C++11 that computes grid, parameters and workspace, and needs nothing
///   of
///               this library
///   NAME.json   the same for programs: entry, threads, shared memory, formulas, offsets of parameters
/// and the code of the reduction that follows a parallel split-K, where the kernel has that mode. Existing
/// files are replaced; NAME.json is written last. Fails as Kernel::compile does, with nothing written, with
/// unsupported for a kernel that takes tensor maps (gemm_sm90) or shares tiles (modes.stream_k), and a
/// reduction by itself (export_plan takes all of them), and with device_error where the folder cannot be made
/// or written.
Status export_kernel(const Kernel& kernel, const std::string& folder, const CompileOptions& options = {});

struct ExportPlanOptions {
  /// As for export_kernel.
  CompileOptions compile = {};
  /// What files are called, and names in the header begin with: a C identifier. Empty: the kernel's name.
  std::string name = {};
};

/// Writes a kernel made ready for one problem, whose shapes, strides, epilogue and controls are frozen;
/// pointers alone are given at a run. It does so for every kernel, those with tensor maps and shared tiles
/// included:
///   NAME.cubin   its code for one target, and ENTRY.cubin for a kernel that follows it (a reduction)
///   NAME.plan.h  a header for C11 and C++11 with a function that fills the parameters, and a list of
///   launches. It needs nothing of this library; where there are tensor maps it includes <cuda.h>, and is
///   given cuTensorMapEncodeTiled.
/// Controls that are open are chosen as Kernel::prepare does; where no operand lies on a device, by the
/// default device model. Existing files are replaced; the header is written last. Fails as Kernel::supports
/// and Kernel::compile do, with nothing written, with invalid_arguments for an output without elements or a
/// bad name, and with device_error where the folder cannot be made or written.
Status export_plan(const Kernel& kernel, Arguments arguments, const std::string& folder,
                   const ExportPlanOptions& options = {});

}  // namespace quarry
