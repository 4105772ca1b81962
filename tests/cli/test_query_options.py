"""The options of a query, --batch-invariant and --max-workspace, in logs, shapes files, tuning tables and warm-ups."""

import json
import os
import re
import subprocess
import unittest

from compiling import SMALL, CompilingTest
from quarry_command import BINARY, run_quarry
from test_tune import ON, TuneTest

PLAIN = "gemm 7x1024x8192 --a bf16:row --b bf16:col --out bf16:row"
INVARIANT = PLAIN + " --batch-invariant"
LIMITED = PLAIN + " --max-workspace 0"
BOTH = PLAIN + " --batch-invariant --max-workspace 4096"


class Logs(TuneTest):
    def logged(self, *words):
        log = self.path("log")
        if os.path.exists(log):
            os.remove(log)
        subprocess.run([BINARY, "find", *words, *ON, "--limit", "1"], capture_output=True, check=True, env=dict(os.environ, QUARRY_LOG_PROBLEMS=log))
        return self.lines("log")

    def test_a_line_has_the_options_and_gives_the_same_query(self):
        for line in (PLAIN, INVARIANT, LIMITED, BOTH, PLAIN + " --mode gemm --batch-invariant"):
            self.assertEqual(self.logged(*line.split()), [line])
        # Bytes are said without a unit, however many they are.
        self.assertEqual(self.logged(*PLAIN.split(), "--max-workspace", "64M"), [PLAIN + " --max-workspace 67108864"])
        self.assertEqual(self.logged(*PLAIN.split(), "--max-workspace", "80G"), [PLAIN + " --max-workspace 85899345920"])

    def test_a_query_with_options_is_another_problem(self):
        log = self.log([PLAIN, INVARIANT, LIMITED, BOTH, INVARIANT])
        self.write("times.jsonl", self.times_of(PLAIN))
        measured, failed = map(int, re.search(r"(\d) measured, 0 known already, (\d) failed, 0 left", self.tune("--log", log).stdout).groups())
        self.assertEqual(measured + failed, 4)

    def test_lines_that_are_wrong_are_no_problems(self):
        self.times([PLAIN])
        done = self.tune("--log", self.log([PLAIN, PLAIN + " --max-workspace", PLAIN + " --max-workspace x", PLAIN + " --max-workspace -1",
                                            PLAIN + " --batch-invariant 1", "gemm --batch-invariant"]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("5 lines of the log are no problems", done.stderr)

    def test_flags_do_not_go_with_a_log(self):
        self.times([PLAIN])
        for command in (("tune", "--times", self.path("times.jsonl"), *ON, "-o", self.path("t.jsonl")), ("warm-up", *ON)):
            for flag in (("--batch-invariant",), ("--max-workspace", "1M")):
                self.refused(*command, "--log", self.log([PLAIN]), *flag, says=f"leave {flag[0]} out")


class ShapesFiles(TuneTest):
    def shapes(self, **members):
        return self.write("shapes.json", json.dumps({"problems": [{"m": 7, "n": 1024, "k": 8192, **members}]}))

    def test_members_are_options(self):
        words = ("find", "gemm", "bf16", "--b", "col", *ON, "--format", "json", "--shapes")
        for members, line in (({"batch_invariant": True}, INVARIANT), ({"max_workspace": 0}, LIMITED), ({"max_workspace": "0"}, LIMITED),
                              ({"batch_invariant": True, "max_workspace": "4K"}, BOTH), ({"batch_invariant": False}, PLAIN)):
            of_file = self.quarry(*words, self.shapes(**members), "--limit", "3").json["candidates"]
            of_flags = self.quarry("find", *line.split(), *ON, "--format", "json", "--limit", "3").json["candidates"]
            self.assertEqual([c["name"] for c in of_file], [c["name"] for c in of_flags])
        # A flag is the default of all problems.
        classes = self.quarry(*words, self.shapes(), "--batch-invariant", "--columns", "sum_class").json["candidates"]
        self.assertEqual(classes[0]["sum_class"], "wgmma_k16")

    def test_bad_members(self):
        words = ("find", "gemm", "bf16", "--b", "col", *ON, "--shapes")
        self.refused(*words, self.shapes(batch_invariant=1), says="batch_invariant: expected true or false, got a number")
        self.refused(*words, self.shapes(max_workspace=True), says="max_workspace: expected bytes such as 1024 or \"64M\", got a boolean")
        for wrong in (-1, 1.5, "x", "", "9999999999999999999", "9999999999G"):
            self.refused(*words, self.shapes(max_workspace=wrong), says="max_workspace: ")
        self.refused(*words, self.shapes(batch_invarient="x"), says="`batch_invariant`")

    def test_commands_that_ask_no_query_refuse_them(self):
        for command in ("run", "bench"):
            self.refused(command, "gemm", "bf16", "--b", "col", "--shapes", self.shapes(batch_invariant=True),
                         says="go with find, tune and warm-up alone")


class Tables(TuneTest):
    def find(self, line, **environment):
        return self.candidates(line, limit=1, environment=environment)[0][0]

    def record(self, line, time_of):
        """Times of the plain problem, of the best kernels for the problem of a line."""
        lines = []
        for each in self.candidates(line, limit=40)[0]:
            us = time_of(each)
            lines.append(json.dumps({"command": PLAIN, "kernel": each["name"], "mode": each["mode"], "split_k": each["split_k"],
                                     "swizzle": each["swizzle"], "raster": each["raster"], "measured_us": us}))
        return "\n".join(lines) + "\n"

    def test_only_kernels_that_the_options_allow_are_measured(self):
        # The fastest kernels of all cut K, which neither option allows.
        cut = self.find(PLAIN)
        self.assertGreater(cut["split_k"], 1)
        steady = self.candidates(INVARIANT)[0][3]["name"]
        self.write("times.jsonl", 
                   self.record(PLAIN, lambda each: 5.0 if each["split_k"] > 1 else 60.0) +
                   self.record(INVARIANT, lambda each: 40.0 if each["name"] == steady else 50.0))
        for line in (INVARIANT, BOTH):
            self.assertIn("1 measured", self.tune(*line.split()).stdout)
        tuned = {"QUARRY_TUNING": self.path("table.jsonl")}
        for line in (INVARIANT, BOTH):
            found = self.find(line, **tuned)
            self.assertEqual((found["name"], found["split_k"], round(found["measured_us"], 6)), (steady, 1, 40.0))
        rows = self.quarry("tune", "--show", self.path("table.jsonl"), "--format", "json").json["choices"]
        self.assertEqual(sorted((row["problem"], row["kernel"], row["usable"]) for row in rows),
                         [(INVARIANT, steady, True), (BOTH, steady, True)])
        # The plain query, and one with fixed controls, know nothing of this.
        for line in (PLAIN, PLAIN + " --mode gemm --split-k 1", LIMITED):
            self.assertIsNone(self.find(line, **tuned)["measured_us"])
        # The problem is known under its own options alone.
        self.assertIn("0 measured, 1 known already", self.tune(*INVARIANT.split()).stdout)
        merge = ("-o", self.path("merged.jsonl"), "--merge", self.path("table.jsonl"))
        self.assertIn("1 of 1 problem measured, 0 missing", self.quarry("tune", *INVARIANT.split(), *merge).out)
        self.assertIn("missing: " + PLAIN + "\n", run_quarry("tune", *PLAIN.split(), *merge).out)

    def test_measurements_of_the_plain_problem_serve_a_limited_query(self):
        self.write("times.jsonl", self.record(PLAIN, lambda each: 5.0 if each["workspace"] else 9.0))
        self.assertIn("1 measured", self.tune(*PLAIN.split()).stdout)
        tuned = {"QUARRY_TUNING": self.path("table.jsonl")}
        found = self.find(LIMITED, **tuned)
        self.assertEqual((found["workspace"], round(found["measured_us"], 6)), (0, 9.0))
        self.assertAlmostEqual(self.find(PLAIN, **tuned)["measured_us"], 5.0)
        # Its own measurements come before them.
        self.write("times.jsonl", self.record(LIMITED, lambda each: 8.0))
        self.assertIn("1 measured", self.tune(*LIMITED.split()).stdout)
        self.assertAlmostEqual(self.find(LIMITED, **tuned)["measured_us"], 8.0)
        self.assertAlmostEqual(self.find(PLAIN, **tuned)["measured_us"], 5.0)

    def test_a_problem_that_no_measured_kernel_takes_under_its_options_fails(self):
        of_other_class = next(c["name"] for c in self.candidates(PLAIN, limit=1000)[0] if c["split_k"] == 1 and "sm80" in c["name"])
        record = {"command": PLAIN, "kernel": of_other_class, "mode": "gemm", "measured_us": 5.0}
        self.write("times.jsonl", json.dumps(record) + "\n")
        done = self.tune(*INVARIANT.split())
        self.assertEqual(done.returncode, 1)
        self.assertIn("requires kernels of sum class wgmma_k16; the class of this kernel is ", done.stderr)
        self.write("times.jsonl", self.record(PLAIN, lambda each: 5.0).splitlines()[0] + "\n")
        done = self.tune(*INVARIANT.split())
        self.assertEqual(done.returncode, 1)
        self.assertIn("A batch-invariant query leaves K in one piece", done.stderr)
        conv = "conv2d fprop 2x8x8x16 16x3x3 --a f16:row --b f16:row --out f16:row"
        self.write("times.jsonl", self.times_of(conv))
        done = self.tune(*conv.split(), "--batch-invariant")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Batch-invariant queries are of GEMM alone", done.stderr)

    def test_a_range_of_m_under_an_option(self):
        self.write("times.jsonl", "".join(
            self.record(line, lambda each: 30.0).replace("7x1024x8192", f"{m}x1024x8192")
            for m in (1, 2, 4) for line in [INVARIANT.replace("gemm 7x", f"gemm {m}x")]))
        self.assertIn("3 measured", self.tune(*INVARIANT.split(), "--m", "1..4").stdout)
        tuned = {"QUARRY_TUNING": self.path("table.jsonl")}
        self.assertAlmostEqual(self.find(INVARIANT.replace("gemm 7x", "gemm 3x"), **tuned)["measured_us"], 30.0)
        self.assertIsNone(self.find(PLAIN.replace("gemm 7x", "gemm 3x"), **tuned)["measured_us"])


class WarmUp(CompilingTest):
    def test_the_kernel_that_the_query_chooses_is_compiled(self):
        problem = ("gemm", "64x64x8192", "f64", "--a", "col", "--device-model", "h200", "--where", SMALL)
        self.assertGreater(self.quarry("find", *problem, "--limit", "1", "--format", "json").json["candidates"][0]["split_k"], 1)
        # A kernel that cuts K brings a reduction along.
        for flags in (("--batch-invariant",), ("--max-workspace", "0")):
            self.assertRegex(self.quarry("warm-up", *problem, *flags).out, "^1 problem: 1 kernel ready")
        line = "gemm 64x64x8192 --a f64:col --b f64:row --out f64:row"
        with open(self.path("log"), "w", encoding="utf-8") as file:
            file.write(line + " --batch-invariant\n")
        log = ("warm-up", "--log", self.path("log"), *problem[-4:])
        self.assertRegex(self.quarry(*log).out, "^1 problem: 1 kernel ready, . precompiled, . from the cache, 0 compiled")
        with open(self.path("log"), "a", encoding="utf-8") as file:
            file.write(line + "\n")
        self.assertRegex(self.quarry(*log).out, "^2 problems: [23] kernels ready")


if __name__ == "__main__":
    unittest.main()
