#!/usr/bin/env python3
"""Draws docs/speed.svg, the speed of the registry beside cuBLASLt, from the measurements in docs/speed.json.

Usage: speed_picture.py [--check]. With --check the picture is compared, not written; the exit status is 1 where it differs.
"""

import json
import math
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
LEFT, WIDTH, TOP, LINE = 130, 560, 62, 21
LOW, HIGH, STEP = 0.9, 1.5, 0.1
FASTER, SLOWER = "#2f6f9f", "#d08a2e"


def ratio(problem):
    """The ratio that counts: the worse of both loads."""
    return min(r for r in (problem["ratio_gaps"], problem["ratio_back_to_back"]) if r is not None)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def x_of(value):
    return LEFT + WIDTH * (value - LOW) / (HIGH - LOW)


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{words}</text>'


def grid(bottom):
    """A vertical line for each tenth, dark at 1."""
    for step in range(round((HIGH - LOW) / STEP) + 1):
        value = LOW + step * STEP
        colour = "#333333" if abs(value - 1) < STEP / 2 else "#dddddd"
        yield f'<line x1="{x_of(value):.1f}" x2="{x_of(value):.1f}" y1="{TOP}" y2="{bottom}" stroke="{colour}"/>'
        yield text(x_of(value), bottom + 16, f"{value:.1f}", ' text-anchor="middle"')


def bar(number, problem):
    """The problem's name and its bar, from 1 to the ratio."""
    value, y = ratio(problem), TOP + 4 + number * LINE
    begin, end = sorted((x_of(1), x_of(value)))
    yield text(LEFT - 8, y + 11, problem["shape"], ' text-anchor="end"')
    yield (f'<rect x="{begin:.1f}" y="{y}" width="{max(end - begin, 1):.1f}" height="{LINE - 7}" '
           f'fill="{FASTER if value >= 1 else SLOWER}"/>')
    place = (end + 4, "start") if value >= 1 else (begin - 4, "end")
    yield text(place[0], y + 11, f"{value:.3f}", f' font-size="11" text-anchor="{place[1]}"')


def picture(data):
    problems = data["problems"]
    bottom = TOP + 4 + LINE * len(problems)
    width, height = LEFT + WIDTH + 40, bottom + 48
    mean = geometric_mean([ratio(p) for p in problems])
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="12" fill="#222222">',
             "<!-- Drawn by tools/speed_picture.py from docs/speed.json; do not edit. -->",
             '<rect width="100%" height="100%" fill="#ffffff"/>',
             text(LEFT, 22, "Speed of the best Quarry kernel relative to cuBLASLt's fastest algorithm",
                  ' font-size="15" font-weight="bold"'),
             text(LEFT, 44, f'bf16 GEMM, {data["device"]}, {data["date"]}; geometric mean {mean:.3f}; '
                  "above 1: Quarry is faster")]
    lines += grid(bottom)
    for number, problem in enumerate(problems):
        lines += bar(number, problem)
    lines.append(text(LEFT, bottom + 38, "M x N x K; the worse ratio of the two loads, with gaps and back to back",
                      ' fill="#666666"'))
    return "\n".join(lines) + "\n</svg>\n"


def main():
    drawn = picture(json.loads((DOCS / "speed.json").read_text(encoding="utf-8")))
    target = DOCS / "speed.svg"
    if sys.argv[1:] == ["--check"]:
        if not target.exists() or target.read_text(encoding="utf-8") != drawn:
            sys.exit("docs/speed.svg is not what docs/speed.json gives: run tools/speed_picture.py")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        target.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
