"""scaled_mm."""

from typing import Optional

import torch  # type: ignore[import-not-found, unused-ignore]

from .._packed import Packed
from .._quarry import Arguments, EpilogueArguments, GemmArguments
from ._launch import launch, refuse_grad, refuse_tangents


def _blocks(extent: int, size: int = 128) -> int:
    return (extent + size - 1) // size


def _granularities(a: torch.Tensor, b: torch.Tensor, scale_a: Optional[torch.Tensor], scale_b: Optional[torch.Tensor]) -> tuple[str, str]:
    """How many elements share a scale, by the shapes. Where two fit, they mean the same."""
    (m, k), n = a.shape, b.shape[1]
    shapes_a = {"tensor": (1, 1), "row": (m, 1), "1x128": (m, _blocks(k)), "1x64": (m, _blocks(k, 64)), "1x32": (m, _blocks(k, 32))}
    shapes_b = {"tensor": (1, 1), "column": (1, n), "1x128": (_blocks(k), n), "128x128": (_blocks(k), _blocks(n)), "1x64": (_blocks(k, 64), n),
                "1x32": (_blocks(k, 32), n)}
    found = []
    for name, scale, shapes in (("scale_a", scale_a, shapes_a), ("scale_b", scale_b, shapes_b)):
        given = (1, 1) if scale is None else tuple(scale.shape)
        fitting = [word for word, shape in shapes.items() if given == shape]
        torch._check(len(fitting) > 0, lambda: f"scaled_mm: {name} has shape {given}: expected {', '.join(map(str, shapes.values()))}")
        found.append(fitting[0])
    return found[0], found[1]


def _product(a: torch.Tensor, b: torch.Tensor, out_dtype: torch.dtype, packed: Optional[str]) -> torch.Tensor:
    """The output, not computed."""
    torch._check(a.dim() == 2 and b.dim() == 2, lambda: f"scaled_mm: expected matrices, got ranks {a.dim()} and {b.dim()}")
    k = a.shape[1] if packed is None else _blocks(a.shape[1], 2)
    torch._check(k == b.shape[0], lambda: f"scaled_mm: {tuple(a.shape)} and {tuple(b.shape)} do not fit: expected K of both to be equal")
    return a.new_empty((a.shape[0], b.shape[1]), dtype=out_dtype)


# Of the operators, `packed` is the type of numbers of which B has two in a byte; its bytes are ceil(K / 2) x N.
def _scaled_mm_out(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: Optional[torch.Tensor],
    scale_b: Optional[torch.Tensor],
    bias: Optional[torch.Tensor],
    out: torch.Tensor,
    b_zero: Optional[torch.Tensor] = None,
    accumulation: str = "fast",
    packed: Optional[str] = None,
) -> None:
    of_a, of_b = _granularities(a, b, scale_a, scale_b)

    def arguments(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> Arguments:
        return GemmArguments(
            a,
            b if packed is None else Packed(b.mT, packed, (b.shape[1], a.shape[1])).T,
            out,
            epilogue=None if bias is None else EpilogueArguments(bias=bias.detach().contiguous()),
            a_scale=None if scale_a is None else scale_a.detach(),
            a_scale_granularity=of_a,
            b_scale=None if scale_b is None else scale_b.detach(),
            b_scale_granularity=of_b,
            b_zero=b_zero,
            accumulation=accumulation,
        )

    launch(out, arguments, a, b)


def _scaled_mm(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: Optional[torch.Tensor],
    scale_b: Optional[torch.Tensor],
    bias: Optional[torch.Tensor],
    out_dtype: torch.dtype,
    b_zero: Optional[torch.Tensor] = None,
    accumulation: str = "fast",
    packed: Optional[str] = None,
) -> torch.Tensor:
    out = _product(a, b, out_dtype, packed)
    _scaled_mm_out(a, b, scale_a, scale_b, bias, out, b_zero, accumulation, packed)
    return out


scaled_mm_op = torch.library.custom_op("quarry::scaled_mm", _scaled_mm, mutates_args=())
scaled_mm_op.register_fake(
    lambda a, b, scale_a, scale_b, bias, out_dtype, b_zero=None, accumulation="fast", packed=None: _product(a, b, out_dtype, packed)
)
scaled_mm_out_op = torch.library.custom_op("quarry::scaled_mm_out", _scaled_mm_out, mutates_args=("out",))
scaled_mm_out_op.register_fake(lambda a, b, scale_a, scale_b, bias, out, b_zero=None, accumulation="fast", packed=None: None)


def _as_matrix(scale: torch.Tensor | None) -> torch.Tensor | None:
    """One number as a matrix of it; all else as it is."""
    return scale.reshape(1, 1) if scale is not None and scale.dim() < 2 and scale.numel() == 1 else scale


def scaled_mm(
    a: torch.Tensor,
    b: torch.Tensor | Packed,
    scale_a: torch.Tensor | None,
    scale_b: torch.Tensor | None,
    bias: torch.Tensor | None = None,
    *,
    b_zero: torch.Tensor | None = None,
    accumulation: str = "fast",
    out_dtype: torch.dtype = torch.bfloat16,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """(a times its scales) times (b, less its zero points, times its scales), plus bias. a (M x K) and b (K x N) of fp8, or of any
    other type of a GEMM.

    Scales are float32, or None for 1: one element, a scale for each row of a (M x 1) or column of b (1 x N), or for each 128 of K
    (M x ceil(K / 128); ceil(K / 128) x N, or x ceil(N / 128) for blocks of 128 columns). Weights in b beside float16 or bfloat16 in
    a may have a scale for each 64 or 32 of K (ceil(K / 64) x N, ceil(K / 32) x N): int8, uint8, or quarry.Packed with two
    neighbours of K in a byte. `b_zero`, uint8 of the shape of scale_b, are zero points of unsigned weights.
    `accumulation="precise"` adds up sums of fp8 in float32. There is no gradient.
    """
    refuse_tangents(a, None if isinstance(b, Packed) else b, scale_a, scale_b, bias)
    packed = None
    if isinstance(b, Packed):
        if len(b.shape) != 2 or not b.is_transposed:
            raise ValueError("b: expected a matrix with two neighbours of K in a byte: quarry.Packed(data, dtype).T, of N rows of bytes")
        if a.dim() != 2 or a.shape[1] != b.shape[0]:
            raise ValueError(f"scaled_mm: {tuple(a.shape)} and {tuple(b.shape)} do not fit: expected K of both to be equal")
        packed, b = b._dtype, b.data.mT
    scale_a, scale_b, b_zero = (_as_matrix(scale) for scale in (scale_a, scale_b, b_zero))
    if out is not None:
        refuse_grad(a, b, scale_a, scale_b, bias, out)
        scaled_mm_out_op(a, b, scale_a, scale_b, bias, out, b_zero, accumulation, packed)
        return out
    return scaled_mm_op(a, b, scale_a, scale_b, bias, out_dtype, b_zero, accumulation, packed)
