/// Kernels for other runtimes: machine code, and everything that a launch without this library needs.
#pragma once

#include <string>

#include "quarry/arguments.hpp"
#include "quarry/artifact.hpp"
#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// Writes a kernel into a folder, and creates the folder if it does not exist:
///
///   NAME.cubin  its code for one target; compiled now unless the library holds exactly this code
///   NAME.h      a header for C11 and C++11 that computes grid, parameters and workspace. It needs no file
///               of this library
///   NAME.json   the same for programs: entry, threads, shared memory, formulas, offsets of parameters
///
/// It also writes the code of the reduction if the kernel has the mode split_k_parallel. Existing files are
/// replaced; NAME.json is written last.
///
/// Fails, with nothing written, as Kernel::compile does; with unsupported, unless it is a kernel of gemm_sm80
/// or gemm_simt that takes no scales of operands and does not share tiles (export_plan takes all kernels);
/// and with file_error if the folder cannot be created or written.
///
/// The kernel is exported as it is registered, with the standard epilogue.
///
/// Safe from any thread; calls that write into one folder at the same time may mix their files.
Status export_kernel(const Kernel& kernel, const std::string& folder, const CompileOptions& options = {});

/// What a kernel is exported as, where arguments say with what.
struct ExportOptions {
  CompileOptions compile = {};
  /// Name of the files, and prefix of the names in the header: a C identifier. Empty: the name of the kernel,
  /// with "_expression" behind it where a kernel is exported for any shape with an expression.
  std::string name = {};
};
/// The options under the name that they had when only export_plan took them.
using ExportPlanOptions = ExportOptions;

/// The same with the expression of the arguments compiled in, for any shape: the header has the places of its
/// tensors, and takes an address and strides, or a scalar's value, for each. Of the arguments, only the
/// expression and the types that it works on count; pointers may be null.
///
/// If the kernel has the mode split_k_parallel, ENTRY.cubin of two more functions are written: the kernel
/// without the expression, and the reduction with it.
///
/// Fails, with nothing written, as export_kernel above and Kernel::supports do; with unsupported for an
/// expression with gated pairs, reductions or rows that an index chooses (export_plan takes these); with
/// invalid_arguments for an output without elements, and for a name that is bad or that another of the files
/// has.
Status export_kernel(const Kernel& kernel, Arguments arguments, const std::string& folder,
                     const ExportOptions& options = {});

/// Writes a kernel for one problem. Shapes, strides, epilogue and controls are fixed; each run supplies only
/// pointers. Works for every kernel, also with tensor maps or shared tiles:
///
///   NAME.cubin   its code for one target, and ENTRY.cubin for a kernel that follows it (a reduction)
///   NAME.plan.h  a header for C11 and C++11 with a function that fills the parameters, and a list of
///                launches. It needs no file of this library. With tensor maps, it includes <cuda.h>, and
///                the program passes cuTensorMapEncodeTiled to it.
///
/// Open controls are chosen as by Kernel::prepare; if no operand is on a device, for the default device
/// model. Existing files are replaced; the header is written last. Fails, with nothing written, as
/// Kernel::supports and Kernel::compile do; with invalid_arguments for an output without elements or a bad
/// name; and with file_error if the folder cannot be created or written.
/// Safe from any thread, as export_kernel is.
Status export_plan(const Kernel& kernel, Arguments arguments, const std::string& folder,
                   const ExportOptions& options = {});

}  // namespace quarry
