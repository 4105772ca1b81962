"""What became of the mutants, as text and as tables."""

from collections import Counter
from dataclasses import dataclass
from enum import Enum

from mutation.mutants import Explanation, Mutant


class Fate(Enum):
    CAUGHT = "caught"
    HUNG = "caught: no end"
    CRASHED = "caught: crashed"
    NOT_COMPILED = "does not compile"
    SURVIVED = "survived"


CAUGHT = (Fate.CAUGHT, Fate.HUNG, Fate.CRASHED)


@dataclass
class Result:
    mutant: Mutant
    fate: Fate
    finding: str = ""  # what the emulator said first
    explanation: Explanation | None = None


COLUMNS = ("mutants", "caught", "of these hung or crashed", "same or slower", "unreached", "missed", "unexplained",
           "does not compile")


def counts_of(results):
    fates = Counter(result.fate for result in results)
    left = [result for result in results if result.fate == Fate.SURVIVED]
    kinds = Counter(r.explanation.kind if r.explanation else "unexplained" for r in left)
    return (len(results), sum(fates[f] for f in CAUGHT), fates[Fate.HUNG] + fates[Fate.CRASHED], kinds["same"] + kinds["slower"],
            kinds["unreached"], kinds["missed"], kinds["unexplained"], fates[Fate.NOT_COMPILED])


def share(caught, all_):
    return caught / all_ if all_ else 1.0


def caught_share(results):
    """Of the mutants that compile and are mistakes, so without those that are explained as none; 1 where there are none."""
    mistakes = [r for r in results if r.fate != Fate.NOT_COMPILED]
    mistakes = [r for r in mistakes if not (r.fate == Fate.SURVIVED and r.explanation and r.explanation.harmless)]
    return share(sum(r.fate in CAUGHT for r in mistakes), len(mistakes))


def caught_share_of_all(results):
    """Of all that compile."""
    compiled = [r for r in results if r.fate != Fate.NOT_COMPILED]
    return share(sum(r.fate in CAUGHT for r in compiled), len(compiled))


def rows(results, key):
    for name in sorted({key(r) for r in results}):
        yield (name, *counts_of([r for r in results if key(r) == name]))


def markdown(results):
    """Two tables, by operator and by file, with one line for all."""
    lines = []
    for title, key in (("operator", lambda r: r.mutant.operator), ("file", lambda r: r.mutant.path)):
        lines += ["| " + " | ".join((title, *COLUMNS)) + " |", "| --- |" + " ---: |" * len(COLUMNS)]
        for row in [*rows(results, key), ("all", *counts_of(results))]:
            lines.append("| " + " | ".join(str(cell) for cell in row) + " |")
        lines.append("")
    return "\n".join(lines)


def plain_table(results):
    """The same for a terminal."""
    width = max(len(name) for r in results for name in (r.mutant.operator, r.mutant.path))
    lines = []
    for title, key in (("operator", lambda r: r.mutant.operator), ("file", lambda r: r.mutant.path)):
        lines.append(f"{title:<{width}}  " + "  ".join(COLUMNS))
        for name, *cells in [*rows(results, key), ("all", *counts_of(results))]:
            lines.append(f"{name:<{width}}  " + "  ".join(f"{cell:>{len(column)}}" for cell, column in zip(cells, COLUMNS)))
        lines.append("")
    return "\n".join(lines)


def untrue(results, explanations, whole):
    """What is wrong with the list of explanations. `whole`: all mutants were run, so that each must have been met."""
    wrong = []
    for explanation in explanations:
        fitting = [r for r in results if explanation.fits(r.mutant)]
        if not fitting and whole:
            wrong.append(f"{explanation.place}: no mutant fits it any more")
        for r in fitting:
            if r.fate != Fate.SURVIVED:
                wrong.append(f"{explanation.place}: explained as a survivor, but {r.fate.value}: {r.mutant.id}: {r.mutant.shown()}")
    return wrong


def survivors(results):
    for result in results:
        if result.fate == Fate.SURVIVED:
            reason = result.explanation.reason if result.explanation else "UNEXPLAINED"
            yield f"{result.mutant.id}\n    {result.mutant.line_text}\n    {result.mutant.shown()}\n    {reason}"
