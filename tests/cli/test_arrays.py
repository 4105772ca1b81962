"""Batches through arrays of pointers, by the commands: find, run, verify and emulate."""

import json
import random
import tempfile
import unittest

from quarry_command import CommandTest, run_quarry

HOST = ("--on", "host")
EMULATES = "emulate" in run_quarry("--help").out


class Arrays(CommandTest):
    def test_any_mixture_is_right(self):
        seed = random.randrange(2**32)
        dice = random.Random(seed)
        for i in range(20):
            dtype = dice.choice(["f16", "bf16", "f32", "f64", "s8", "u8"])
            kind = lambda: dice.choice([":array", "", ":align=1:array", ":ld=160:array", ":ld=160:align=2"])
            side = lambda: dice.choice(["row", "col"])
            flags = ["--a", f"{dtype}:{side()}{kind()}", "--b", f"{dtype}:{side()}{kind()}", "--out", f"{dtype}:{side()}{kind()}"]
            flags += dice.choice([[], ["--c", "out"], ["--c", side() + kind()]])
            flags += dice.choice([[], ["--residual", side() + kind()], ["--aux", side() + kind()]])
            flags += dice.choice([[], ["--mode", "split_k_parallel", "--split-k", "2"], ["--mode", "split_k_serial", "--split-k", "2"]])
            alpha = "0.001" if dtype in ("s8", "u8") else "1"
            with self.subTest(seed=seed, i=i, flags=flags):
                done = self.quarry("run", "gemm", "60x70x150", *flags, "--batch", str(dice.choice([1, 3])), "--alpha", alpha,
                                   "--seed", str(i), *HOST, "--format", "json")
                self.assertTrue(done.json["runs"][0]["right"], done.json)

    def test_the_story_gives_the_problem_back(self):
        problem = ("gemm 60x50x40 --a f16:row:array --b f16:col:align=4:array --out f16:row:ld=56:array --batch 3 "
                   "--residual f16:row --aux f16:row:array")
        done = self.quarry("run", *problem.split(), *HOST, "--seed", "3")
        self.assertEqual(dict(line.split(None, 1) for line in done.lines)["problem"], problem)

    def test_only_kernels_that_permit_arrays_are_found(self):
        shape = ("gemm", "512x512x512", "f16", "--batch", "4", "--device-model", "h200", "--format", "json", "--columns", "name,family,array")
        strided = self.quarry("find", *shape).json["candidates"]
        self.assertIn("gemm_sm90", {row["family"] for row in strided})
        arrays = self.quarry("find", *shape, "--b", "f16:array").json["candidates"]
        self.assertEqual({row["family"] for row in arrays}, {"gemm_sm80", "gemm_simt"})
        self.assertTrue(all(row["array"] for row in arrays))
        none = run_quarry("find", *shape[:5], "--device-model", "h200", "--b", "f16:array", "--where", "family == gemm_sm90")
        self.assertEqual((none.status, none.out), (1, ""))
        self.assertIn("Mode `array` is unsupported: expected matrices by a pointer and a stride, got an array of pointers as `b`", none.err)
        explained = self.quarry("find", "gemm", "512x512x512", "f16", "--batch", "4", "--out", "f16:array", "--explain", "--limit", "1",
                                "--device-model", "h200")
        self.assertIn("an array of pointers as `out`", explained.out + explained.err)

    def test_filters_and_columns_know_the_modes(self):
        count = lambda where: len(self.quarry("list", "--where", where, "--format", "names").lines)
        self.assertEqual(count("modes.array"), count("family in (gemm_sm80, gemm_simt, gemm_narrow_sm80)"))
        self.assertEqual(count("modes.batched"), count("operation == gemm"))

    def test_an_array_needs_a_batch(self):
        for flag in ("--a", "--b", "--c", "--out", "--residual", "--aux"):
            self.refused("run", "gemm", "8x8x8", "f16", flag, "f16:array", *HOST,
                         says=f"{flag}: an array of pointers goes with a batch; say --batch N")

    def test_matrices_of_an_array_are_not_interleaved(self):
        for flag in ("--a", "--out"):
            self.refused("run", "gemm", "32x32x32", "s8", "--batch", "2", flag, "s8:col32:array", *HOST,
                         says=f"{flag}: the matrices of an array of pointers are stored by rows or columns, not interleaved")
        self.refused("run", "gemm", "8x8x8", "--a", "f16:array:array", "--batch", "2", says="`array` says again")
        self.refused("run", "gemm", "8x8x8", "--a", "f16:arrays", "--batch", "2", says="arrays")

    def test_one_matrix_for_all_of_a_batch(self):
        done = self.quarry("run", "gemm", "40x24x32", "f16", "--c", "f16:ld=28:shared", "--b", "f16:shared", "--batch", "3", *HOST)
        self.assertIn("--b f16:row:shared --c f16:row:ld=28:shared", done.lines[0])
        wrong = (("--a", "f16:array:shared", "a matrix for each entry"), ("--out", "f16:shared", "outputs of their own"),
                 ("--aux", "f16:shared", "outputs of their own"), ("--a", "f16:shared:shared", "`shared` says again"))
        for flag, text, says in wrong:
            self.refused("run", "gemm", "8x8x8", "f16", flag, text, "--batch", "2", *HOST, says=[flag, says])
        self.refused("run", "gemm", "8x8x8", "f16", "--c", "f16:shared", *HOST, says="--c: a shared matrix goes with a batch; say --batch N")
        self.refused("run", "reorder", "32x32", "s8", "--from", "row:shared", *HOST, says="--from: a reorder copies")
        self.refused("run", "reduce_split_k", "2x32x32", "f32", "--partials", "f32:shared", *HOST, says="packed")

    def test_shapes_files_take_them(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"problems": [{"m": 32, "n": 40, "k": 48, "batch": 2, "a": "f32:row:array", "out": "array"}]}, file)
            file.flush()
            done = self.quarry("run", "gemm", "f32", "--shapes", file.name, *HOST)
        self.assertIn("--a f32:row:array --b f32:row --out f32:row:array --batch 2", done.lines[0])

    def test_verify_draws_them(self):
        done = self.quarry("verify", "--where", "family == gemm_simt and a.dtype == f32 and out.layout == column", "--problems", "30",
                           "--trials", *HOST)
        self.assertIn(":array", done.out + done.err)

    @unittest.skipUnless(EMULATES, "this build has no emulator")
    def test_emulate(self):
        for family in ("gemm_simt", "gemm_sm80"):
            name = self.quarry("list", "--where", f"family == {family} and a.dtype == f16 and tile.m == 64", "--limit", "1",
                               "--format", "names").lines[0]
            for mode in (("--mode", "gemm"), ("--mode", "split_k_serial", "--split-k", "2"), ("--mode", "split_k_parallel", "--split-k", "3")):
                with self.subTest(name=name, mode=mode):
                    operand = self.quarry("list", "--where", f"name == '{name}'", "--columns", "a.layout,b.layout,out.layout,out.dtype",
                                          "--format", "json").json["kernels"][0]
                    text = lambda which: f"{'row' if operand[which + '.layout'] == 'row' else 'col'}"
                    self.quarry("emulate", name, "70x66x130", "--a", f"f16:{text('a')}:ld=136:array", "--b", f"f16:{text('b')}:ld=136:array",
                                "--out", f"{operand['out.dtype']}:{text('out')}:array", "--c", "out", "--residual", "row:array",
                                "--aux", "col:array", "--batch", "3", "--seed", "4", *mode)


if __name__ == "__main__":
    unittest.main()
