"""The arguments of every operation."""

from ._quarry import (
    Arguments,
    Controls,
    Conv2dArguments,
    ElementwiseArguments,
    EpilogueArguments,
    GemmArguments,
    GemmListArguments,
    GroupedGemmArguments,
    ReduceSplitKArguments,
    ReorderArguments,
)

__all__ = [
    "Arguments",
    "Controls",
    "Conv2dArguments",
    "ElementwiseArguments",
    "EpilogueArguments",
    "GemmArguments",
    "GemmListArguments",
    "GroupedGemmArguments",
    "ReduceSplitKArguments",
    "ReorderArguments",
]
