"""scaled_mm."""

from typing import Optional

import torch  # type: ignore[import-not-found, unused-ignore]

from .._quarry import EpilogueArguments, GemmArguments
from ._launch import launch, refuse_grad


def _blocks(extent: int, size: int = 128) -> int:
    return (extent + size - 1) // size


def _granularities(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor) -> tuple[str, str]:
    """How many elements share a scale, by the shapes. Where two fit, they mean the same."""
    (m, k), n = a.shape, b.shape[1]
    shapes_a = {"tensor": (1, 1), "row": (m, 1), "1x128": (m, _blocks(k)), "1x64": (m, _blocks(k, 64)), "1x32": (m, _blocks(k, 32))}
    shapes_b = {"tensor": (1, 1), "column": (1, n), "1x128": (_blocks(k), n), "128x128": (_blocks(k), _blocks(n)), "1x64": (_blocks(k, 64), n),
                "1x32": (_blocks(k, 32), n)}
    found = []
    for name, scale, shapes in (("scale_a", scale_a, shapes_a), ("scale_b", scale_b, shapes_b)):
        fitting = [word for word, shape in shapes.items() if tuple(scale.shape) == shape]
        torch._check(len(fitting) > 0, lambda: f"scaled_mm: {name} has shape {tuple(scale.shape)}: expected {', '.join(map(str, shapes.values()))}")
        found.append(fitting[0])
    return found[0], found[1]


def _product(a: torch.Tensor, b: torch.Tensor, out_dtype: torch.dtype) -> torch.Tensor:
    """The output, not computed."""
    torch._check(a.dim() == 2 and b.dim() == 2, lambda: f"scaled_mm: expected matrices, got ranks {a.dim()} and {b.dim()}")
    torch._check(a.shape[1] == b.shape[0], lambda: f"scaled_mm: {tuple(a.shape)} and {tuple(b.shape)} do not fit: expected K of both to be equal")
    return a.new_empty((a.shape[0], b.shape[1]), dtype=out_dtype)


def _scaled_mm_out(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor, bias: Optional[torch.Tensor], out: torch.Tensor) -> None:
    of_a, of_b = _granularities(a, b, scale_a, scale_b)
    epilogue = None if bias is None else EpilogueArguments(bias=bias.detach())
    launch(out, GemmArguments, a, b, epilogue=epilogue, a_scale=scale_a.detach(), a_scale_granularity=of_a, b_scale=scale_b.detach(), b_scale_granularity=of_b)


def _scaled_mm(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor, bias: Optional[torch.Tensor], out_dtype: torch.dtype) -> torch.Tensor:
    out = _product(a, b, out_dtype)
    _scaled_mm_out(a, b, scale_a, scale_b, bias, out)
    return out


scaled_mm_op = torch.library.custom_op("quarry::scaled_mm", _scaled_mm, mutates_args=())
scaled_mm_op.register_fake(lambda a, b, scale_a, scale_b, bias, out_dtype: _product(a, b, out_dtype))
scaled_mm_out_op = torch.library.custom_op("quarry::scaled_mm_out", _scaled_mm_out, mutates_args=("out",))
scaled_mm_out_op.register_fake(lambda a, b, scale_a, scale_b, bias, out: None)


def scaled_mm(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    out_dtype: torch.dtype = torch.bfloat16,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """(a times its scales) times (b times its scales), plus bias. a (M x K) and b (K x N) of fp8, or of any other type of a GEMM.

    Scales are float32: one element, a scale for each row of a (M x 1) or column of b (1 x N), or for each 128 of K
    (M x ceil(K / 128); ceil(K / 128) x N, or x ceil(N / 128) for blocks of 128 columns). Weights of int8 in b, beside
    float16 or bfloat16 in a, may have a scale for each 64 or 32 of K (ceil(K / 64) x N, ceil(K / 32) x N). There is no
    gradient.
    """
    scale_a, scale_b = (scale.reshape(1, 1) if scale.dim() < 2 and scale.numel() == 1 else scale for scale in (scale_a, scale_b))
    if out is not None:
        refuse_grad(a, b, scale_a, scale_b, bias, out)
        scaled_mm_out_op(a, b, scale_a, scale_b, bias, out)
        return out
    return scaled_mm_op(a, b, scale_a, scale_b, bias, out_dtype)
