#!/usr/bin/env python3
"""Checks that the emulator finds mistakes: makes one mistake at a time in a copy of the kernels' sources and runs it.

Each mutant lacks one barrier, wait, fence, edge predicate, ... (see mutation/operators.py and mutation/hand_written.py), and
`quarry emulate` must fail on it. Those that survive are listed, with the reason where mutation/survivors.txt or a survivors.txt
beside the kernel has one. Exits with 1 when fewer than 95% are caught (of those that compile and are not explained as no mistake),
when a survivor has no reason, or when a reason is not true any more; with 2 when the sources as they stand are not right.

With --paths, the mistakes of mutation/planted/: each stands on one path, whose problem must find it in every kernel that has the path.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutation import planted, report
from mutation.kernels import STAGES, stages_for
from mutation.mutants import all_mutants, explanations, survivors_files
from mutation.report import Fate, Result

ROOT = Path(__file__).resolve().parents[1]
LEAST_CAUGHT = 0.95
NOT_COMPILED = "do not compile"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog="\n\n".join(__doc__.split("\n\n")[1:]),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paths", action="store_true", help="run the mistakes that stand on one path alone")
    parser.add_argument("--list", action="store_true", help="show the mutants, run none")
    parser.add_argument("--only", metavar="REGEX", default="", help="only mutants whose id, line or change it is found in")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    parser.add_argument("--seed", type=int, default=1, help="seed of the problems and orders (1)")
    parser.add_argument("--command", default=str(ROOT / "build/dev/quarry"), help="the command (build/dev/quarry)")
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree whose kernels/ is mutated")
    parser.add_argument("--survivors", type=Path, help="reasons of survivors (tools/mutation/ and kernels/*/survivors.txt)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time (one a processor)")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="a run that takes longer, and ten times as long as without a mistake, hangs (60)")
    return parser.parse_args()


def run_command(words, timeout):
    """(exit status, output) of a program; the status is None where it did not end."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=timeout)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the compiler too, which the command may have started
        process.communicate()
        return None, ""


def first_finding(output):
    """The line of a finding, without those that follow."""
    return next((line for line in output.splitlines() if line.startswith("WRONG")), output.strip().split("\n")[0])


def fate_of(status, output):
    if status is None:
        return Fate.HUNG
    if status == 2 and NOT_COMPILED in output:
        return Fate.NOT_COMPILED
    if status < 0:
        return Fate.CRASHED
    return {0: Fate.SURVIVED, 1: Fate.CAUGHT}.get(status)


class Tester:
    """Runs mutants of the kernels in `kernels`."""

    def __init__(self, options, kernels):
        self.options = options
        self.kernels = kernels
        files = [options.survivors] if options.survivors else survivors_files(ROOT)
        self.explanations = [e for file in files for e in explanations(file)]
        self.timeout = options.timeout

    def emulate(self, kernels, stage):
        number = STAGES.index(stage) if stage in STAGES else len(STAGES)
        seed = str(self.options.seed + number)  # other problems in each
        words = [self.options.command, "emulate", *stage.kernels, "--kernels", str(kernels), *stage.arguments, "--seed", seed]
        status, output = run_command(words, self.timeout)
        fate = fate_of(status, output)
        if fate is None:
            raise SystemExit(f"mutation_test: exit status {status} of: {' '.join(words)}\n{output}")
        return fate, first_finding(output)

    def with_texts(self, texts, stages):
        """What becomes of a copy of the kernels with these texts in place of their own."""
        with tempfile.TemporaryDirectory(prefix="quarry-mutant-") as folder:
            shutil.copytree(self.kernels, Path(folder) / "kernels")
            for path, text in texts.items():
                (Path(folder) / path).write_text(text, encoding="utf-8")
            for stage in stages:
                fate, finding = self.emulate(Path(folder) / "kernels", stage)
                if fate != Fate.SURVIVED:
                    return fate, finding
        return Fate.SURVIVED, ""

    def run_unchanged(self, stages):
        """The same of the sources as they stand. What hangs takes much longer than they do, on a busy machine too."""
        for stage in stages:
            begin = time.monotonic()
            fate, finding = self.with_texts({}, [stage])
            if fate != Fate.SURVIVED:
                return fate, finding
            self.timeout = max(self.timeout, 10 * (time.monotonic() - begin))
        return Fate.SURVIVED, ""

    def run(self, mutant):
        fate, finding = self.with_texts(mutant.texts, stages_for(mutant.texts))
        explanation = next((e for e in self.explanations if e.fits(mutant)), None)
        result = Result(mutant, fate, finding, explanation)
        known = " (explained)" if fate == Fate.SURVIVED and explanation else ""
        print(f"{fate.value}{known}: {mutant.id}: {mutant.shown()}\n    {finding}", file=sys.stderr, flush=True)
        return result

    def run_all(self, mutants):
        with ThreadPoolExecutor(self.options.jobs) as pool:
            return list(pool.map(self.run, mutants))


