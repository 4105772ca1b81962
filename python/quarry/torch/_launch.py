"""What the operators have in common: one run of the best kernel, on torch's stream and memory."""

from collections.abc import Callable
from contextlib import nullcontext

import torch  # type: ignore[import-not-found, unused-ignore]
from torch.autograd import forward_ad  # type: ignore[import-not-found, unused-ignore]

from .._packed import Packed
from .._quarry import Arguments, get_kernels

# What torch allows products of Float32 to be rounded to, by torch.get_float32_matmul_precision().
_MATH = {"highest": "exact", "high": "fast_tf32", "medium": "fast_bf16"}


def math_of(tensor: torch.Tensor) -> str:
    """How these values may be rounded."""
    return _MATH[torch.get_float32_matmul_precision()] if tensor.dtype == torch.float32 else "exact"


def default_type(tensor: torch.Tensor, out_dtype: torch.dtype | None) -> torch.dtype:
    """The type of an output: as asked for, else the operands'; Int32 for integers."""
    if out_dtype is not None:
        return out_dtype
    return tensor.dtype if tensor.dtype.is_floating_point else torch.int32


def refuse_grad(*tensors: torch.Tensor | None) -> None:
    """Raises where a form with `out=` would lose a gradient."""
    if torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in tensors):
        raise RuntimeError("out: a form with `out=` records no gradient, and a tensor requires grad: give tensor.detach()")


def refuse_packed(operand: object, name: str) -> None:
    """Raises for half bytes, which scaled_mm alone takes."""
    if isinstance(operand, Packed):
        raise TypeError(f"{name}: expected a tensor of torch: quarry.torch.scaled_mm takes quarry.Packed")


def refuse_tangents(*tensors: torch.Tensor | None) -> None:
    """Raises in forward mode for tensors with a tangent, as the operators have backward derivatives alone."""
    if forward_ad._current_level < 0:
        return
    if any(tensor is not None and forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors):
        raise RuntimeError("quarry.torch: the operators have no forward-mode derivatives: use backward derivatives, or torch's operator")


def launch(out: torch.Tensor, arguments: Callable[..., Arguments], *operands: torch.Tensor, **settings: object) -> None:
    """Computes `arguments(*operands, out, ...)` by the kernel that ranks first. Raises RuntimeError where there is none."""
    device = out.device
    on_device = device.type == "cuda"
    with torch.cuda.device(device) if on_device else nullcontext():
        args = arguments(*(operand.detach() for operand in operands), out.detach(), **settings)
        found = get_kernels(args, limit=1)
        if not found:
            raise RuntimeError(str(found.status.error))
        kernel = found[0]
        if not on_device:
            kernel.run(args, assume_supported_args=True)
            return
        size = kernel.get_workspace_size(args)
        workspace = torch.empty(size, dtype=torch.uint8, device=device) if size > 0 else None
        kernel.run(args, stream=torch.cuda.current_stream(device), workspace=workspace, assume_supported_args=True)
