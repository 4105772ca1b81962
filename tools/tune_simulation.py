#!/usr/bin/env python3
"""How long tuning would take on many devices, from what problems took on one.

Usage: tune_simulation.py TABLE.jsonl DEVICES [--problems N] [--parts N] [--start SECONDS] [--seed N]

TABLE is what one `quarry tune` on one device wrote: the members `at` of its lines say when each problem ended, so that the
time between two of them is what the later one took. So many problems are drawn from these times, a hash puts each into a part, and
a scheduler gives the next part to the next free device, as a job array does. Prints the efficiency: the seconds of all problems
divided by devices times the seconds until the last part ends.
"""

import argparse
import heapq
import json
import random
import sys


def end_of(line):
    """When the problem of a line ended; 0 where the line does not say."""
    try:
        at = json.loads(line)["at"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0  # damaged: tables may have such lines
    return at if isinstance(at, int) else 0


def problem_seconds(lines):
    """What each problem but the first one took."""
    ends = sorted({end_of(line) for line in lines if line.strip()} - {0})
    return [later - earlier for earlier, later in zip(ends, ends[1:])]


def simulate(seconds, devices, parts, start, rng):
    """Seconds until the last part ends. A part takes `start` seconds before its first problem."""
    loads = [start] * parts
    for each in seconds:
        loads[rng.randrange(parts)] += each
    free = [0.0] * devices
    for load in loads:
        heapq.heappush(free, heapq.heappop(free) + load)
    return max(free)


def at_least(least, number):
    """A type of argparse."""
    def read(text):
        value = number(text)
        if not value >= least:
            raise argparse.ArgumentTypeError(f"expected {least} or more, got {text}")
        return value
    read.__name__ = number.__name__
    return read


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("table")
    parser.add_argument("devices", type=at_least(1, int))
    parser.add_argument("--problems", type=at_least(1, int), help="problems to draw (100 for each device)")
    parser.add_argument("--parts", type=at_least(1, int), help="parts of the job (10 for each device)")
    parser.add_argument("--start", type=at_least(0, float), default=5.0, help="seconds until a part measures (5)")
    parser.add_argument("--seed", type=int, default=1)
    flags = parser.parse_args()
    try:
        with open(flags.table, encoding="utf-8", errors="replace") as file:
            known = problem_seconds(file)
    except OSError as error:
        sys.exit(f"tune_simulation.py: {error}")
    if not known:
        sys.exit(f"tune_simulation.py: {flags.table}: the table needs two problems with different `at`")
    rng = random.Random(flags.seed)
    seconds = rng.choices(known, k=flags.problems or 100 * flags.devices)
    parts = flags.parts or 10 * flags.devices
    end = simulate(seconds, flags.devices, parts, flags.start, rng)
    print(f"{len(seconds)} problems of {sum(known) / len(known):.1f} s in {parts} parts on {flags.devices} devices: {end:.0f} s, "
          f"efficiency {sum(seconds) / (flags.devices * end):.3f}")


if __name__ == "__main__":
    main()
