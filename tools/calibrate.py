#!/usr/bin/env python3
"""Fits the parts of predicted times to measured ones, and says how well predictions keep.

Usage: calibrate.py TIMES... --device NAME [--out FILE] [--date YYYY-MM-DD] [--seed N]

TIMES are files of `quarry bench --dump-times`: a line of JSON for each timed kernel, with its measured time and the parts of its prediction
(docs/performance.md). For each family the script finds a factor for each part. A time is then

    launch + ends + epilogue + exchange + (memory^4 + math^4 + copies^4 + latency^4)^(1/4)

with every part times its factor: parts of the last term overlap, so that about the longest counts. The factors minimise the mean square of
log(predicted / measured) over four fifths of the problems, drawn by the seed. The last fifth shows what they are worth: for each family and limit
the errors before and after, and over all problems how fast the first choice is and how well ranks agree. --out writes the factors as JSON, with date and device.
"""

import argparse
import datetime
import json
import math
import random
import statistics
import sys
from collections import defaultdict

ADDED = ("launch", "ends", "epilogue", "exchange")
OVERLAPPED = ("memory", "math", "copies", "latency")
PARTS = ADDED + OVERLAPPED
POWER = 4
LEAST, MOST = 0.2, 5.0  # of a factor


class BadInput(Exception):
    pass


def read_line(text, where):
    try:
        line = json.loads(text)
        sample = {"problem": line["command"], "family": family_of(line["kernel"]), "kernel": line["kernel"], "limit": line["limit"],
                  "measured": float(line["measured_us"]), "predicted": float(line["predicted_us"]),
                  "parts": {part: float(line[part + "_us"]) for part in PARTS}}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{where}: not a line of --dump-times: {error!r}") from error
    numbers = [sample["measured"], sample["predicted"], *sample["parts"].values()]
    if not all(math.isfinite(n) and n >= 0 for n in numbers) or sample["measured"] <= 0 or sample["predicted"] <= 0:
        raise BadInput(f"{where}: a time is not a number above 0")
    return sample


def family_of(kernel):
    """gemm_sm90 of gemm_sm90_bf16_...: the words up to the first type."""
    words = kernel.split("_")
    return "_".join(words[:2]) if len(words) > 2 else kernel


def read(paths):
    samples = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                samples += [read_line(text, f"{path}:{number}") for number, text in enumerate(file, 1) if text.strip()]
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: {error}") from error
    if len({sample["problem"] for sample in samples}) < 5:
        raise BadInput("fewer than 5 problems: nothing could be held out")
    return samples


