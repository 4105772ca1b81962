#!/usr/bin/env python3
"""Fits the parts of predicted times to measured ones, and says how well predictions keep.

Usage: calibrate.py TIMES... --device NAME [--base FILE] [--out FILE] [--date YYYY-MM-DD] [--seed N]

TIMES are files of `quarry bench --dump-times`, which xz may have compressed: a line of JSON for each timed kernel, with its measured time and the
parts of its prediction (docs/performance.md). For each kind of kernel (FMA, mma.sync, wgmma) the script finds a factor for each part, and puts the time together from the
parts as the model does: what happens at the same time hides each other except for a share. The factors minimise the mean square of
log(predicted / measured) over four fifths of the problems, drawn by the seed; a kernel that is half as fast as the problem's best counts a quarter.
The last fifth shows what they are worth: for each kind and limit, and for each family and regime, the errors before and after, and over all problems
how fast the first choice is and how well ranks agree. Regimes are launch-bound and memory-bound, by the limit; of all others wave-bound, where blocks
leave more than a fifth of the places of their rounds idle, and compute-bound.

--out writes the factors as JSON, with date and device, which NAME is as the driver calls it: the build takes registry/device/*_calibration.json. The
times' predictions had the factors of the library that wrote them: --base names the file whose factors it used for the device.
"""

import argparse
import datetime
import json
import lzma
import math
import os
import random
import re
import statistics
import sys
from collections import defaultdict

PARTS = ("launch", "memory", "math", "copies", "latency", "ends", "epilogue", "exchange")
FACTORS = (*PARTS, "reduction")  # of exchange by a launch of its own
KINDS = {"simt": "simt", "sm80": "mma", "sm90": "wgmma"}
LEAST, MOST = 0.2, 5.0  # of a factor
REGIMES = ("launch-bound", "memory-bound", "wave-bound", "compute-bound")
FULL = 0.8  # the least share of the places in all rounds that blocks take, unless their number is what binds


class BadInput(Exception):
    pass


def read_line(text, where):
    try:
        line = json.loads(text)
        sample = {"problem": line["command"], "kind": kind_of(line["kernel"]), "family": family_of(line["kernel"]), "kernel": line["kernel"], "limit": line["limit"],
                  "reduces": line["mode"] == "split_k_parallel", "measured": float(line["measured_us"]),
                  "predicted": float(line["predicted_us"]), "waves": float(line["waves"]), "parts": [float(line[part + "_us"]) for part in PARTS]}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{where}: not a line of --dump-times: {error!r}") from error
    numbers = [sample["measured"], sample["predicted"], sample["waves"], *sample["parts"]]
    if not all(math.isfinite(n) and n >= 0 for n in numbers) or sample["measured"] <= 0 or sample["predicted"] <= 0:
        raise BadInput(f"{where}: a time is not a number above 0")
    if sample["kind"] is None:
        return None
    alone = together(sample["kind"], sample["waves"], *sample["parts"])
    if alone <= 0:
        raise BadInput(f"{where}: all parts are 0")
    sample["regime"] = regime_of(sample["limit"], sample["waves"])
    # What the parts do not say, such as two tiles under way at a time.
    sample["rest"] = sample["predicted"] / alone
    return sample


def kind_of(kernel):
    """wgmma of gemm_sm90_bf16_...; None of kernels that multiply nothing."""
    return next((kind for word, kind in KINDS.items() if f"_{word}_" in kernel), None)


def family_of(kernel):
    """gemm_sm90 of gemm_sm90_bf16_...; None of kernels that multiply nothing."""
    found = re.match(rf"(\w*?_(?:{'|'.join(KINDS)}))_", kernel)
    return found.group(1) if found else None


def regime_of(limit, waves):
    """What binds a time: by its longest part, and where this is work of the multiprocessors, by how full the rounds of blocks are."""
    if limit in ("launch", "memory"):
        return limit + "-bound"
    return "wave-bound" if waves < FULL * math.ceil(waves) else "compute-bound"


def opened(path):
    return lzma.open(path, "rt", encoding="utf-8") if path.endswith(".xz") else open(path, encoding="utf-8")


