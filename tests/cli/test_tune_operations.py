"""quarry tune of every operation that has kernels to choose from, and of expressions; recorded times stand for a device."""

import json
import os
import shlex
import subprocess
import unittest

from quarry_command import BINARY, run_quarry
from test_tune import ON, TuneTest

BIAS = "--epilogue 'out = relu(sum + bias)' --with bias=f32:per_column"
PROBLEMS = {
    "convolution": "conv2d fprop 8x14x14x64 64x3x3 --padding 1 --a bf16:row --b bf16:row --out bf16:row",
    "filters' gradient": "conv2d wgrad 8x14x14x64 64x3x3 --padding 1 --a bf16:row --b bf16:row --out bf16:row",
    "groups": "grouped_gemm 8x512x512 --a f16:row --b f16:row --out f16:row --tokens 1024 --distribution even --sizes-are ends "
              "--room 1024",
    "list": "gemm_list 64x64x64,3*128x32x512 --a f16:row:array --b f16:row:array --out f16:row:array",
    "list with an expression": "gemm_list 64x64x64,128x32x512 --a f16:row:array --b f16:row:array --out f16:row:array --epilogue 'out = sum + x' "
                               "--with x=f32:per_row --of-each x",
    "groups with a table of each": "grouped_gemm 8x512x512 --a f16:row --b f16:row --out f16:row --tokens 1024 --distribution even "
                                   "--sizes-are ends --room 1024 --epilogue 'out = sum + t[i]' --with i=s32:per_row,t=bf16:gathered "
                                   "--table-rows 30 --of-each t",
    "elements": "elementwise 256x512 --epilogue 'out = relu(x)' --with x=bf16:row,out=bf16:row",
    "expression": f"gemm 64x256x512 --a f16:row --b f16:row --out f16:row {BIAS}",
}
# The same expression of another type, which is another problem.
OTHER = "gemm 64x256x512 --a f16:row --b f16:row --out f16:row --epilogue 'out = relu(sum + bias)' --with bias=f16:per_column"


