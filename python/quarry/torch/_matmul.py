"""matmul and linear."""

from typing import Any, Optional

import torch  # type: ignore[import-not-found, unused-ignore]

from .._quarry import EpilogueArguments, GemmArguments
from ._launch import default_type, launch, math_of, refuse_grad, refuse_packed, refuse_tangents


def _product(a: torch.Tensor, b: torch.Tensor, out_dtype: torch.dtype | None) -> torch.Tensor:
    """The output of a matmul, not computed."""
    torch._check(a.dim() == b.dim() and a.dim() in (2, 3), lambda: f"matmul: expected two matrices, or two batches of them, got ranks {a.dim()} and {b.dim()}")
    torch._check(a.shape[-1] == b.shape[-2], lambda: f"matmul: {tuple(a.shape)} and {tuple(b.shape)} do not fit: expected K of both to be equal")
    if a.dim() == 3:
        torch._check(a.shape[0] == b.shape[0], lambda: f"matmul: batches of {a.shape[0]} and {b.shape[0]} do not fit")
    return a.new_empty((*a.shape[:-1], b.shape[-1]), dtype=default_type(a, out_dtype))


def _matmul_out(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    launch(out, GemmArguments, a, b, math=math_of(a))


def _matmul(a: torch.Tensor, b: torch.Tensor, out_dtype: Optional[torch.dtype]) -> torch.Tensor:
    out = _product(a, b, out_dtype)
    _matmul_out(a, b, out)
    return out


def _matmul_setup(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    ctx.save_for_backward(*inputs[:2])


def _matmul_backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
    a, b = ctx.saved_tensors
    grad_a = matmul_op(grad.to(b.dtype), b.mT, a.dtype) if ctx.needs_input_grad[0] else None
    grad_b = matmul_op(a.mT, grad.to(a.dtype), b.dtype) if ctx.needs_input_grad[1] else None
    return grad_a, grad_b, None


matmul_op = torch.library.custom_op("quarry::matmul", _matmul, mutates_args=())
matmul_op.register_fake(lambda a, b, out_dtype: _product(a, b, out_dtype))
matmul_op.register_autograd(_matmul_backward, setup_context=_matmul_setup)
matmul_out_op = torch.library.custom_op("quarry::matmul_out", _matmul_out, mutates_args=("out",))
matmul_out_op.register_fake(lambda a, b, out: None)


def _layer(input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The output of a linear layer, not computed."""
    torch._check(input.dim() == 2 and weight.dim() == 2, lambda: f"linear: expected matrices, got ranks {input.dim()} and {weight.dim()}")
    torch._check(input.shape[1] == weight.shape[1], lambda: f"linear: {tuple(input.shape)} and a weight of {tuple(weight.shape)} do not fit")
    return input.new_empty((input.shape[0], weight.shape[0]))


def _linear_out(input: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], out: torch.Tensor) -> None:
    epilogue = None if bias is None else EpilogueArguments(bias=bias.detach().contiguous())
    launch(out, GemmArguments, input, weight.mT, epilogue=epilogue, math=math_of(input))


def _linear(input: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor]) -> torch.Tensor:
    out = _layer(input, weight)
    _linear_out(input, weight, bias, out)
    return out


def _linear_setup(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    ctx.save_for_backward(*inputs[:2])


def _linear_backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
    input, weight = ctx.saved_tensors
    of_input, of_weight, of_bias = ctx.needs_input_grad
    grad_input = matmul_op(grad, weight, None) if of_input else None
    grad_weight = matmul_op(grad.mT, input, None) if of_weight else None
    grad_bias = matmul_op(grad.new_ones((1, grad.shape[0])), grad, None).reshape(-1) if of_bias else None
    return grad_input, grad_weight, grad_bias


linear_op = torch.library.custom_op("quarry::linear", _linear, mutates_args=())
linear_op.register_fake(lambda input, weight, bias: _layer(input, weight))
linear_op.register_autograd(_linear_backward, setup_context=_linear_setup)
linear_out_op = torch.library.custom_op("quarry::linear_out", _linear_out, mutates_args=("out",))
linear_out_op.register_fake(lambda input, weight, bias, out: None)


def matmul(a: torch.Tensor, b: torch.Tensor, *, out_dtype: torch.dtype | None = None, out: torch.Tensor | None = None) -> torch.Tensor:
    """As torch.matmul: matrices, vectors, and batches that broadcast. `out`: matrices or batches of rank 3 of equal length alone.

    Float32 is rounded as torch.set_float32_matmul_precision allows.
    """
    refuse_packed(b, "b")
    refuse_tangents(a, b)
    if out is not None:
        refuse_grad(a, b, out)
        matmul_out_op(a, b, out)
        return out
    if b.dim() == 1:
        return matmul(a, b.unsqueeze(1), out_dtype=out_dtype).squeeze(-1)
    if a.dim() == 1:
        return matmul(a.unsqueeze(0), b, out_dtype=out_dtype).squeeze(-2)
    if b.dim() == 2:  # the rows of all batches of A are those of one matrix
        return matmul_op(a.flatten(0, -2), b, out_dtype).reshape(*a.shape[:-1], b.shape[1])
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    many_a, many_b = (x.expand(*batch, *x.shape[-2:]).flatten(0, -3) for x in (a, b))
    return matmul_op(many_a, many_b, out_dtype).reshape(*batch, a.shape[-2], b.shape[-1])


def linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """input (... x K) times weight (N x K) transposed, plus bias (N): as torch.nn.functional.linear. `out`: an input of rank 2 alone."""
    refuse_packed(weight, "weight")
    refuse_tangents(input, weight, bias)
    if out is not None:
        refuse_grad(input, weight, bias, out)
        linear_out_op(input, weight, bias, out)
        return out
    rows = input.unsqueeze(0) if input.dim() == 1 else input.flatten(0, -2)
    return linear_op(rows, weight, bias).reshape(*input.shape[:-1], weight.shape[0])
