"""quarry run, on the host executor."""

import json
import os
import random
import tempfile
import unittest
from unittest import mock

from quarry_command import CommandTest, run_quarry

HOST = ("--on", "host")


class Running(CommandTest):
    def test_story(self):
        done = self.quarry("run", "gemm", "60x50x40", "f16", *HOST, "--seed", "5")
        told = dict(line.split(None, 1) for line in done.lines)
        self.assertEqual(told["problem"], "gemm 60x50x40 --a f16:row --b f16:row --out f16:row")
        self.assertIn("host executor", told["ran"])
        self.assertEqual(told["seed"], "5")
        self.assertRegex(told["result"], r"^right: error \S+, bound \S+, against float64$")
        self.assertRegex(told["time"], r"us, .* TFLOP/s on the CPU")

    def test_random_problems_are_right(self):
        seed = random.randrange(2**32)
        dice = random.Random(seed)
        for i in range(25):
            dtype = dice.choice(["f16", "bf16", "f32", "f64", "s8", "u8"])
            flags = [f"--{o}={dtype}:{dice.choice(['row', 'col'])}:ld={dice.randint(70, 90)}" for o in ("a", "b", "out")]
            if dice.random() < 0.5:
                own_c = f"{dtype}:{flags[2].split(':')[1]}:ld=95"
                flags += ["--beta", str(dice.choice([1, -0.5])), *dice.choice([[], ["--c", "out"], ["--c", own_c]])]
            flags += dice.choice([[], ["--bias", "row"], ["--bias", "column"]])
            flags += dice.choice([[], ["--activation", dice.choice(["relu", "gelu", "silu", "leaky_relu"])]])
            flags += dice.choice([[], ["--batch", "2"], ["--mode", "split_k_serial", "--split-k", "2"]])
            shape = "x".join(str(dice.randint(least, 70)) for least in (33, 33, 65))  # two slices of K for every kernel
            with self.subTest(seed=seed, i=i, shape=shape, flags=flags):
                done = self.quarry("run", "gemm", shape, *flags, "--seed", str(i), *HOST, "--format", "json")
                row = done.json["runs"][0]
                self.assertTrue(row["right"])
                self.assertLessEqual(row["error"], row["bound"])
                self.assertEqual(row["seed"], i)

    def test_the_same_seed_gives_the_same_error(self):
        def error(seed):
            done = self.quarry("run", "gemm", "64x64x64", "bf16", *HOST, "--seed", seed, "--format", "json")
            return done.json["runs"][0]["error"]
        self.assertEqual(error("3"), error("3"))
        self.assertNotEqual(error("3"), error("4"))

    def test_seeds_are_fresh_unless_given(self):
        def seeds(seed):
            with mock.patch.dict(os.environ, {"QUARRY_SEED": seed}):
                return {self.quarry("run", "gemm", "8x8x8", "f32", *HOST, "--format", "json").json["runs"][0]["seed"] for _ in range(3)}
        self.assertGreater(len(seeds("")), 1)
        self.assertEqual(len(seeds("any text")), 1)
        self.assertNotEqual(seeds("any text"), seeds("other text"))

    def test_a_named_kernel(self):
        names = self.quarry("find", "gemm", "64x64x64", "f16", "--format", "names").lines
        done = self.quarry("run", "gemm", "64x64x64", "f16", *HOST, "--kernel", names[-1], "--format", "csv")
        self.assertEqual(done.csv[0]["kernel"], names[-1])
        self.assertEqual(done.csv[0]["right"], "true")

    def test_where(self):
        done = self.quarry("run", "gemm", "64x64x64", "f16", *HOST, "--where", "family == gemm_simt", "--format", "names")
        self.assertTrue(done.out.startswith("gemm_simt_"))

    def test_sizes_of_zero_and_one(self):
        for shape in ("0x5x5", "5x0x5", "5x5x0", "1x1x1", "1x64x64", "64x1x64"):
            with self.subTest(shape=shape):
                done = self.quarry("run", "gemm", shape, "f32", *HOST, "--format", "json", "--beta", "2")
                self.assertTrue(done.json["runs"][0]["right"])

    def test_several_shapes(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"problems": [{"m": 8, "n": 9, "k": 10}, {"m": 20, "n": 30, "k": 40}]}, file)
            file.flush()
            rows = self.quarry("run", "gemm", "f64", "--shapes", file.name, *HOST, "--format", "json").json["runs"]
        self.assertEqual([row["problem"] for row in rows], ["8x9x10", "20x30x40"])
        self.assertTrue(all(row["right"] for row in rows))


