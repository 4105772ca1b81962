"""Scale, residual, aux and clamp through the commands: find, run, verify and emulate."""

import json
import random
import tempfile
import unittest

from quarry_command import CommandTest, run_quarry

HOST = ("--on", "host")
EMULATES = "emulate" in run_quarry("--help").out


class Epilogues(CommandTest):
    def test_every_part_is_right(self):
        seed = random.randrange(2**32)
        dice = random.Random(seed)
        for i in range(25):
            dtype = dice.choice(["f16", "bf16", "f32", "f64", "s8", "u8"])
            layout = dice.choice(["row", "col"])
            flags = ["--out", f"{dtype}:{layout}:ld=77"]
            flags += dice.choice([[], ["--scale", dice.choice(["row", "column", "tensor"])]])
            flags += dice.choice([[], ["--residual", "out"], ["--residual", dice.choice(["row", "col"]) + ":ld=81"]])
            flags += dice.choice([[], ["--aux", dice.choice(["row", "col", f"{dtype}:row:ld=90:align=1"])]])
            flags += dice.choice([[], ["--clamp", dice.choice(["-1:1", "0:", ":0.5"])]])
            flags += dice.choice([[], ["--activation", "gelu"], ["--batch", "2"], ["--mode", "split_k_parallel", "--split-k", "2"]])
            alpha = "0.001" if dtype in ("s8", "u8") else "1"
            with self.subTest(seed=seed, i=i, flags=flags):
                done = self.quarry("run", "gemm", "60x70x130", dtype, *flags, "--alpha", alpha, "--seed", str(i), *HOST,
                                   "--format", "json")
                row = done.json["runs"][0]
                self.assertTrue(row["right"], row)

    def test_the_story_gives_the_problem_back(self):
        flags = ("--scale", "tensor", "--residual", "f16:col:ld=64:align=2", "--aux", "f16:row:ld=56", "--clamp", "-1.5:")
        done = self.quarry("run", "gemm", "60x50x40", "f16", *flags, *HOST, "--seed", "3")
        told = dict(line.split(None, 1) for line in done.lines)
        self.assertEqual(told["problem"], "gemm 60x50x40 --a f16:row --b f16:row --out f16:row " + " ".join(flags))
        again = self.quarry("run", *told["problem"].split(), *HOST, "--seed", "3")
        self.assertEqual(dict(line.split(None, 1) for line in again.lines)["result"], told["result"])
        for axis in ("row", "column"):
            done = self.quarry("run", "gemm", "9x7x5", "f32", "--scale", axis, "--residual", "out", "--clamp", ":2", *HOST)
            self.assertIn(f"--scale {axis} --residual out --clamp :2", done.lines[0])

    def test_shapes_files_take_them(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"problems": [{"m": 32, "n": 40, "k": 48, "scale": "row", "residual": "out", "aux": "col", "clamp": "-1:1"}]}, file)
            file.flush()
            done = self.quarry("run", "gemm", "f32", "--shapes", file.name, *HOST)
        self.assertIn("--scale row --residual out --aux f32:col --clamp -1:1", done.lines[0])

    def test_verify_checks_them(self):
        done = self.quarry("verify", "--where", "tile.m == 64 and tile.n == 64 and a.dtype == f16 and out.dtype == f16 and out.layout == column", "--problems", "3", *HOST,
                           "--format", "json")
        self.assertEqual(done.json["summary"]["wrong"], 0)

    @unittest.skipUnless(EMULATES, "this build has no emulator")
    def test_emulate(self):
        name = self.quarry("list", "--where", "family == gemm_simt and a.dtype == f32", "--limit", "1", "--format", "names").lines[0]
        for mode in (("--mode", "gemm"), ("--mode", "split_k_serial", "--split-k", "2"),
                     ("--mode", "split_k_parallel", "--split-k", "2")):
            self.quarry("emulate", name, "70x37x90", "--residual", "out", "--scale", "row", "--aux", "col", "--clamp=-1:1",
                        "--activation", "tanh", *mode)

    def test_what_is_wrong_is_said(self):
        problem = ("find", "gemm", "64x48x32", "f16")
        for flags, says in ((("--scale", "rows"), "--scale: scale: expected row, column or tensor, got `rows`"),
                            (("--residual", "f16:diagonal"), "--residual: "), (("--aux", "out"), "--aux: "),
                            (("--clamp", "1"), "--clamp: clamp: expected LOW:HIGH"), (("--clamp", ":"), "--clamp: clamp: expected LOW:HIGH"),
                            (("--clamp", "a:1"), "--clamp: low: expected a number, got `a`"),
                            (("--clamp", "0:nan"), "--clamp: high: expected a number, got `nan`")):
            with self.subTest(flags=flags):
                self.refused(*problem, *flags, says=says)

    def test_what_no_kernel_can_do_is_refused_with_the_cause(self):
        for problem, flags, says in (
                ("f16", ("--clamp", "2:1"), "The clamp has no numbers from 2 to 1"),
                ("f16", ("--residual", "f32"), "Operand `residual` is unsupported: expected f16, got f32"),
                ("f16", ("--aux", "f32"), "Operand `aux` is unsupported: expected f16, got f32"),
                ("f16", ("--aux", "row:ld=5"), "Operand `aux` overlaps itself"),
                ("s8", ("--out", "s32", "--scale", "row"), "`scale` is unsupported: an s32 output is computed in s32"),
                ("s8", ("--out", "s32", "--clamp", "0.5:"), "A bound of the clamp is 0.5")):
            with self.subTest(flags=flags):
                done = run_quarry("find", "gemm", "64x48x32", problem, *flags)
                self.assertNotEqual(done.status, 0)
                self.assertEqual(done.out, "")
                self.assertIn(says, done.err)


if __name__ == "__main__":
    unittest.main()
