#!/usr/bin/env python3
"""Which kernels are worth precompiling: writes the list that QUARRY_AOT=@FILE takes.

Usage: earned.py TIMES... --kernels KERNELS.json [--again LIST] [--within 0.03] [--out FILE]
       earned.py --again LIST --kernels KERNELS.json [--out FILE]

TIMES are files of `quarry bench --dump-times`: a line of JSON for each timed kernel. Controls are ways to run a kernel: its shortest time counts. KERNELS.json is what `quarry list --format json` prints. On the
list are entries, which several kernels may run:

  earned    kernels that were within 3% of the fastest one for some problem
  alike     kernels of the same design for other types of as many bits, and for other layouts
  untimed   all kernels of operations that no time is of
  fallback  for each signature (operation, types, layouts, scales) that has nothing of these: the kernel that needs the least alignment

Prints how many there are of each, and how many were timed and never near the fastest one; --never names them. --again takes what was timed and what
earned it from a list that the script made: the rest follows from the kernels that there are now. With both, TIMES add to what is there.
"""

import argparse
import json
import math
import re
import sys
from collections import Counter, defaultdict

BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s32": 32, "e4m3": 8, "e5m2": 8, "s4": 4, "u4": 4}
SIGNATURE = ("operation", "direction", "a.dtype", "b.dtype", "accumulator", "out.dtype", "a.layout", "b.layout", "out.layout", "math")
DESIGN = ("family", "operation", "direction", "tile.m", "tile.n", "tile.k", "warps.m", "warps.n", "warps.k", "stages", "cluster.m", "cluster.n", "schedule",
          "copy_engine", "orientation", "iterator", "strides", "filter", "math", "math_unit", "instruction.m", "instruction.n", "instruction.k")
# Controls in a command. A limit of multiprocessors is none: it is part of the question.
CONTROLS = re.compile(r" --(mode|split-k|swizzle|raster) \S+")
TIMED = "# operations with times: "
GROUPS = ("earned", "alike", "untimed", "fallback")


class BadInput(Exception):
    pass


def read_times(paths):
    """The shortest time of each kernel, by problem."""
    problems = defaultdict(dict)
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                if not text.strip():
                    continue
                try:
                    line = json.loads(text)
                    times, kernel, measured = problems[CONTROLS.sub("", line["command"])], line["kernel"], float(line["measured_us"])
                except (ValueError, KeyError, TypeError) as error:
                    raise BadInput(f"{path}:{number}: not a line of --dump-times: {error!r}") from error
                if not (math.isfinite(measured) and measured > 0):
                    raise BadInput(f"{path}:{number}: a time is not a number above 0")
                times[kernel] = min(measured, times.get(kernel, math.inf))
    if not problems:
        raise BadInput("there is no time in these files")
    return problems


def read_kernels(path):
    with open(path, encoding="utf-8") as file:
        try:
            kernels = json.load(file)["kernels"]
            return {kernel["name"]: kernel for kernel in kernels}
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{path}: not what `quarry list --format json` prints: {error!r}") from error


def near_the_best(problems, within, kernels):
    """How many problems a kernel is within so much of the fastest for, of the kernels that there are."""
    counts = Counter()
    for all_times in problems.values():
        times = {name: time for name, time in all_times.items() if name in kernels}
        best = min(times.values(), default=0)
        counts.update(kernel for kernel, time in times.items() if time <= (1 + within) * best)
    return counts


def design(kernel):
    bits = tuple(BITS.get(kernel.get(name)) for name in ("a.dtype", "b.dtype"))
    # Alignment counts in bytes: of fewer elements where they are larger. Mirrored forms exchange A and B.
    alignment = sorted((kernel.get("a.alignment") or 0, kernel.get("b.alignment") or 0))
    return (bits, *alignment, kernel.get("scales") not in (None, "none"), *(kernel.get(name) for name in DESIGN))


def signature(kernel):
    return (kernel.get("scales") not in (None, "none"), *(kernel.get(name) for name in SIGNATURE))


def least_demanding(kernels):
    return min(kernels, key=lambda k: ((k.get("a.alignment") or 0) + (k.get("b.alignment") or 0), k["cc"], k.get("shared_memory") or 0, k["name"]))


