"""The arguments of every operation."""

from ._quarry import Arguments, Controls, EpilogueArguments, GemmArguments, ReorderArguments

__all__ = ["Arguments", "Controls", "EpilogueArguments", "GemmArguments", "ReorderArguments"]
