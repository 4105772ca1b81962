"""A mistake that stands on one path alone, and the run that must find it."""

import json
from dataclasses import dataclass


@dataclass
class Planted:
    path: str
    what: str
    kernels: tuple
    edits: list  # of (file, text, replacement); each text stands there exactly once


def on_paths(paths, what, kernels, edits):
    """The same mistake on several paths."""
    return [Planted(path, what, kernels, edits) for path in paths]


def texts_of(root, planted):
    """The files that a mistake changes, by name, as they are with it."""
    texts = {}
    for path, old, new in planted.edits:
        text = texts.get(path) or (root / path).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise SystemExit(f"mutation/planted: {planted.path}, '{planted.what}': not exactly once in {path}: {old!r}")
        texts[path] = text.replace(old, new)
    return texts


def words_for(command, planted, kernels, seed):
    """The run that must find the mistake in the folder `kernels`."""
    return [command, "emulate", *planted.kernels, "--path", planted.path, "--kernels", str(kernels), "--seed", str(seed), "--format", "json"]


def counts_of(output):
    """(kernels that were found wrong, kernels that have the path) as the run's JSON says."""
    document = json.loads(output)
    return len(document["wrong"]), sum(path["kernels"] for path in document["paths"])
