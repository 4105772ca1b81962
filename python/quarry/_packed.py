"""Matrices of 4-bit numbers, two in a byte."""

import sys
from typing import Any

from ._quarry import DType

_RANGES = {"s4": (-8, 7), "u4": (0, 15)}


class Packed:
    """A matrix, or a batch of matrices, of 4-bit numbers that share bytes: B of a GEMM beside A of Float16 or BFloat16.

    `data` is a tensor of bytes (uint8 or int8) of rank 2 or 3. Each byte holds two neighbours of the last dimension, the first one
    in its lower half, so that rows x bytes are rows x (2 * bytes) numbers. Bytes of a row are next to each other; rows may have any
    stride. `dtype` is "s4" or "u4". `shape` is needed only for an odd number in the last dimension: the last half of each row is
    then not used. Nothing is copied.
    """

    def __init__(self, data: Any, dtype: object, shape: tuple[int, ...] | list[int] | None = None) -> None:
        extents = getattr(data, "shape", None)
        if extents is None:
            raise TypeError(f"data: expected a tensor of bytes, got {type(data).__name__}")
        if len(extents) not in (2, 3):
            raise ValueError(f"data: expected a matrix, or a batch of them, got rank {len(extents)}")
        whole = (*extents[:-1], 2 * extents[-1])
        if shape is None:
            shape = whole
        elif tuple(shape) != whole and tuple(shape) != (*whole[:-1], whole[-1] - 1):
            raise ValueError(f"shape: bytes of {_product(extents)} hold {_product(whole)} numbers, or one less in a row, got {_product(shape)}")
        self._data = data
        self._dtype = _name(dtype)
        self._extents = tuple(shape)
        self._is_transposed = False

    @property
    def data(self) -> Any:
        """The tensor of bytes, as it was given."""
        return self._data

    @property
    def dtype(self) -> DType:
        """Int4 or UInt4."""
        return DType(self._dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the matrix, in numbers."""
        return (*self._extents[:-2], self._extents[-1], self._extents[-2]) if self._is_transposed else self._extents

    @property
    def is_transposed(self) -> bool:
        """Whether neighbours of the first dimension of a matrix share a byte, and not those of the last one."""
        return self._is_transposed

    @property
    def mT(self) -> "Packed":
        """The transposed matrices in the same memory."""
        other = Packed.__new__(Packed)
        other._data, other._dtype, other._extents, other._is_transposed = self._data, self._dtype, self._extents, not self._is_transposed
        return other

    @property
    def T(self) -> "Packed":
        """The transposed matrix in the same memory."""
        if len(self._extents) != 2:
            raise ValueError("T: expected a matrix: `mT` transposes those of a batch")
        return self.mT

    def __repr__(self) -> str:
        return f"<quarry.Packed {_product(self.shape)} of {self._dtype}>"


def pack_int4(values: Any, dtype: object) -> Any:
    """The bytes of whole numbers, for Packed: a tensor of uint8 with ceil(n / 2) bytes for the n numbers of the last dimension.

    `values` is a tensor of numpy, CuPy or torch, of any type that holds the numbers; the bytes are a tensor of the same library.
    Raises ValueError for a number that is not one of `dtype`: -8 to 7 of "s4", 0 to 15 of "u4".
    """
    name = _name(dtype)
    least, greatest = _RANGES[name]
    wide = _converted(values, "int64")
    if bool((wide != values).any()) or bool(((wide < least) | (wide > greatest)).any()):
        raise ValueError(f"values: expected whole numbers of {name}, {least} to {greatest}")
    halves = _converted(wide & 15, "uint8")
    first, second = halves[..., 0::2], halves[..., 1::2]
    packed = first + 0
    packed[..., : second.shape[-1]] += second * 16
    return packed


def unpack_int4(data: Any, dtype: object, count: int | None = None) -> Any:
    """The numbers in bytes that are packed as those of Packed: int8 for "s4", uint8 for "u4".

    `count` is how many numbers the last dimension has, by default two for each byte; one less leaves out the last half.
    """
    name = _name(dtype)
    extent = 2 * data.shape[-1]
    if count is not None and count not in (extent, extent - 1):
        raise ValueError(f"count: {data.shape[-1]} bytes hold {extent} numbers or one less, got {count}")
    halves = _converted(data, "uint8")
    halves = halves.repeat(2, -1) if hasattr(data, "astype") else halves.repeat_interleave(2, -1)
    halves[..., 0::2] &= 15
    halves[..., 1::2] >>= 4
    if name == "s4":
        halves = (_converted(halves, "int8") ^ 8) - 8
    return halves[..., :count]


def _name(dtype: object) -> str:
    """ "s4" or "u4"."""
    name = dtype if isinstance(dtype, str) and dtype in _RANGES else DType(dtype).name
    if name not in _RANGES:
        raise ValueError(f"dtype: expected s4 or u4, got {name}")
    return name


def _converted(tensor: Any, dtype: str) -> Any:
    """A tensor of numpy, CuPy or torch as one of another type, with the numbers of a row next to each other."""
    return tensor.astype(dtype, order="C") if hasattr(tensor, "astype") else tensor.to(getattr(sys.modules["torch"], dtype)).contiguous()


def _product(extents: Any) -> str:
    """ "3x4" """
    return "x".join(map(str, extents))
