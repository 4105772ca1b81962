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

KERNELS = {"wgmma": "gemm_sm90", "mma": "gemm_sm80"}
TRUTH = {"wgmma": {"launch": 1.3, "memory": 0.8, "math": 1.25, "reduction": 1.6}, "mma": {"launch": 0.7, "memory": 1.5, "math": 2.0, "exchange": 1.8}}


def times(dice, problems, noise=0.01):
    """Lines of kernels whose times are the parts times TRUTH, and what the parts do not say."""
    lines = []
    for problem in range(problems):
        for number in range(8):
            kind = dice.choice(sorted(TRUTH))
            parts = dict.fromkeys(calibrate.PARTS, 0.0)
            parts["launch"] = 2.5
            parts["memory"] = 10**dice.uniform(-1, 3)
            parts["math"] = 10**dice.uniform(-1, 3)
            mode = dice.choice(["gemm", "split_k_parallel", "split_k_cluster"])
            if mode != "gemm":
                parts["exchange"] = 10**dice.uniform(0, 2)
            rest = dice.uniform(0.9, 1.1)
            waves = 10**dice.uniform(-2, 1)
            line = {"command": f"gemm {problem}", "kernel": f"{KERNELS[kind]}_bf16_{number}", "mode": mode, "limit": max(parts, key=parts.get),
                    "predicted_us": rest * calibrate.together(kind, waves, *parts.values()), "measured_us": 1, "waves": waves,
                    **{part + "_us": value for part, value in parts.items()}}
            factors = [TRUTH[kind].get(name, 1.0) for name in calibrate.FACTORS]
            line["measured_us"] = calibrate.seconds(calibrate.read_line(json.dumps(line), ""), factors) * dice.uniform(1 - noise, 1 + noise)
            lines.append(line)
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

    def test_the_shares_come_from_the_models_sources(self):
        self.assertEqual(sorted(calibrate.UNHIDDEN), ["mma", "wgmma"])
        for share in (*calibrate.UNHIDDEN["mma"], *calibrate.UNHIDDEN["wgmma"]):
            self.assertTrue(0 < share < 1, share)
        with self.assertRaises(calibrate.BadInput):
            calibrate.constant("kernels/gemm/estimate.cpp", "no_such_constant")

    def test_it_finds_what_times_were_made_with(self):
        file = self.write("times", times(self.dice, 120))
        status, out, err = self.run_it(file, "--device", "a device", "--date", "2026-01-02", "--out", self.path("out"))
        self.assertEqual((status, err), (0, ""), self.seed)
        with open(self.path("out"), encoding="utf-8") as made:
            result = json.load(made)
        self.assertEqual((result["device"], result["date"], result["problems"], result["held_out"]), ("a device", "2026-01-02", 120, 24))
        for kind, factors in TRUTH.items():
            for part, factor in factors.items():
                self.assertAlmostEqual(result["factors"][kind][part] / factor, 1, delta=0.1, msg=f"{kind} {part}, seed {self.seed}")
        for error in result["errors"]:
            self.assertLess(error["after"]["median"], 0.03, self.seed)
        self.assertLess(sum(e["after"]["median"] for e in result["errors"]), sum(e["before"]["median"] for e in result["errors"]))
        after = result["choices"]["after"]
        self.assertGreaterEqual(after["first_choice_mean"], result["choices"]["before"]["first_choice_mean"])
        self.assertTrue(after["first_choice_lowest"] <= after["first_choice_5th_percentile"] <= 1, self.seed)
        self.assertGreater(after["rank_correlation_median"], 0.95)
        self.assertIn("120 problems, 960 times; 24 problems held out", out)
        # The same times, by family and regime.
        regimes = {(e["family"], e["regime"]): e for e in result["regimes"]}
        self.assertEqual(len(regimes), len(result["regimes"]))
        self.assertEqual({family for family, _ in regimes}, {"gemm_sm80", "gemm_sm90"})
        self.assertEqual({regime for _, regime in regimes} - set(calibrate.REGIMES), set())
        self.assertEqual(sum(e["kernels"] for e in regimes.values()), sum(e["kernels"] for e in result["errors"]))
        for (family, regime), error in regimes.items():
            self.assertLess(error["after"]["median"], 0.03, self.seed)
            self.assertRegex(out, rf"(?m)^{family} +{regime} +{error['kernels']}  ")

    def test_regimes(self):
        for limit, waves, regime in (("launch", 0.01, "launch-bound"), ("memory", 0.5, "memory-bound"), ("memory", 9, "memory-bound"),
                                     ("math", 0.79, "wave-bound"), ("math", 0.81, "compute-bound"), ("math", 1, "compute-bound"),
                                     ("copies", 1.1, "wave-bound"), ("latency", 1.7, "compute-bound"), ("ends", 7.1, "compute-bound"),
                                     ("exchange", 0.3, "wave-bound"), ("math", 0, "compute-bound")):
            self.assertEqual(calibrate.regime_of(limit, waves), regime, (limit, waves))
        for kernel, family in (("gemm_sm90_bf16_x", "gemm_sm90"), ("gemm_narrow_sm80_s8_x", "gemm_narrow_sm80"), ("gemm_list_simt_f32_x", "gemm_list_simt"),
                               ("elementwise_v8_u1", None), ("reduce_split_k_x", None)):
            self.assertEqual(calibrate.family_of(kernel), family)

    def test_held_out_problems_do_not_count(self):
        lines = [calibrate.read_line(json.dumps(line), "") for line in times(self.dice, 50)]
        fitted, held = calibrate.split(lines, 3)
        self.assertEqual(len(fitted) + len(held), len(lines))
        self.assertFalse({s["problem"] for s in fitted} & {s["problem"] for s in held})
        factors = calibrate.calibrate(lines, 3, {})["factors"]
        for sample in held:
            sample["measured"] *= self.dice.uniform(1, 9)
        self.assertEqual(calibrate.calibrate(lines, 3, {})["factors"], factors, self.seed)

    def test_factors_go_on_from_those_of_the_times(self):
        """A second fit to the same times finds little to change, and kernels that multiply nothing do not count."""
        lines = times(self.dice, 60)
        other = {**lines[0], "kernel": "elementwise_v8_u1", "measured_us": 1e6}
        first = self.run_it(self.write("times", [*lines, other]), "--device", "d", "--date", "2026-01-02", "--out", self.path("first"))
        self.assertEqual(first[0], 0, first)
        base = calibrate.read_base(self.path("first"))
        for line in lines:  # as the library with these factors predicts
            sample = calibrate.read_line(json.dumps(line), "")
            factors = base[sample["kind"]]
            line["predicted_us"] = calibrate.seconds(sample, list(factors.values()))
            for part in calibrate.PARTS:
                line[part + "_us"] *= factors["reduction" if part == "exchange" and sample["reduces"] else part]
        again = self.run_it(self.write("again", lines), "--device", "d", "--base", self.path("first"), "--out", self.path("second"))
        self.assertEqual(again[0], 0, again)
        for kind, factors in calibrate.read_base(self.path("second")).items():
            for name, factor in factors.items():
                self.assertAlmostEqual(factor / base[kind][name], 1, delta=0.1, msg=f"{kind} {name}, seed {self.seed}")

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
        refused([{**good[0], "kernel": 3}, *good], "bad:1: not a line")
        refused([{**good[0], "measured_us": 0}, *good], "bad:1: a time is not a number above 0")
        refused([{**good[0], "math_us": "x"}, *good], "bad:1: not a line")
        refused([json.dumps(good[0]).replace(str(good[0]["predicted_us"]), "NaN"), *good], "not a number above 0")
        refused([{**good[0], **{part + "_us": 0 for part in calibrate.PARTS}}, *good], "bad:1: all parts are 0")
        for base in ("{", "[]", '{"factors": {"mma": {}}}'):
            status, _, err = self.run_it(self.write("good", good), "--device", "d", "--base", self.write("base", [base]))
            self.assertEqual((status, len(err.splitlines())), (2, 1), err)
            self.assertIn("base: no factors of a calibration", err)
        self.assertEqual(self.run_it(self.path("none"), "--device", "d")[0], 2)
        self.assertEqual(self.run_it(self.write("good", good))[0], 2)  # no device
        self.assertEqual(self.run_it(self.path("good"), "--device", "d", "--out", self.path("no/out"))[0], 2)


if __name__ == "__main__":
    unittest.main()