def read(paths):
    samples = []
    for path in paths:
        try:
            with opened(path) as file:
                samples += [read_line(text, f"{path}:{number}") for number, text in enumerate(file, 1) if text.strip()]
        except (OSError, EOFError, UnicodeDecodeError, lzma.LZMAError) as error:
            raise BadInput(f"{path}: {error}") from error
    samples = [sample for sample in samples if sample is not None]
    if len({sample["problem"] for sample in samples}) < 5:
        raise BadInput("fewer than 5 problems: nothing could be held out")
    return samples


def weigh(samples):
    """A kernel counts the less the slower it is than the best one of its problem."""
    best = defaultdict(lambda: math.inf)
    for sample in samples:
        best[sample["problem"]] = min(best[sample["problem"]], sample["measured"])
    for sample in samples:
        sample["weight"] = (best[sample["problem"]] / sample["measured"])**2


def split(samples, seed):
    """Samples to fit, and those of a fifth of the problems."""
    problems = sorted({sample["problem"] for sample in samples})
    random.Random(seed).shuffle(problems)
    held = set(problems[:max(1, len(problems) // 5)])
    return [s for s in samples if s["problem"] not in held], [s for s in samples if s["problem"] in held]


def both(a, b, unhidden):
    return max(a, b) + unhidden * min(a, b)


def constant(path, name):
    """A number of the model, from where it stands."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", path)
    with open(path, encoding="utf-8") as file:
        found = re.search(rf"^(?:inline )?constexpr double {name} = ([0-9.e-]+);", file.read(), re.MULTILINE)
    if not found:
        raise BadInput(f"{path}: there is no constant {name}")
    return float(found.group(1))


def unhidden_shares():
    """Of what happens at the same time, the shares that are not hidden, by kind of kernel; of wgmma the waves that make it so much."""
    common, wgmma = "kernels/gemm/estimate.cpp", "kernels/gemm_sm90/estimate.cpp"
    step, profile = "kernels/gemm_sm90/step_time.hpp", "kernels/gemm_sm90/profile.cpp"
    return {"wgmma": (constant(step, "unhidden"), constant(wgmma, "unhidden_from"), constant(profile, "unhidden_memory")),
            "mma": (constant(common, "unhidden"), constant(common, "unhidden_latency"), constant(common, "unhidden_memory"))}


UNHIDDEN = unhidden_shares()


def together(kind, waves, launch, memory, math_units, copies, latency, ends, epilogue, exchange):
    """As kernels/gemm/estimate.cpp and kernels/gemm_sm90/estimate.cpp put the parts together, with their shares of what is not hidden."""
    if kind == "wgmma":
        longest = max(math_units, copies, latency)
        unhidden, unhidden_from, unhidden_memory = UNHIDDEN["wgmma"]
        step = longest + unhidden * min(1, waves / unhidden_from) * (math_units + copies + latency - longest)
        beside = unhidden_memory + (1 - unhidden_memory) / max(1, math.ceil(waves))
        return launch + both(step + ends + epilogue, memory, beside) + exchange
    unhidden, unhidden_latency, unhidden_memory = UNHIDDEN["mma"]
    step = both(both(math_units, copies, unhidden), latency, unhidden_latency)
    return launch + both(step + ends + epilogue, memory, unhidden_memory / max(1, math.ceil(waves))) + exchange


def seconds(sample, factors):
    parts = [part * factor for part, factor in zip(sample["parts"], factors)]
    if sample["reduces"]:
        parts[-1] = sample["parts"][-1] * factors[-1]
    return sample["rest"] * together(sample["kind"], sample["waves"], *parts)


def error(samples, factors):
    return sum(s["weight"] * math.log(max(seconds(s, factors), 1e-9) / s["measured"])**2 for s in samples)


def fit(samples):
    """Factors by coordinate descent: each in turn a little up or down, as long as it helps, in ever smaller steps."""
    factors = [1.0] * len(FACTORS)
    best = error(samples, factors)
    step = 1.5
    while step > 1.01:
        improved = False
        for i in range(len(factors)):
            for change in (step, 1 / step):
                tried = list(factors)
                tried[i] = min(MOST, max(LEAST, factors[i] * change))
                if (e := error(samples, tried)) < best * (1 - 1e-4):
                    factors, best, improved = tried, e, True
                    break
        if not improved:
            step = math.sqrt(step)
    return factors


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
    """First choice / best (geometric mean, 5th percentile, lowest) and the median rank correlation over problems."""
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
    shares.sort()
    return {"first_choice_mean": round(mean, 4), "first_choice_5th_percentile": round(shares[len(shares) // 20], 4), "first_choice_lowest": round(shares[0], 4),
            "rank_correlation_median": round(statistics.median(correlations), 4) if correlations else None}


def spread(samples, predict):
    logs = sorted(abs(math.log(predict(s) / s["measured"])) for s in samples)
    return {"median": round(math.exp(statistics.median(logs)) - 1, 4), "most": round(math.exp(logs[-1]) - 1, 4)}


def calibrate(samples, seed, base):
    fitted, held = split(samples, seed)
    weigh(fitted)
    kinds = {}
    for kind in sorted({s["kind"] for s in samples}):
        own = [s for s in fitted if s["kind"] == kind]
        kinds[kind] = fit(own) if own else [1.0] * len(FACTORS)

    def before(s):
        return s["predicted"]

    def after(s):
        return seconds(s, kinds[s["kind"]])

    def errors_by(one, other, order=sorted):
        """Errors of the held-out times, in groups by two members."""
        errors = []
        for values in order({(s[one], s[other]) for s in held}):
            group = [s for s in held if (s[one], s[other]) == values]
            errors.append({one: values[0], other: values[1], "kernels": len(group), "before": spread(group, before), "after": spread(group, after)})
        return errors

    def by_regime(groups):
        return sorted(groups, key=lambda group: (group[0], REGIMES.index(group[1])))

    factors = {kind: {name: round(factor * base.get(kind, {}).get(name, 1.0), 3) for name, factor in zip(FACTORS, kinds[kind])} for kind in kinds}
    return {"problems": len({s["problem"] for s in samples}), "kernels": len(samples), "held_out": len({s["problem"] for s in held}),
            "factors": {**base, **factors}, "errors": errors_by("kind", "limit"), "regimes": errors_by("family", "regime", by_regime), "choices": {"before": choices(held, before), "after": choices(held, after)}}


def report_errors(errors, one, other):
    print(f"{one:18} {other:14} {'times':>6}  {'median error':>22}  {'largest error':>22}")
    for e in errors:
        median = f"{e['before']['median']:.1%} -> {e['after']['median']:.1%}"
        most = f"{e['before']['most']:.1%} -> {e['after']['most']:.1%}"
        print(f"{e[one]:18} {e[other]:14} {e['kernels']:6}  {median:>22}  {most:>22}")
    print()


def report(result):
    print(f"{result['problems']} problems, {result['kernels']} times; {result['held_out']} problems held out\n")
    report_errors(result["errors"], "kind", "limit")
    report_errors(result["regimes"], "family", "regime")
    for when, c in result["choices"].items():
        print(f"{when + ':':8} first choice / best {c['first_choice_mean']}, 5th percentile {c['first_choice_5th_percentile']}, "
              f"lowest {c['first_choice_lowest']}; rank correlation {c['rank_correlation_median']}")
    print()
    for kind, factors in result["factors"].items():
        print(f"{kind}: " + ", ".join(f"{name} {factor}" for name, factor in factors.items() if factor != 1.0))


def read_base(path):
    if path is None:
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            factors = json.load(file)["factors"]
        return {kind: {name: float(of[name]) for name in FACTORS} for kind, of in factors.items() if kind in KINDS.values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path}: no factors of a calibration: {error!r}") from error


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times", nargs="+", metavar="TIMES")
    parser.add_argument("--device", required=True)
    parser.add_argument("--base")
    parser.add_argument("--out")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--seed", type=int, default=1)
    flags = parser.parse_args(arguments)
    try:
        result = calibrate(read(flags.times), flags.seed, read_base(flags.base))
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
