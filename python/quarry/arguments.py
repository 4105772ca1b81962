"""The arguments of every operation."""

from ._quarry import (
    Arguments,
    Controls,
    ElementwiseArguments,
    EpilogueArguments,
    GemmArguments,
    GroupedGemmArguments,
    ReduceSplitKArguments,
    ReorderArguments,
)

__all__ = [
    "Arguments",
    "Controls",
    "ElementwiseArguments",
    "EpilogueArguments",
    "GemmArguments",
    "GroupedGemmArguments",
    "ReduceSplitKArguments",
    "ReorderArguments",
]
