"""The registry of GPU kernels: find, check, compile and run them on tensors of any library.

    import numpy, quarry
    a, b = numpy.ones((64, 32), "float32"), numpy.ones((32, 48), "float32")
    out = numpy.empty((64, 48), "float32")
    args = quarry.GemmArguments(a, b, out)
    kernel = quarry.get_kernels(args)[0]
    kernel.run(args)
"""

from . import arguments, metadata, utils
from ._quarry import (
    Arguments,
    Artifact,
    BFloat16,
    Candidate,
    Candidates,
    Controls,
    DType,
    EpilogueArguments,
    Error,
    FakeTensor,
    Float8E4M3,
    Float8E5M2,
    Float16,
    Float32,
    Float64,
    GemmArguments,
    Int4,
    Int8,
    Int32,
    Kernel,
    KernelMetadata,
    Plan,
    ReorderArguments,
    Status,
    UInt4,
    UInt8,
    __version__,
    find_kernel,
    get_kernels,
    load_pack,
    make_kernel,
    write_pack,
)

__all__ = [
    "Arguments",
    "Artifact",
    "BFloat16",
    "Candidate",
    "Candidates",
    "Controls",
    "DType",
    "EpilogueArguments",
    "Error",
    "FakeTensor",
    "Float16",
    "Float32",
    "Float64",
    "Float8E4M3",
    "Float8E5M2",
    "GemmArguments",
    "Int32",
    "Int4",
    "Int8",
    "Kernel",
    "KernelMetadata",
    "Plan",
    "ReorderArguments",
    "Status",
    "UInt4",
    "UInt8",
    "__version__",
    "arguments",
    "find_kernel",
    "get_kernels",
    "load_pack",
    "make_kernel",
    "metadata",
    "utils",
    "write_pack",
]