def representatives(kernels):
    """A kernel that runs each entry: the one of its name. Where only mirrored forms are registered there is none: then the first by name."""
    found = {}
    for name in sorted(kernels):
        found.setdefault(kernels[name]["entry"], name)
    return {entry: entry if entry in kernels else name for entry, name in found.items()}


def choose(earned, timed, kernels):
    """The kernels on the list, by group. earned: entries; timed: operations"""
    names = representatives(kernels)
    entries = {entry: kernels[name] for entry, name in names.items()}
    designs = {design(entries[name]) for name in earned}
    chosen = {"earned": earned, "alike": {name for name, kernel in entries.items() if name not in earned and design(kernel) in designs},
              "untimed": {name for name, kernel in entries.items() if kernel["operation"] not in timed}}
    taken = set().union(*chosen.values())
    covered = {signature(kernel) for kernel in kernels.values() if kernel["entry"] in taken and needs_nothing(kernel)}
    others = defaultdict(list)
    for kernel in kernels.values():
        if signature(kernel) not in covered:
            others[signature(kernel)].append(kernel)
    chosen["fallback"] = {least_demanding(group)["entry"] for group in others.values()} - taken
    return {group: {names[entry] for entry in members} for group, members in chosen.items()}


def needs_nothing(kernel):
    """Whether a kernel takes all problems of its signature, as far as alignment and workspace go. A GEMM that reorders operands needs a workspace."""
    if kernel["operation"] == "gemm" and kernel.get("reorders"):
        return False
    return (kernel.get("a.alignment") or 0) <= 1 and (kernel.get("b.alignment") or 0) <= 1


def list_text(chosen, timed):
    lines = ["# Entries that are precompiled: made by tools/earned.py.", TIMED + ", ".join(sorted(timed))]
    for group in GROUPS:
        lines += ["", f"# {group}: {len(chosen[group])}", *sorted(chosen[group])]
    return "\n".join(lines) + "\n"


def read_list(path, kernels):
    """The entries that earned it, and the operations that times are of, as list_text wrote them. Entries that there are no more are left out."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    timed = [line.removeprefix(TIMED).split(", ") for line in lines if line.startswith(TIMED)]
    starts = [i for i, line in enumerate(lines) if line.startswith("# earned: ")]
    if len(timed) != 1 or len(starts) != 1:
        raise BadInput(f"{path}: not a list of this script")
    names = lines[starts[0] + 1:]
    names = names[:names.index("")] if "" in names else names
    return {kernels[name]["entry"] for name in names if name in kernels}, set(timed[0])


def report_times(problems, near, kernels, names_them):
    timed = {name for times in problems.values() for name in times}
    never = sorted(timed - set(near))
    print(f"{len(problems)} problems, {len(timed)} kernels timed; {len(near)} near the fastest, {len(never)} never")
    if names_them:
        print("\n".join("  never: " + name for name in never))
    gone = sorted(timed - set(kernels))
    if gone:
        print(f"{len(gone)} of them do not exist, such as {gone[0]}")


def report(chosen, kernels):
    names = set().union(*chosen.values())
    print(", ".join(f"{group} {len(chosen[group])}" for group in GROUPS) + f": {len(names)} of {len({k['entry'] for k in kernels.values()})} entries")
    for operation, count in sorted(Counter(kernels[name]["operation"] for name in names).items()):
        print(f"  {operation}: {count}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times", nargs="*", metavar="TIMES")
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--again")
    parser.add_argument("--never", action="store_true")
    parser.add_argument("--within", type=float, default=0.03)
    parser.add_argument("--out")
    flags = parser.parse_args(arguments)
    if not flags.times and not flags.again:
        parser.error("TIMES, --again LIST, or both")
    try:
        kernels = read_kernels(flags.kernels)
        earned, timed = read_list(flags.again, kernels) if flags.again else (set(), set())
        if flags.times:
            problems = read_times(flags.times)
            near = near_the_best(problems, flags.within, kernels)
            earned |= {kernels[name]["entry"] for name in near}
            timed |= {kernels[name]["operation"] for times in problems.values() for name in times if name in kernels}
            report_times(problems, near, kernels, flags.never)
        chosen = choose(earned, timed, kernels)
        report(chosen, kernels)
        if flags.out:
            with open(flags.out, "w", encoding="utf-8") as file:
                file.write(list_text(chosen, timed))
    except (BadInput, OSError) as error:
        print(f"earned.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
