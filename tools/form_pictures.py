#!/usr/bin/env python3
"""Draws docs/grouped.svg, the forms of grouped GEMM, docs/gemm_list.svg, the problems of a list, and docs/conv2d.svg, the GEMM of each direction of a convolution.

Usage: form_pictures.py [--check]. With --check the pictures are compared, not written; the exit status is 1 where one differs.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
# A colour for each group; words are dark on these and on the white page behind them, whatever page that lies on.
GROUPS = ["#a9cbe8", "#f3c99a", "#b9dcb0"]
OUTSIDE, PLAIN = "#e6e6e6", "#d9d2e9"
WIDTH = 720


def text(x, y, words, more=""):
    return f'<text x="{x}" y="{y}"{more}>{words}</text>'


def middle(x, y, words):
    return text(x, y, words, ' text-anchor="middle"')


def box(x, y, width, height, fill):
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" stroke="#333333"/>'


def parts(x, y, width, height, cuts, fills, along_rows=True):
    """A matrix that is cut into parts: places of the cuts, and a colour for each part."""
    begin = 0
    for end, fill in zip(cuts, fills):
        yield (box(x, y + begin, width, end - begin, fill) if along_rows else box(x + begin, y, end - begin, height, fill))
        begin = end


def stack(x, y, width, height, fills, counts=None):
    """Matrices of a batch, the first in front. Of `counts` rows the rest lies outside of the group."""
    for i in reversed(range(len(fills))):
        left, top = x + 14 * i, y + 12 * (len(fills) - 1 - i)
        count = height if counts is None else counts[i]
        yield box(left, top, width, height, OUTSIDE)
        yield box(left, top, width, count, fills[i])


def named(x, y, width, name, extents):
    """The name of a matrix and its extents, below it."""
    yield middle(x + width / 2, y, f'<tspan font-weight="bold">{name}</tspan> {extents}')


def times(y):
    yield middle(268, y, "×")
    yield middle(468, y, "=")


def contiguous(y):
    fills = [*GROUPS, OUTSIDE]
    yield text(16, y + 18, "contiguous", ' font-weight="bold"')
    yield text(16, y + 36, "rows of a group")
    yield text(16, y + 52, "times its matrix")
    yield from parts(170, y + 4, 70, 96, [24, 60, 78, 96], fills)
    yield from stack(310, y + 14, 80, 60, GROUPS)
    yield from parts(520, y + 4, 80, 96, [24, 60, 78, 96], fills)
    yield from times(y + 56)
    yield from named(170, y + 118, 70, "A", "rows x K")
    yield from named(310, y + 118, 108, "B", "G x K x N")
    yield from named(520, y + 118, 80, "out", "rows x N")


def masked(y):
    yield text(16, y + 18, "masked", ' font-weight="bold"')
    yield text(16, y + 36, "the first rows")
    yield text(16, y + 52, "of each entry")
    yield from stack(158, y + 8, 64, 72, GROUPS, [26, 46, 60])
    yield from stack(310, y + 14, 80, 60, GROUPS)
    yield from stack(506, y + 8, 80, 72, GROUPS, [26, 46, 60])
    yield from times(y + 56)
    yield from named(158, y + 122, 92, "A", "G x capacity x K")
    yield from named(310, y + 122, 108, "B", "G x K x N")
    yield from named(506, y + 122, 108, "out", "G x capacity x N")


def ragged(y):
    cuts = [24, 60, 78]
    yield text(16, y + 18, "ragged K", ' font-weight="bold"')
    yield text(16, y + 36, "a group's part of K")
    yield text(16, y + 52, "summed for itself")
    yield from parts(158, y + 28, 96, 48, [*cuts, 96], [*GROUPS, OUTSIDE], along_rows=False)
    yield from parts(320, y + 4, 80, 96, [*cuts, 96], [*GROUPS, OUTSIDE])
    yield from stack(506, y + 14, 80, 48, GROUPS)
    yield from times(y + 56)
    yield from named(158, y + 118, 96, "A", "M x T")
    yield from named(320, y + 118, 80, "B", "T x N")
    yield from named(506, y + 118, 108, "out", "G x M x N")


def grouped():
    yield text(16, 24, "A colour is a group. Grey lies outside of all groups.")
    yield from contiguous(40)
    yield from masked(176)
    yield from ragged(320)


# Problems of a list: rows, columns and K of each, in the units of the picture.
PROBLEMS = [(52, 36, 74), (24, 60, 30), (64, 18, 50)]
BOUND_M, BOUND_N, BOUND_K = (max(extents) for extents in zip(*PROBLEMS))


def bounded(x, y, bound, own, fill):
    """A matrix of a problem within the bounds."""
    yield box(x, y, *bound, "#ffffff")
    yield box(x, y, *own, fill)


def gemm_list():
    yield text(16, 24, "A colour is a problem, with extents and pointers of its own. White: what the bounds leave.")
    for i, ((m, n, k), fill) in enumerate(zip(PROBLEMS, GROUPS)):
        y = 48 + 92 * i
        yield text(16, y + 36, f"problem {i}", ' font-weight="bold"')
        yield from bounded(170, y, (BOUND_K, BOUND_M), (k, m), fill)
        yield from bounded(330, y, (BOUND_N, BOUND_K), (n, k), fill)
        yield from bounded(520, y, (BOUND_N, BOUND_M), (n, m), fill)
        yield from times(y + 36)
    y = 48 + 92 * len(PROBLEMS) + 4
    yield from named(170, y, BOUND_K, "A", "G x M x K")
    yield from named(330, y, BOUND_N, "B", "G x K x N")
    yield from named(520, y, BOUND_N, "out", "G x M x N")


# Of each direction: what the rows, the columns and the sum of the GEMM are, and its operands; `*` marks the im2col view.
DIRECTIONS = [
    ("fprop", ("N P Q", "C R S", "pixels of x*"), ("C R S", "K", "filters w"), ("N P Q", "K", "y")),
    ("dgrad", ("N H W", "K R S", "pixels of grad y*"), ("K R S", "C", "filters w"), ("N H W", "C", "grad x")),
    ("wgrad", ("K", "N P Q", "grad y"), ("N P Q", "C R S", "pixels of x*"), ("K", "C R S", "grad w")),
]


def matrix(x, y, size, operand, fill):
    """A matrix with its rows on its left, its columns above it, its name in it."""
    (width, height), (rows, columns, name) = size, operand
    yield box(x, y, width, height, fill)
    yield middle(x + width / 2, y - 6, columns)
    yield text(x - 6, y + height / 2 + 5, rows, ' text-anchor="end"')
    yield middle(x + width / 2, y + height / 2 + 5, name)


def direction(y, name, a, b, out):
    yield text(16, y + 46, name, ' font-weight="bold"')
    for x, operand in ((160, a), (376, b), (590, out)):
        yield from matrix(x, y + 14, (118, 56), operand, GROUPS[0] if "*" in operand[2] else PLAIN)
    yield middle(298, y + 46, "×")
    yield middle(514, y + 46, "=")


def view(y):
    """A window of an image and the row that it is of the matrix."""
    yield text(16, y, "* The im2col view: each row has the elements of x (of grad y) that one output depends on.")
    yield text(16, y + 18, "It is not stored. Copies read it out of the image; padding reads as 0.")
    size = 20
    for row in range(4):
        for column in range(5):
            inside = 0 <= row - 1 < 3 and 0 <= column - 1 < 3
            yield box(60 + size * column, y + 34 + size * row, size, size, GROUPS[1] if inside else "#ffffff")
    yield middle(110, y + 132, "image (one channel)")
    yield middle(200, y + 78, "→")
    for column in range(9):
        yield box(240 + 24 * column, y + 62, 24, size, GROUPS[1])
        yield middle(252 + 24 * column, y + 56, f"{column // 3},{column % 3}")
    yield middle(348, y + 102, "the row of this window: an element for each (r, s)")


def conv2d():
    yield text(16, 24, "Each matrix: the extents that its rows are on its left, those of its columns above it. One group of channels.")
    for i, each in enumerate(DIRECTIONS):
        yield from direction(44 + 94 * i, *each)
    yield from view(346)


def picture(title, height, shapes):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
            f'font-family="sans-serif" font-size="13" fill="#222222">')
    return "\n".join([head, f"<title>{title}</title>", f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
                      *shapes, "</svg>", ""])


def main():
    pictures = {"grouped.svg": picture("The forms of grouped GEMM", 460, grouped()),
                "gemm_list.svg": picture("A list of GEMMs", 352, gemm_list()),
                "conv2d.svg": picture("The GEMM of each direction of a convolution", 492, conv2d())}
    for name, made in pictures.items():
        path = DOCS / name
        if sys.argv[1:] != ["--check"]:
            path.write_text(made)
        elif not path.exists() or path.read_text() != made:
            sys.exit(f"docs/{name} is not what tools/form_pictures.py draws")


if __name__ == "__main__":
    main()