class BadInput(CommandTest):
    def test_a_kernel_of_other_types(self):
        f32 = self.quarry("find", "gemm", "64x64x64", "f32", "--limit", "1", "--format", "names").lines[0]
        self.refused("run", "gemm", "64x64x64", "f16", *HOST, "--kernel", f32, status=1, says="`a`")

    def test_a_kernel_that_the_filter_leaves_out(self):
        problem = ("gemm", "64x64x64", "f64")
        name = self.quarry("find", *problem, "--limit", "1", "--format", "names").lines[0]
        for command in (("find", *problem), ("run", *problem, *HOST)):
            self.refused(*command, "--kernel", name, "--where", "cc == 1", status=1, says=name + " does not take it: the filter leaves it out")
        self.quarry("run", *problem, *HOST, "--kernel", name, "--where", "a.dtype == f64")

    def test_a_kernel_whose_alignment_is_not_met(self):
        name = self.quarry("list", "--where", "a.alignment == 8 and a.dtype == f16 and out.dtype == f16 and "
                           "accumulator == f32 and a.layout == row and b.layout == row and out.layout == row",
                           "--limit", "1", "--format", "names").lines[0]
        self.refused("run", "gemm", "64x64x64", "--a", "f16:ld=65", "--b", "f16", *HOST, "--kernel", name, status=1,
                     says=["`a`", "align"])

    def test_no_document_where_nothing_ran(self):
        for form in ("json", "csv", "markdown", "names", "table"):
            self.refused("run", "gemm", "8x8x8", "f16", "--out", "f16:ld=4", *HOST, "--format", form,
                         says="Operand `out`")

    def test_columns_are_checked_before_the_work(self):
        self.refused("run", "gemm", "4000x4000x4000", "f64", *HOST, "--columns", "nope", says="`nope`")

    def test_unknown_kernel(self):
        name = self.quarry("list", "--limit", "1", "--format", "names").lines[0]
        self.refused("run", "gemm", "8x8x8", "f16", "--kernel", name + "q", says=f"`{name}`")

    def test_no_kernel_found(self):
        self.refused("run", "gemm", "8x8x8", "f16", *HOST, "--where", "tile.m == 7", status=1, says="8x8x8")

    def test_more_than_memory_holds(self):
        self.refused("run", "gemm", "600000x600000x8", "f32", *HOST, status=1, says="GiB")

    def test_numbers_that_f32_does_not_have(self):
        for flag in ("--alpha", "--beta"):
            self.refused("run", "gemm", "8x8x8", "f32", *HOST, flag, "-1e39", says=[f"`{flag[2:]}` is -1e+39", "f32"])
        self.refused("run", "gemm", "8x8x8", "f32", *HOST, "--activation", "leaky_relu", "--slope", "1e39", says="--slope")
        self.quarry("run", "gemm", "8x8x8", "f64", *HOST, "--alpha", "1e39")

    def test_bad_flags(self):
        self.refused("run", "gemm", "8x8x8", "f16", "--on", "moon", says="`moon`")
        for seed in ("-1", "x", "99999999999999999999"):
            self.refused("run", "gemm", "8x8x8", "f16", "--seed", seed, says="--seed")
        self.refused("run", "gemm", "8x8x", "f16", says="8x8x")

    def test_a_device_that_is_not_there(self):
        findings = {f["what"]: f["state"] for f in run_quarry("doctor", "--format", "json").json["findings"]}
        if "device 0" in findings:
            self.skipTest("this machine has a device")
        self.refused("run", "gemm", "8x8x8", "f16", "--on", "device", status=1, says="CUDA")


if __name__ == "__main__":
    unittest.main()
