#!/usr/bin/env python3
"""tools/calibrate.py on times that were made up: it finds what they were made with, and holds problems out."""

import contextlib
import io
import json
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import calibrate  # noqa: E402

random.seed(os.environ.get("QUARRY_SEED"))

TRUTH = {"gemm_sm90": {"launch": 1.3, "memory": 0.8, "math": 1.25}, "gemm_sm80": {"launch": 0.7, "memory": 1.5, "math": 2.0}}


def times(dice, problems, noise=0.01):
    """Lines of kernels whose times are the parts times TRUTH."""
    lines = []
    for problem in range(problems):
        for number in range(8):
            family = dice.choice(sorted(TRUTH))
            parts = dict.fromkeys(calibrate.PARTS, 0.0)
            parts["launch"] = 2.5
            parts["memory"] = 10**dice.uniform(-1, 3)
            parts["math"] = 10**dice.uniform(-1, 3)
            factors = dict.fromkeys(calibrate.PARTS, 1.0)
            sample = {"parts": parts}
            predicted = calibrate.seconds(sample, factors)
            measured = calibrate.seconds(sample, factors | TRUTH[family]) * dice.uniform(1 - noise, 1 + noise)
            limit = max(parts, key=parts.get)
            lines.append({"command": f"gemm {problem}", "kernel": f"{family}_bf16_{number}", "limit": limit, "measured_us": measured,
                          "predicted_us": predicted, **{part + "_us": value for part, value in parts.items()}})
    return lines


class Calibrate(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = made.name
        self.seed = random.randrange(10**6)
        self.dice = random.Random(self.seed)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, lines):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        return self.path(name)

    def run_it(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = calibrate.main([*arguments])
            except SystemExit as stop:
                status = stop.code
        return status, out.getvalue(), err.getvalue()

    def test_it_finds_what_times_were_made_with(self):
        file = self.write("times", times(self.dice, 120))
        status, out, err = self.run_it(file, "--device", "a device", "--date", "2026-01-02", "--out", self.path("out"))
        self.assertEqual((status, err), (0, ""), self.seed)
        with open(self.path("out"), encoding="utf-8") as made:
            result = json.load(made)
        self.assertEqual((result["device"], result["date"], result["problems"], result["held_out"]), ("a device", "2026-01-02", 120, 24))
        for family, factors in TRUTH.items():
            for part, factor in factors.items():
                self.assertAlmostEqual(result["factors"][family][part] / factor, 1, delta=0.05, msg=f"{family} {part}, seed {self.seed}")
        for error in result["errors"]:
            self.assertLess(error["after"]["median"], 0.03, self.seed)
        self.assertLess(sum(e["after"]["median"] for e in result["errors"]), sum(e["before"]["median"] for e in result["errors"]))
        after = result["choices"]["after"]
        self.assertGreaterEqual(after["first_choice_mean"], result["choices"]["before"]["first_choice_mean"])
        self.assertGreater(after["rank_correlation_median"], 0.95)
        self.assertIn("120 problems, 960 times; 24 problems held out", out)

    def test_held_out_problems_do_not_count(self):
        lines = [calibrate.read_line(json.dumps(line), "") for line in times(self.dice, 50)]
        fitted, held = calibrate.split(lines, 3)
        self.assertEqual(len(fitted) + len(held), len(lines))
        self.assertFalse({s["problem"] for s in fitted} & {s["problem"] for s in held})
        factors = calibrate.calibrate(lines, 3)["factors"]
        for sample in held:
            sample["measured"] *= self.dice.uniform(1, 9)
        self.assertEqual(calibrate.calibrate(lines, 3)["factors"], factors, self.seed)

    def test_files_are_one_set(self):
        lines = times(self.dice, 20)
        whole = self.run_it(self.write("whole", lines), "--device", "d")
        halves = self.run_it(self.write("a", lines[:70]), self.write("b", lines[70:]), "--device", "d")
        self.assertEqual(whole, halves)

    def test_bad_input(self):
        good = times(self.dice, 10)

        def refused(lines, says):
            status, out, err = self.run_it(self.write("bad", lines), "--device", "d")
            self.assertEqual((status, out, len(err.splitlines())), (2, "", 1), err)
            self.assertIn(says, err)
        refused([], "fewer than 5 problems")
        refused(good[:16], "fewer than 5 problems")
        refused([*good, "{"], "bad:81: not a line of --dump-times")
        refused([*good, "[]"], "not a line of --dump-times")
        refused([*good, '{"command": "gemm"}'], "kernel")
        refused([{**good[0], "measured_us": 0}, *good], "bad:1: a time is not a number above 0")
        refused([{**good[0], "math_us": "x"}, *good], "bad:1: not a line")
        refused([json.dumps(good[0]).replace(str(good[0]["predicted_us"]), "NaN"), *good], "not a number above 0")
        self.assertEqual(self.run_it(self.path("none"), "--device", "d")[0], 2)
        self.assertEqual(self.run_it(self.write("good", good))[0], 2)  # no device
        self.assertEqual(self.run_it(self.path("good"), "--device", "d", "--out", self.path("no/out"))[0], 2)


if __name__ == "__main__":
    unittest.main()