class Operations(TuneTest):
    def log_of_program(self, *problems):
        """What a program logs that asks about the problems."""
        environment = dict(os.environ, QUARRY_LOG_PROBLEMS=self.path("asked"))
        for problem in problems:
            subprocess.run([BINARY, "find", *shlex.split(problem), *ON, "--limit", "2"], capture_output=True, check=True,
                           env=environment)
        return self.path("asked")

    def tuned(self):
        return {"QUARRY_TUNING": self.path("table.jsonl")}

    def test_the_measured_winner_is_found_first(self):
        self.times(PROBLEMS.values())
        log = self.log_of_program(*PROBLEMS.values(), "reorder 64x64 s8 --to col32", "reduce_split_k 8x64x64 f32")
        with open(log, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[:len(PROBLEMS)], list(PROBLEMS.values()))
        self.assertEqual(lines[len(PROBLEMS):], ["reorder 64x64 --from s8:row --to s8:col32",
                                                 "reduce_split_k 8x64x64 --partials f32 --out f32:row"])
        done = self.tune("--log", log)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 problems of the log are of operations that have nothing to tune", done.stderr)
        self.assertIn(f"{len(PROBLEMS)} measured, 0 known already, 0 failed, 0 left", done.stdout)
        for name, problem in PROBLEMS.items():
            with self.subTest(name):
                before, _ = self.candidates(problem)
                after, said = self.candidates(problem, environment=self.tuned())
                self.assertEqual(after[0]["name"], before[3]["name"])
                self.assertAlmostEqual(after[0]["measured_us"], 5.5)
                self.assertIsNone(after[1]["measured_us"])
                self.assertIn("the first by measurement", said)
                self.assertNotIn("warning", said)
        self.assertIsNone(self.candidates(OTHER, environment=self.tuned())[0][0]["measured_us"])

    def test_a_tuning_goes_on(self):
        self.times(PROBLEMS.values())
        self.assertIn("1 measured, 0 known", self.tune(*shlex.split(PROBLEMS["convolution"])).stdout)
        self.assertIn("1 measured, 0 known", self.tune(*shlex.split(PROBLEMS["expression"])).stdout)
        log = self.log(list(PROBLEMS.values()))
        self.assertIn(f"{len(PROBLEMS) - 2} measured, 2 known already", self.tune("--log", log).stdout)
        self.assertIn(f"0 measured, {len(PROBLEMS)} known already", self.tune("--log", log).stdout)

    def test_parts_and_their_union(self):
        self.times(PROBLEMS.values())
        log = self.log(list(PROBLEMS.values()))
        for part in range(3):
            self.assertEqual(self.tune("--log", log, "--shard", f"{part}/3", output=f"part{part}").returncode, 0)
        parts = [self.path(f"part{part}") for part in range(3) if os.path.exists(self.path(f"part{part}"))]
        merged = self.quarry("tune", "--log", log, "-o", self.path("table.jsonl"), "--merge", *parts)
        self.assertIn(f"{len(PROBLEMS)} of {len(PROBLEMS)} problems measured, 0 missing", merged.out)
        rows = self.quarry("tune", "--show", self.path("table.jsonl"), "--format", "json").json["choices"]
        self.assertEqual({row["problem"] for row in rows}, set(PROBLEMS.values()))
        self.assertTrue(all(row["usable"] and row["measurements"] == 6 and row["first_us"] for row in rows))
        missing = run_quarry("tune", *shlex.split(OTHER), "-o", self.path("table.jsonl"), "--merge", *parts)
        self.assertEqual(missing.status, 1)
        self.assertIn(f"missing: {OTHER}", missing.out)

    def test_problems_of_a_shapes_file(self):
        self.times(PROBLEMS.values())
        shapes = self.write("shapes.json", json.dumps({"problems": [
            {"shape": "fprop 8x14x14x64 64x3x3", "padding": 1}, {"shape": "wgrad 8x14x14x64 64x3x3", "padding": 1}]}))
        done = self.tune("conv2d", "bf16", "--shapes", shapes)
        self.assertIn("2 measured", done.stdout, done.stderr)
        shapes = self.write("shapes.json", json.dumps({"problems": [{
            "m": 64, "n": 256, "k": 512, "epilogue": "out = relu(sum + bias)", "with": "bias=f32:per_column"}]}))
        done = self.tune("gemm", "f16", "--shapes", shapes)
        self.assertIn("1 measured", done.stdout, done.stderr)
        self.assertAlmostEqual(self.candidates(PROBLEMS["expression"], environment=self.tuned())[0][0]["measured_us"], 5.5)

    def test_a_problem_that_is_too_long_for_a_table(self):
        self.times([PROBLEMS["groups"]])
        sizes = ",".join(f"{m}x64x64" for m in range(1, 300))
        done = self.tune("gemm_list", sizes, "f16")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a table holds problems of 1500 bytes of text at most", done.stderr)

    def test_a_range_of_m_is_of_gemm_alone(self):
        self.times([PROBLEMS["groups"]])
        self.refused("tune", *shlex.split(PROBLEMS["groups"]), "--m", "1..64", "--times", self.path("times.jsonl"),
                     "-o", self.path("table.jsonl"), says="--m goes with gemm alone: the shape of grouped_gemm")

    def test_a_range_of_m_with_an_expression(self):
        base = "gemm {}x256x512 --a f16:row --b f16:row --out f16:row " + BIAS
        self.write("times.jsonl", "".join(self.times_of(base.format(m), fastest=2) for m in (1, 2, 4, 8)))
        done = self.tune(*shlex.split(base.format(1)), "--m", "1..8")
        self.assertEqual(done.returncode, 0, done.stderr)
        for m in (3, 7):
            self.assertAlmostEqual(self.candidates(base.format(m), environment=self.tuned())[0][0]["measured_us"], 5.5)


if __name__ == "__main__":
    unittest.main()
