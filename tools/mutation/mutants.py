"""All mutants of a tree of kernels, and the list of those that survive for a reason."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from mutation.hand_written import HAND_WRITTEN
from mutation.operators import changes
from mutation.source import Source

SOURCES = ("kernels/**/*.cuh", "kernels/layout/swizzled_tile.hpp", "kernels/common/piece_map.hpp",
           "kernels/common/stream_k.hpp")
# Of layout/, what kernels run: the algebra is computed before they do, and has tests of its own.
# The seam is what the emulator replaces; the other three are arithmetic, which results are compared for, or that
# tests/emulator/convert_test.cpp goes through.
LEFT_OUT = r"kernels/arch/.*|kernels/common/(activation|element|fast_convert)\.cuh"


@dataclass
class Mutant:
    """A tree of kernels with one mistake in it."""

    path: str
    line: int
    operator: str
    before: str  # the text that changes, and what line it stands in
    after: str
    line_text: str
    texts: dict = field(repr=False)  # file -> its text with the mistake
    number: int = 1  # which of those with the same operator on the same line
    function: str = ""  # the device function that it stands in; nothing of mutants written by hand
    turn: int = 1  # which of those in functions of this name whose operator and change look the same

    @property
    def id(self):
        return f"{self.path}:{self.line} {self.operator}" + (f" ({self.number})" if self.number > 1 else "")

    def shown(self):
        return f"{self.before} -> {self.after or '(nothing)'}"


def one_line(text):
    return " ".join(text.split())


def with_neighbours(source, span, replacement):
    """The code of a change before and after it, a short one with a word on either side, by which it can be told."""
    before, after, left, right = span.of(source.code), replacement, "", ""
    if len(one_line(before)) < 5:
        left = re.search(r"\S*\s*$", source.code[: span.begin])[0]
        right = re.match(r"\s*\S*", source.code[span.end :])[0]
    return one_line(left + before + right), one_line(left + after + right)


def function_at(source, place):
    """The name of the last device function that begins before a place."""
    names = re.findall(r"QUARRY_DEVICE[^;{}()]*?(\w+)\(", source.code[:place])
    return names[-1] if names else ""


def of_source(source):
    for change in changes(source):
        begin, end = change.span.begin, change.span.end
        text = source.text[:begin] + change.replacement + source.text[end:]
        before, after = with_neighbours(source, change.span, change.replacement)
        yield Mutant(source.path, source.line_of(begin), change.operator, before, after, source.line_text(begin), {source.path: text},
                     function=function_at(source, begin))


def of_hand_written(root, hand_written=None):
    for entry in HAND_WRITTEN if hand_written is None else hand_written:
        texts, first = {}, None
        for path, old, new in entry.edits:
            text = texts.get(path) or (root / path).read_text(encoding="utf-8")
            if text.count(old) != 1:
                raise SystemExit(f"mutation/hand_written.py: '{entry.what}': not exactly once in {path}: {old!r}")
            first = first or (path, text.count("\n", 0, text.index(old) + len(old) - len(old.lstrip())) + 1)
            texts[path] = text.replace(old, new)
        path, line = first
        line_text = (root / path).read_text(encoding="utf-8").splitlines()[line - 1].strip()
        yield Mutant(path, line, entry.operator, one_line(entry.edits[0][1]), entry.what, line_text, texts)


def all_mutants(root, hand_written=None):
    """Mutants of the tree at `root`, in the order of their places; each text once."""
    paths = sorted({path.relative_to(root).as_posix() for pattern in SOURCES for path in root.glob(pattern)})
    found = []
    for path in paths:
        if not re.fullmatch(LEFT_OUT, path):
            found += of_source(Source(path, (root / path).read_text(encoding="utf-8")))
    found += of_hand_written(root, hand_written)
    known, counts, kept = set(), Counter(), []
    for mutant in sorted(found, key=lambda m: (m.path, m.line)):
        text = tuple(sorted(mutant.texts.items()))
        if text in known:
            continue
        known.add(text)
        of_line = (mutant.path, mutant.line, mutant.operator)
        of_function = (mutant.path, mutant.function, mutant.operator, mutant.shown())
        counts.update((of_line, of_function))
        mutant.number, mutant.turn = counts[of_line], counts[of_function]
        kept.append(mutant)
    return kept


KINDS = ("same", "slower", "unreached", "missed")


@dataclass
class Explanation:
    """Why mutants survive: those of an operator whose line holds `line` and whose change, as shown, holds `change`.

    Where the line begins with "in NAME: ", those in the function of this name alone. With "in NAME (2): ", the second one of those that
    look the same there.
    """

    path: str
    operator: str
    line: str
    change: str
    reason: str
    place: str  # where it is written
    function: str = ""
    turn: int = 0  # 0: each

    def __post_init__(self):
        named = re.fullmatch(r"in (\w+)(?: \((\d+)\))?: (.*)", self.line)
        if named:
            self.function, self.turn, self.line = named[1], int(named[2] or 0), named[3]

    @property
    def kind(self):
        return self.reason.split(":")[0]

    @property
    def harmless(self):
        """Whether the mutant is no mistake in any registered kernel."""
        return self.kind != "missed"

    def fits(self, mutant):
        return (mutant.path == self.path and mutant.operator == self.operator and self.line in mutant.line_text
                and self.change in mutant.shown() and self.function in ("", mutant.function) and self.turn in (0, mutant.turn))


def survivors_files(root):
    """Where the reasons of survivors stand: those of what families share, and those of a family beside its kernel."""
    return [root / "tools/mutation/survivors.txt", *sorted((root / "kernels").glob("*/survivors.txt"))]


def explanations(file: Path):
    """Reads the list: 'FILE | OPERATOR | [in FUNCTION[ (NUMBER)]: ]part of the line [| part of the change]' and, indented, 'KIND: reason'.

    Several of these may share the reason that follows them.
    """
    found, begun, open_ones = [], False, []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{file.name}:{number}"
        if line.startswith(" "):
            if not open_ones:
                raise SystemExit(f"{place}: a reason of nothing")
            begun = True
            for explanation in open_ones:
                explanation.reason = one_line(explanation.reason + " " + line)
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) not in (3, 4):
            raise SystemExit(f"{place}: not FILE | OPERATOR | [in FUNCTION[ (NUMBER)]: ]part of the line [| part of the change]")
        if begun:
            open_ones, begun = [], False
        open_ones.append(Explanation(*parts[:3], parts[3] if len(parts) == 4 else "", "", place))
        found.append(open_ones[-1])
    for explanation in found:
        if explanation.kind not in KINDS or explanation.kind == explanation.reason:
            raise SystemExit(f"{explanation.place}: no reason that begins with {', '.join(KINDS)} and a colon")
    return found
