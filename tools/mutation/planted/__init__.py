"""Mistakes that stand on one path alone: the problem of that path must find each in every kernel that has the path.

`quarry emulate --path NAME` draws the problem; without --path it is one of a kernel's first problems, with the same numbers.
"""

from mutation.planted import conv2d, copies, expressions, groups, quads, scales, tile_store
from mutation.planted.mistake import Planted, counts_of, texts_of, words_for

__all__ = ["PLANTED", "Planted", "counts_of", "texts_of", "words_for"]

PLANTED = [*expressions.PLANTED, *quads.PLANTED, *scales.PLANTED, *tile_store.PLANTED, *copies.PLANTED, *groups.PLANTED, *conv2d.PLANTED]
