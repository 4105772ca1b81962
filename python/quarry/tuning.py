"""Tuning of many problems on many machines, by the command `quarry tune`: in parts, by Dask or by any scheduler.

    client = distributed.Client("scheduler:8786")  # a worker for each device, with one thread
    missing = tune_with_dask(client, Path("problems.txt").read_text().splitlines(), "table.jsonl")

The command must be found on the workers; they need no folder in common.
"""

import functools
import os
import queue
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["merge_tables", "tune_part", "tune_with_dask"]

# What the command says of lines that it cannot read: of one, of several, and of all.
_NO_PROBLEMS = ("line of the log is no problem", "lines of the log are no problems", "there is no problem in it")


def tune_part(problems: Sequence[str], index: int, parts: int, *, flags: Sequence[str] = (), command: str = "quarry") -> bytes:
    """Measures part `index` (from 0) of `parts` on this machine and returns its table.

    `problems` are lines that QUARRY_LOG_PROBLEMS makes a program write, `flags` those of `quarry tune`, such as --top 8. A hash of
    a problem decides its part, so every part is given all problems. Raises RuntimeError with what the command says where it fails and has measured nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.jsonl")
        done = _tune(command, problems, folder, [*flags, "--shard", f"{index}/{parts}", "-o", str(table)])
        measured = table.read_bytes() if table.exists() else b""
        if done.returncode != 0 and not measured:
            raise RuntimeError(f"part {index} of {parts} failed: {done.stderr.strip()}")
        return measured


def merge_tables(tables: Iterable[bytes], problems: Sequence[str], output: str | os.PathLike[str], *, command: str = "quarry") -> list[str]:
    """Adds tables to the table `output`. Returns the problems that it lacks then, and lines of `problems` that are no problems."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, table in enumerate(tables):
            paths.append(Path(folder, f"part-{number}.jsonl"))
            paths[-1].write_bytes(table)
        if not paths:
            raise ValueError("tables: expected one or more")
        done = _tune(command, problems, folder, ["-o", os.fspath(output), "--merge", *map(str, paths)])
        missing = [line.removeprefix("missing: ") for line in done.stdout.splitlines() if line.startswith("missing: ")]
        if done.returncode != 0 and not missing:
            raise RuntimeError(f"the tables could not be merged: {done.stderr.strip()}")
        return missing + (_no_problems(command, problems) if any(words in done.stderr for words in _NO_PROBLEMS) else [])


def tune_with_dask(
    client: Any,
    problems: Sequence[str],
    output: str | os.PathLike[str],
    *,
    parts: int | None = None,
    flags: Sequence[str] = (),
    command: str = "quarry",
    resources: dict[str, float] | None = None,
) -> list[str]:
    """Tunes on the workers of a `distributed.Client`, into the table `output` of this machine. Returns as merge_tables.

    Each part is a task; parts differ in size, so by default there are four for each worker. `resources` are what a task needs, such
    as {"GPU": 1}. An `output` that cannot be written is noticed first. Parts are merged as they end: what they measured is kept. If
    parts failed or could not be merged, RuntimeError is raised at the end and names the first; a call with the problems that the
    table lacks goes on.
    """
    missing = merge_tables([b""], problems, output, command=command)
    count = parts or 4 * max(len(client.scheduler_info()["workers"]), 1)
    tasks = [
        client.submit(tune_part, problems, index, count, flags=flags, command=command, pure=False, resources=resources)
        for index in range(count)
    ]
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index, task in enumerate(tasks):
        task.add_done_callback(functools.partial(_put, ended, index))
    failures: list[Exception] = []
    left = count
    while left > 0:
        ready = [ended.get()]
        while not ended.empty():
            ready.append(ended.get())
        left -= len(ready)
        tables: dict[int, bytes] = {}
        for index in ready:
            try:
                tables[index] = tasks[index].result()
            except Exception as failure:
                failures.append(failure)
        missing = _merge_parts(tables, problems, output, command, failures, missing)
    if failures:
        raise RuntimeError(f"{len(failures)} of {count} parts failed, the first: {failures[0]}") from failures[0]
    return missing


def _put(ended: "queue.SimpleQueue[int]", index: int, _task: Any) -> None:
    ended.put(index)


def _merge_parts(
    tables: dict[int, bytes], problems: Sequence[str], output: str | os.PathLike[str], command: str, failures: list[Exception], missing: list[str]
) -> list[str]:
    """Merges tables, by parts, into the output: one by one if they do not merge together. Returns what it lacks then."""
    if not tables:
        return missing
    try:
        return merge_tables(tables.values(), problems, output, command=command)
    except RuntimeError as failure:
        if len(tables) == 1:
            failures.append(RuntimeError(f"part {next(iter(tables))}: {failure}"))
            return missing
    for index, table in tables.items():
        missing = _merge_parts({index: table}, problems, output, command, failures, missing)
    return missing


def _no_problems(command: str, lines: Sequence[str]) -> list[str]:
    """Lines that are no problems. The command says how many there are, so that halves without one are passed over."""
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "empty.jsonl")
        empty.write_bytes(b"")
        said = _tune(command, lines, folder, ["-o", str(Path(folder, "table.jsonl")), "--merge", str(empty)]).stderr
    if not any(words in said for words in _NO_PROBLEMS):
        return []
    if len(lines) == 1:
        return list(lines)
    middle = len(lines) // 2
    return _no_problems(command, lines[:middle]) + _no_problems(command, lines[middle:])


def _tune(command: str, problems: Sequence[str], folder: str, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    log = Path(folder, "problems.txt")
    log.write_text("".join(line.rstrip("\n") + "\n" for line in problems))
    return subprocess.run([command, "tune", "--log", str(log), *arguments], capture_output=True, text=True, check=False)