def split(samples, seed):
    """Samples to fit, and those of a fifth of the problems."""
    problems = sorted({sample["problem"] for sample in samples})
    random.Random(seed).shuffle(problems)
    held = set(problems[:max(1, len(problems) // 5)])
    return [s for s in samples if s["problem"] not in held], [s for s in samples if s["problem"] in held]


def seconds(sample, factors):
    parts = sample["parts"]
    added = sum(parts[part] * factors[part] for part in ADDED)
    return added + sum((parts[part] * factors[part])**POWER for part in OVERLAPPED)**(1 / POWER)


def error(samples, factors):
    return statistics.fmean(math.log(max(seconds(s, factors), 1e-9) / s["measured"])**2 for s in samples)


def fit(samples):
    """Factors by coordinate descent: each in turn a little up or down, as long as it helps, in ever smaller steps."""
    factors = dict.fromkeys(PARTS, 1.0)
    used = [part for part in PARTS if any(s["parts"][part] > 0 for s in samples)]
    best = error(samples, factors)
    step = 1.5
    while step > 1.005:
        improved = False
        for part in used:
            for change in (step, 1 / step):
                tried = dict(factors, **{part: min(MOST, max(LEAST, factors[part] * change))})
                if (e := error(samples, tried)) < best * (1 - 1e-6):
                    factors, best, improved = tried, e, True
                    break
        if not improved:
            step = math.sqrt(step)
    return {part: round(factors[part], 3) for part in used}


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    place = [0] * len(values)
    for rank, i in enumerate(order):
        place[i] = rank
    return place


def correlation(a, b):
    a, b = ranks(a), ranks(b)
    n = len(a)
    return 1 - 6 * sum((x - y)**2 for x, y in zip(a, b)) / (n * (n * n - 1))


def choices(samples, predict):
    """(first choice / best, lowest, median rank correlation) over problems."""
    problems = defaultdict(list)
    for sample in samples:
        problems[sample["problem"]].append(sample)
    shares, correlations = [], []
    for group in problems.values():
        first = min(group, key=predict)
        shares.append(min(s["measured"] for s in group) / first["measured"])
        if len(group) > 2:
            correlations.append(correlation([predict(s) for s in group], [s["measured"] for s in group]))
    mean = math.exp(statistics.fmean(map(math.log, shares)))
    return {"first_choice_mean": round(mean, 4), "first_choice_lowest": round(min(shares), 4),
            "rank_correlation_median": round(statistics.median(correlations), 4) if correlations else None}


def spread(samples, predict):
    logs = sorted(abs(math.log(predict(s) / s["measured"])) for s in samples)
    return {"median": round(math.exp(statistics.median(logs)) - 1, 4), "most": round(math.exp(logs[-1]) - 1, 4)}


def calibrate(samples, seed):
    fitted, held = split(samples, seed)
    families = {}
    for family in sorted({s["family"] for s in samples}):
        own = [s for s in fitted if s["family"] == family]
        families[family] = dict.fromkeys(PARTS, 1.0) | (fit(own) if own else {})

    def before(s):
        return s["predicted"]

    def after(s):
        return seconds(s, families[s["family"]])

    errors = []
    for family, limit in sorted({(s["family"], s["limit"]) for s in held}):
        group = [s for s in held if (s["family"], s["limit"]) == (family, limit)]
        errors.append({"family": family, "limit": limit, "kernels": len(group), "before": spread(group, before), "after": spread(group, after)})
    return {"problems": len({s["problem"] for s in samples}), "kernels": len(samples), "held_out": len({s["problem"] for s in held}),
            "factors": families, "errors": errors, "choices": {"before": choices(held, before), "after": choices(held, after)}}


def report(result):
    print(f"{result['problems']} problems, {result['kernels']} times; {result['held_out']} problems held out\n")
    print(f"{'family':16} {'limit':10} {'times':>6}  {'median error':>22}  {'largest error':>22}")
    for e in result["errors"]:
        median = f"{e['before']['median']:.1%} -> {e['after']['median']:.1%}"
        most = f"{e['before']['most']:.1%} -> {e['after']['most']:.1%}"
        print(f"{e['family']:16} {e['limit']:10} {e['kernels']:6}  {median:>22}  {most:>22}")
    print()
    for when, c in result["choices"].items():
        print(f"{when + ':':8} first choice / best {c['first_choice_mean']}, lowest {c['first_choice_lowest']}; rank correlation {c['rank_correlation_median']}")
    print()
    for family, factors in result["factors"].items():
        print(f"{family}: " + ", ".join(f"{part} {factor}" for part, factor in factors.items() if factor != 1.0))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times", nargs="+", metavar="TIMES")
    parser.add_argument("--device", required=True)
    parser.add_argument("--out")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--seed", type=int, default=1)
    flags = parser.parse_args(arguments)
    try:
        result = calibrate(read(flags.times), flags.seed)
        report(result)
        if flags.out:
            with open(flags.out, "w", encoding="utf-8") as file:
                json.dump({"device": flags.device, "date": flags.date, "seed": flags.seed, **result}, file, indent=1)
                file.write("\n")
    except (BadInput, OSError) as error:
        print(f"calibrate.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
