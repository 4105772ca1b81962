#!/usr/bin/env python3
"""tools/earned.py on kernels and times that were made up, and whether registry/precompiled.txt is what it makes now.

Usage: earned_test.py [QUARRY]: with the command, the list is checked too.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "..", "..", "registry", "precompiled.txt")
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
import earned  # noqa: E402

QUARRY = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None


def kernel(name, entry=None, **fields):
    basic = {"name": name, "entry": entry or name, "family": "f", "operation": "gemm", "cc": 80, "a.dtype": "bf16", "b.dtype": "bf16", "out.dtype": "bf16",
             "accumulator": "f32", "a.layout": "row", "b.layout": "row", "out.layout": "row", "a.alignment": 8, "b.alignment": 8, "scales": "none", "tile.m": 64,
             "shared_memory": 100}
    return {**basic, **fields}


KERNELS = [
    kernel("fast"), kernel("fast_mirrored", entry="fast", **{"out.layout": "column"}), kernel("near", **{"tile.m": 128}), kernel("slow", **{"tile.m": 32}),
    kernel("fast_f16", **{"a.dtype": "f16", "b.dtype": "f16"}), kernel("fast_f32", **{"a.dtype": "f32", "b.dtype": "f32"}),
    kernel("fast_columns", **{"b.layout": "column"}), kernel("least", **{"a.alignment": 1, "b.alignment": 1, "tile.m": 16}),
    kernel("least_f32", **{"a.dtype": "f32", "b.dtype": "f32", "a.alignment": 1, "b.alignment": 1, "tile.m": 16}),
    kernel("other", operation="conv2d"), kernel("other_too", operation="conv2d", **{"tile.m": 8})]


class Earned(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("kernels.json", json.dumps({"kernels": KERNELS}))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def times(self, *triples):
        return self.write("times", "".join(json.dumps({"command": problem, "kernel": name, "measured_us": us}) + "\n" for problem, name, us in triples))

    def run_script(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = earned.main([*arguments, "--kernels", self.path("kernels.json"), "--out", self.path("list")])
        return status, out.getvalue(), err.getvalue()

    def groups(self):
        groups, name = {}, None
        for line in self.text("list").splitlines():
            word = line[2:].split(": ")[0]
            if line.startswith("# ") and word in earned.GROUPS:
                name = word
                groups[name] = []
            elif line and not line.startswith("#"):
                groups[name].append(line)
        return groups

    def test_what_is_on_the_list(self):
        path = self.times(("p", "fast", 100), ("p", "near", 104), ("p", "slow", 200), ("q", "near", 102.9), ("q", "fast_mirrored", 100), ("q", "slow", 103.1))
        status, out, _ = self.run_script(path, "--never")
        self.assertEqual(status, 0)
        self.assertEqual(self.groups(), {"earned": ["fast", "near"], "alike": ["fast_columns", "fast_f16"], "untimed": ["other", "other_too"],
                                         "fallback": ["least", "least_f32"]})
        self.assertIn("2 problems, 4 kernels timed; 3 near the fastest, 1 never\n  never: slow\n", out)
        self.assertIn("8 of 10 entries", out)

    def test_again_makes_the_same_list_and_follows_the_kernels(self):
        path = self.times(("p", "fast", 100), ("p", "slow", 200))
        self.run_script(path)
        before = self.text("list")
        os.rename(self.path("list"), self.path("first"))
        self.assertEqual(self.run_script("--again", self.path("first"))[0], 0)
        self.assertEqual(self.text("list"), before)
        self.write("kernels.json", json.dumps({"kernels": [*KERNELS[2:], kernel("fast_rows", entry="fast_rows", **{"a.layout": "column"})]}))
        self.run_script("--again", self.path("first"))
        groups = self.groups()
        self.assertEqual(groups["earned"], [])
        self.assertIn("fast_rows", groups["fallback"])

    def test_times_add_to_a_list(self):
        self.run_script(self.times(("p", "fast", 100), ("p", "slow", 200)))
        os.rename(self.path("list"), self.path("first"))
        self.assertEqual(self.run_script(self.times(("q", "gone", 90)), "--again", self.path("first"))[0], 0)
        self.assertEqual(self.groups()["earned"], ["fast"])
        self.assertEqual(self.run_script(self.times(("q", "slow", 90), ("q", "near", 80), ("r", "other", 1)), "--again", self.path("first"))[0], 0)
        self.assertEqual(self.groups()["earned"], ["fast", "near", "other"])
        self.assertNotIn("other_too", self.groups()["untimed"])
        self.assertIn("# operations with times: conv2d, gemm\n", self.text("list"))

    def test_kernels_that_are_gone_do_not_compete(self):
        self.run_script(self.times(("p", "gone", 50), ("p", "slow", 100), ("p", "near", 101)))
        self.assertEqual(self.groups()["earned"], ["near", "slow"])

    def test_entries_of_mirrored_forms_alone(self):
        mirrored = [kernel(name, entry=f"{name}_entry", **{"a.dtype": dtype, "b.dtype": "s4"}) for name, dtype in (("x", "bf16"), ("y", "f16"), ("slower", "f32"))]
        self.write("kernels.json", json.dumps({"kernels": [*KERNELS, *mirrored]}))
        for arguments in ([self.times(("p", "x", 50), ("p", "slower", 100))], ["--again", self.path("list")]):
            self.assertEqual(self.run_script(*arguments)[0], 0)
            self.assertEqual(self.groups()["earned"], ["x"])
            self.assertIn("y", self.groups()["alike"])
            self.assertIn("slower", self.groups()["fallback"])

    def test_controls_are_ways_to_run_a_kernel(self):
        path = self.times(("p --mode split_k_serial --split-k 2", "slow", 120), ("p", "slow", 150), ("p", "fast", 110), ("p --raster along_m", "fast", 100),
                          ("p --bias row", "near", 500))
        self.run_script(path)
        self.assertEqual(self.groups()["earned"], ["fast", "near"])

    def test_bad_input(self):
        bad = {"text": "hello\n", "no kernel": '{"command": "p", "measured_us": 1}\n', "no time": '{"command": "p", "kernel": "fast", "measured_us": 0}\n', "empty": "\n",
               "list": "[1]\n"}
        for name, text in bad.items():
            status, _, err = self.run_script(self.write(name, text))
            self.assertEqual(status, 2, name)
            self.assertTrue(err.startswith("earned.py: "), err)
        self.assertEqual(self.run_script(self.path("missing"))[0], 2)
        self.assertEqual(self.run_script("--again", self.write("no_list", "fast\n"))[0], 2)
        self.write("kernels.json", "[]")
        self.assertEqual(self.run_script(self.times(("p", "fast", 100)))[0], 2)


@unittest.skipUnless(QUARRY, "needs the command")
class TheList(unittest.TestCase):
    def test_it_is_what_the_script_makes(self):
        with tempfile.TemporaryDirectory() as folder:
            kernels, again = os.path.join(folder, "kernels.json"), os.path.join(folder, "list")
            with open(kernels, "w", encoding="utf-8") as file:
                subprocess.run([QUARRY, "list", "--format", "json"], check=True, stdout=file)
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(earned.main(["--again", LIST, "--kernels", kernels, "--out", again]), 0)
            with open(again, encoding="utf-8") as new, open(LIST, encoding="utf-8") as old:
                self.assertTrue(new.read() == old.read(),
                                "registry/precompiled.txt: `quarry list --format json >k`, then tools/earned.py --again registry/precompiled.txt --kernels k --out registry/precompiled.txt")


if __name__ == "__main__":
    unittest.main()
