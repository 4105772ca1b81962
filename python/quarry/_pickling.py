"""What pickled kernels are made from again: their names."""

from ._quarry import Kernel, KernelMetadata, make_kernel


def kernel(name: str) -> Kernel:
    return make_kernel(name)


def metadata(name: str) -> KernelMetadata:
    return make_kernel(name).metadata
