"""Operators of torch that run on the registry's kernels: linear, matmul, grouped_mm and scaled_mm.

    import quarry.torch
    y = quarry.torch.linear(x, weight, bias)

They are registered as `torch.ops.quarry.*`, so they work under torch.compile and in CUDA graphs (after a warm-up, which compiles
kernels). A kernel runs on the current stream of its tensors' device, with a workspace from torch's allocator. Host tensors go to the
host executor. Gradients are computed by the same operators; scaled_mm has none. Forms with `out=` take no tensor that requires grad.
"""

from ._grouped import grouped_mm
from ._matmul import linear, matmul
from ._scaled import scaled_mm

__all__ = ["grouped_mm", "linear", "matmul", "scaled_mm"]
