"""How the command says where the matrices of a batch lie: strides, and one matrix that all share."""

import json
import tempfile
import unittest

from quarry_command import CommandTest

HOST = ("--on", "host", "--seed", "5")
BATCH = ("gemm", "24x40x16", "--batch", "3", *HOST)


class Batches(CommandTest):
    def solve(self, *flags):
        run = self.quarry("run", *BATCH, *flags, "--format", "json").json["runs"][0]
        self.assertTrue(run["right"])

    def test_strides(self):
        self.solve("--a", "f32:stride=1000", "--b", "f32:col:ld=20:stride=999", "--out", "f32:stride=2000")
        self.solve("--a", "f32:stride=0", "--b", "f32")
        self.solve("--a", "f32", "--b", "f32", "--c", "f32:stride=0", "--residual", "f32:stride=1200")

    def test_a_shared_matrix(self):
        self.solve("--a", "f32", "--b", "f32:shared")
        self.solve("--a", "f32:shared", "--b", "f32:col:shared", "--out", "f32")

    def test_a_story_repeats_the_problem(self):
        flags = ("--a", "f32:row:stride=400", "--b", "f32:col:shared", "--out", "f32:row")
        story = self.quarry("run", *BATCH, *flags).out
        self.assertIn("--a f32:row:stride=400 --b f32:col:shared --out f32:row --batch 3", story)

    def test_a_stride_is_one_of_the_problem(self):
        def kernels(b):
            return set(self.quarry("find", "gemm", "64x64x64", "--a", "f16", "--b", b, "--batch", "2", "--format", "names").lines)
        # 65 elements are a multiple of one element alone.
        odd, even = kernels("f16:stride=4161"), kernels("f16:stride=4160")
        copying = {name for name in odd if name.startswith("gemm_sm90") and name.endswith("_a1x1")}
        self.assertLess(odd - copying, even)
        self.assertTrue(copying and not copying & even)
        self.assertEqual(kernels("f16:shared"), kernels("f16:stride=0"))

    def test_shapes_files_take_them(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"problems": [{"m": 8, "n": 8, "k": 8, "batch": 2, "b": "f32:shared"}]}, file)
            file.flush()
            self.assertTrue(self.quarry("run", "gemm", "f32", "--shapes", file.name, *HOST, "--format", "json").json["runs"][0]["right"])

    def test_a_reorder(self):
        done = self.quarry("run", "reorder", "64x32", "f16", "--from", "row:stride=5000", "--to", "col", "--batch", "2", *HOST)
        self.assertIn("right", done.out)

    def test_bad_input(self):
        def refused(operand, says, *flags):
            self.refused("find", "gemm", "8x8x8", "--a", "f16", "--b", operand, *flags, says=says)
        batch = ("--batch", "2")
        refused("f16:stride=0", ["--b", "a batch stride goes with a batch"])
        refused("f16:shared", ["--b", "a shared matrix goes with a batch"])
        refused("f16:stride=-1", "stride: expected a whole number from 0", *batch)
        refused("f16:stride=x", "`x`", *batch)
        refused("f16:stride=8:stride=8", "says again", *batch)
        refused("f16:shared:shared", "says again", *batch)
        for pair in ("shared:stride=0", "array:stride=8"):
            refused("f16:" + pair, "a batch stride goes with neither", *batch)
        self.refused("find", "reduce_split_k", "8x8x8", "f32", "--partials", "f32:stride=9", *batch, says="packed")
        self.refused("find", "gemm", "8x8x8", "f16", "--out", "f16:stride=0", *batch, says="`out`")


if __name__ == "__main__":
    unittest.main()
