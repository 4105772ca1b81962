#!/usr/bin/env python3
"""How fast the kernels are that queries choose, beside the fastest of all that were timed.

Usage: choice_quality.py TIMES... --quarry COMMAND --device-model NAME [--table FILE] [--least X]

TIMES are files of `quarry bench --all --dump-times`, which xz may have compressed: all kernels of some problems. For each problem the command is
asked for its first choice, by the tuning table if there is one, and by the ranking alone. Prints the mean, the 5th percentile and the lowest of the
best time divided by the chosen kernel's. With --least X the exit status is 1 if the mean is less.
"""

import argparse
import json
import lzma
import math
import os
import shlex
import statistics
import subprocess
import sys
from collections import defaultdict


class BadInput(Exception):
    pass


def opened(path):
    return lzma.open(path, "rt", encoding="utf-8") if path.endswith(".xz") else open(path, encoding="utf-8")


def read_times(paths):
    """Microseconds by problem, kernel and controls."""
    problems = defaultdict(dict)
    for path in paths:
        with opened(path) as file:
            for number, text in enumerate(file, 1):
                if not text.strip():
                    continue
                try:
                    line = json.loads(text)
                    key = (line["kernel"], line.get("mode"), line.get("split_k"))
                    times, measured = problems[line["command"]], float(line["measured_us"])
                except (ValueError, KeyError, TypeError) as error:
                    raise BadInput(f"{path}:{number}: not a line of --dump-times: {error!r}") from error
                if not (math.isfinite(measured) and measured > 0):
                    raise BadInput(f"{path}:{number}: a time is not a number above 0")
                times[key] = min(measured, times.get(key, math.inf))
    if not problems:
        raise BadInput("there is no time in these files")
    return problems


def first_choice(quarry, problem, device, table):
    try:
        flags = shlex.split(problem)
    except ValueError as error:
        raise BadInput(f"{problem}: {error}") from error
    words = [quarry, "find", *flags, "--device-model", device, "--limit", "1", "--format", "json"]
    done = subprocess.run(words, capture_output=True, text=True, env=dict(os.environ, QUARRY_TUNING=table))
    if done.returncode != 0:
        raise BadInput(f"{problem}: {done.stderr.strip()}")
    choice = json.loads(done.stdout)["candidates"][0]
    return choice, choice.get("measured_us") is not None


def time_of(choice, times):
    """The time of a choice: with its controls, else with others. None: it was not timed."""
    exact = times.get((choice["name"], choice["mode"], choice["split_k"]))
    others = [time for (kernel, _, _), time in times.items() if kernel == choice["name"]]
    return exact if exact is not None else min(others, default=None)


def ratios(problems, quarry, device, table):
    """best / chosen of each problem, how many choices were measured ones, and problems whose choice was not timed."""
    found, tuned, missing = [], 0, []
    for problem, times in problems.items():
        choice, is_tuned = first_choice(quarry, problem, device, table)
        time = time_of(choice, times)
        if time is None:
            missing.append((problem, choice["name"]))
            continue
        tuned += is_tuned
        found.append((min(times.values()) / time, problem))
    return sorted(found), tuned, missing


def report(name, problems, quarry, device, table):
    found, tuned, missing = ratios(problems, quarry, device, table)
    for problem, kernel in missing:
        print(f"{name}: {problem}: {kernel} was not timed")
    if not found:
        raise BadInput("no chosen kernel was timed")
    values = [ratio for ratio, _ in found]
    mean = statistics.fmean(values)
    print(f"{name}: chosen / best {mean:.3f}, 5th percentile {values[len(values) // 20]:.3f}, lowest {values[0]:.3f} ({found[0][1]}); "
          f"{len(values)} problems, {tuned} of them by the table")
    return mean


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times", nargs="+", metavar="TIMES")
    parser.add_argument("--quarry", required=True)
    parser.add_argument("--device-model", required=True)
    parser.add_argument("--table")
    parser.add_argument("--least", type=float, default=0.0)
    flags = parser.parse_args(arguments)
    try:
        problems = read_times(flags.times)
        mean = report("ranking", problems, flags.quarry, flags.device_model, "off")
        if flags.table:
            mean = report("table", problems, flags.quarry, flags.device_model, os.path.abspath(flags.table))
    except (BadInput, OSError, EOFError, UnicodeDecodeError, lzma.LZMAError) as error:
        print(f"choice_quality.py: {error}", file=sys.stderr)
        return 2
    return 0 if mean >= flags.least else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
