"""grouped_mm."""

from typing import Any, Optional

import torch  # type: ignore[import-not-found, unused-ignore]

from .._quarry import GroupedGemmArguments
from ._launch import default_type, launch, refuse_grad, refuse_packed, refuse_tangents
from ._matmul import matmul


def _groups(a: torch.Tensor, b: torch.Tensor, offs: torch.Tensor, out_dtype: torch.dtype | None) -> torch.Tensor:
    """The output of groups, not computed."""
    torch._check(a.dim() == 2 and b.dim() in (2, 3), lambda: f"grouped_mm: expected ranks 2 and 3, or 2 and 2, got {a.dim()} and {b.dim()}")
    torch._check(a.shape[1] == b.shape[-2], lambda: f"grouped_mm: {tuple(a.shape)} and {tuple(b.shape)} do not fit: expected K of both to be equal")
    torch._check(offs.dim() == 1 and offs.dtype == torch.int32, lambda: "grouped_mm: expected offs of rank 1 and type int32")
    batch = () if b.dim() == 3 else (offs.shape[0],)
    return a.new_empty((*batch, a.shape[0], b.shape[-1]), dtype=default_type(a, out_dtype))


def _grouped_mm_out(a: torch.Tensor, b: torch.Tensor, offs: torch.Tensor, out: torch.Tensor) -> None:
    if b.numel() == 0:  # a tensor without elements has no address, which a launch asks for
        out.zero_()
        return

    def arguments(a: torch.Tensor, b: torch.Tensor, sizes: torch.Tensor, out: torch.Tensor) -> GroupedGemmArguments:
        return GroupedGemmArguments(a, b, out, sizes, zero_outside=True)

    launch(out, arguments, a, b, offs)


def _grouped_mm(a: torch.Tensor, b: torch.Tensor, offs: torch.Tensor, out_dtype: Optional[torch.dtype]) -> torch.Tensor:
    out = _groups(a, b, offs, out_dtype)
    _grouped_mm_out(a, b, offs, out)
    return out


def _setup(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    ctx.save_for_backward(*inputs[:3])


def _backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
    a, b, offs = ctx.saved_tensors
    grad_a = grad_b = None
    if b.dim() == 3:  # groups of rows: the gradient of B has groups of K
        if ctx.needs_input_grad[0]:
            grad_a = grouped_mm_op(grad.to(b.dtype), b.mT, offs, a.dtype)
        if ctx.needs_input_grad[1]:
            grad_b = grouped_mm_op(a.mT, grad.to(a.dtype), offs, b.dtype)
    else:  # groups of K: both gradients have groups of rows
        if ctx.needs_input_grad[0]:
            grad_a = grouped_mm_op(b, grad.mT.to(b.dtype), offs, a.dtype).mT
        if ctx.needs_input_grad[1]:
            grad_b = grouped_mm_op(a.mT, grad.to(a.dtype), offs, b.dtype)
    return grad_a, grad_b, None, None


grouped_mm_op = torch.library.custom_op("quarry::grouped_mm", _grouped_mm, mutates_args=())
grouped_mm_op.register_fake(lambda a, b, offs, out_dtype: _groups(a, b, offs, out_dtype))
grouped_mm_op.register_autograd(_backward, setup_context=_setup)
grouped_mm_out_op = torch.library.custom_op("quarry::grouped_mm_out", _grouped_mm_out, mutates_args=("out",))
grouped_mm_out_op.register_fake(lambda a, b, offs, out: None)


def grouped_mm(a: torch.Tensor, b: torch.Tensor, offs: torch.Tensor | None = None, *, out_dtype: torch.dtype | None = None, out: torch.Tensor | None = None) -> torch.Tensor:
    """A matmul for each group, as torch's grouped_mm; `offs` (int32) are the ends of the groups.

    a (rows x K), b (G x K x N): groups of rows; rows behind the last group become 0. a (M x T), b (T x N): groups of T, and an
    output of G x M x N. a (G x M x K), b (K x columns): groups of columns. a and b of rank 3: a batch, without `offs`.
    `out`: the first two alone.
    """
    refuse_packed(b, "b")
    refuse_tangents(a, b)
    if out is not None:
        refuse_grad(a, b, out)
        torch._check(offs is not None, lambda: "grouped_mm: expected offs beside out")
        grouped_mm_out_op(a, b, offs, out)
        return out
    if offs is None:
        torch._check(a.dim() == 3 and b.dim() == 3, lambda: "grouped_mm: without offs, expected a and b of rank 3")
        return matmul(a, b, out_dtype=out_dtype)
    if a.dim() == 3:
        return grouped_mm_op(b.mT, a.mT, offs, out_dtype).mT
    return grouped_mm_op(a, b, offs, out_dtype)