def show(results, markdown):
    print(report.markdown(results) if markdown else report.plain_table(results))
    for text in report.survivors(results):
        print(text)


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="quarry-mutants-") as folder:
        # A copy, so that the sources may change while mutants run.
        shutil.copytree(options.root / "kernels", Path(folder) / "kernels")
        return (test_planted if options.paths else test)(options, Path(folder))


def test_planted(options, root):
    """Runs each planted mistake and prints, as a table, in how many of the kernels with its path it was found."""
    chosen = [p for p in planted.PLANTED if re.search(options.only, f"{p.path} {p.what} {p.edits[0][0]}")]
    if options.list:
        print("\n".join(f"{p.path}: {p.what} ({p.edits[0][0]}, {len(p.kernels)} kernels)" for p in chosen))
        return 0
    if not chosen:
        raise SystemExit("mutation_test: there is no such mistake")

    unchanged_counts = {}  # by path and kernels, which several mistakes may share

    def run(mistake):
        key = (mistake.path, mistake.kernels)
        if key not in unchanged_counts:
            unchanged_counts[key] = planted_counts(options, root, mistake, {})
        counts = unchanged_counts[key], planted_counts(options, root, mistake, planted.texts_of(root, mistake))
        print(f"{mistake.path}: {mistake.what}: {[*counts]}", file=sys.stderr, flush=True)
        return mistake, *counts

    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(run, chosen))
    print("| path | mistake | file | found in | of |\n| --- | --- | --- | ---: | ---: |")
    for mistake, _, (found, kernels) in results:
        print(f"| {mistake.path} | {mistake.what} | {mistake.edits[0][0]} | {found} | {kernels} |")
    wrong = [m for m, unchanged, (found, kernels) in results if unchanged != (0, kernels) or found < kernels or kernels == 0]
    print(f"{len(chosen)} mistakes with seed {options.seed}: {len(chosen) - len(wrong)} found in every kernel that has their path")
    return 1 if wrong else 0


def planted_counts(options, root, mistake, texts):
    """(kernels that are wrong, kernels that have the path) with these texts in place of the sources' own."""
    with tempfile.TemporaryDirectory(prefix="quarry-mutant-") as folder:
        shutil.copytree(root / "kernels", Path(folder) / "kernels")
        for path, text in texts.items():
            (Path(folder) / path).write_text(text, encoding="utf-8")
        words = planted.words_for(options.command, mistake, Path(folder) / "kernels", options.seed)
        status, output = run_command(words, options.timeout * 10)
        if status not in (0, 1):
            raise SystemExit(f"mutation_test: exit status {status} of: {' '.join(words)}\n{output}")
        return planted.counts_of(output)


def test(options, root):
    # Those written by hand name places of our own sources.
    mutants = all_mutants(root, None if options.root.resolve() == ROOT else [])
    chosen = [m for m in mutants if re.search(options.only, f"{m.id} {m.line_text} {m.shown()}")]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.id}: {mutant.shown()}")
        print(f"{len(chosen)} mutants")
        return 0
    if not chosen:
        raise SystemExit("mutation_test: there is no such mutant")
    tester = Tester(options, root / "kernels")
    fate, finding = tester.run_unchanged(stages_for({path for m in chosen for path in m.texts}))
    if fate != Fate.SURVIVED:
        print(f"The sources as they stand are not right: {fate.value}: {finding}", file=sys.stderr)
        return 2
    results = tester.run_all(chosen)
    show(results, options.markdown)
    wrong = report.untrue(results, tester.explanations, whole=len(chosen) == len(mutants))
    wrong += [f"unexplained: {r.mutant.id}" for r in results if r.fate == Fate.SURVIVED and not r.explanation]
    share = report.caught_share(results)
    print(f"{len(chosen)} of {len(mutants)} mutants run with seed {options.seed}: caught {share:.1%} of the mistakes, "
          f"{report.caught_share_of_all(results):.1%} of all that compile")
    if share < LEAST_CAUGHT:
        wrong.append(f"fewer than {LEAST_CAUGHT:.0%} are caught")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
