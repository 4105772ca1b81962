"""The classes of kernel metadata, for isinstance in filters."""

from ._quarry import (
    DesignMetadata,
    EpilogueMetadata,
    GemmOperandsMetadata,
    KernelMetadata,
    ModesMetadata,
    OperandMetadata,
    OperandsMetadata,
    SimtDesignMetadata,
    Sm80DesignMetadata,
    Sm90DesignMetadata,
)

__all__ = [
    "DesignMetadata",
    "EpilogueMetadata",
    "GemmOperandsMetadata",
    "KernelMetadata",
    "ModesMetadata",
    "OperandMetadata",
    "OperandsMetadata",
    "SimtDesignMetadata",
    "Sm80DesignMetadata",
    "Sm90DesignMetadata",
]
