"""Scales of A and B through the commands: find, run and emulate. No kernel takes them."""

import json
import tempfile
import unittest

from quarry_command import CommandTest, run_quarry

HOST = ("--on", "host")
PROBLEM = ("gemm", "300x200x500", "f16")
REFUSED = "Operand `{}` is unsupported: expected none, got a tensor"
EMULATES = "emulate" in run_quarry("--help").out


class Scales(CommandTest):
    def test_find_explains(self):
        for flag, words in (("a", ("tensor", "row", "1x128")), ("b", ("tensor", "column", "1x128", "128x128"))):
            for word in words:
                with self.subTest(flag=flag, word=word):
                    done = run_quarry("find", *PROBLEM, f"--{flag}-scale", word, "--explain")
                    self.assertEqual(done.status, 1)
                    self.assertIn(REFUSED.format(flag + "_scale"), done.out + done.err)

    def test_find_says_it_in_json(self):
        done = run_quarry("find", *PROBLEM, "--a-scale", "row", "--b-scale", "column", "--batch", "2", "--explain", "--format", "json")
        self.assertEqual(done.status, 1)
        problem = done.json["problems"][0]
        self.assertEqual((problem["problem"], problem["matched"], done.json["candidates"]), ("2*300x200x500", 0, []))
        self.assertEqual([row["reason"] for row in problem["rejections"]], [REFUSED.format("a_scale")])
        self.assertGreater(problem["rejections"][0]["kernels"], 100)

    def test_run_has_no_kernel(self):
        self.refused("run", *PROBLEM, "--a-scale", "row", *HOST, status=1, says=REFUSED.format("a_scale"))
        done = run_quarry("run", *PROBLEM, "--b-scale", "128x128", *HOST, "--format", "json")
        self.assertEqual((done.status, done.json["runs"]), (1, []))
        self.assertIn(REFUSED.format("b_scale"), done.err)
        name = self.quarry("find", *PROBLEM, "--limit", "1", "--format", "names").lines[0]
        self.refused("run", *PROBLEM, "--b-scale", "tensor", "--kernel", name, *HOST, status=1, says=REFUSED.format("b_scale"))

    @unittest.skipUnless(EMULATES, "this build has no emulator")
    def test_emulate_refuses(self):
        name = self.quarry("find", *PROBLEM, "--limit", "1", "--format", "names").lines[0]
        self.refused("emulate", name, "64x64x64", "--a-scale", "row", status=1, says=REFUSED.format("a_scale"))

    def test_what_is_not_multiplied_needs_none(self):
        self.quarry("run", *PROBLEM, "--a-scale", "row", "--alpha", "0", "--bias", "row", *HOST)
        self.quarry("run", "gemm", "30x20x0", "f16", "--b-scale", "128x128", *HOST)

    def test_shapes_files_take_them(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"problems": [{"m": 32, "n": 40, "k": 48, "a_scale": "row", "b_scale": "tensor", "alpha": 0}]}, file)
            file.flush()
            done = self.quarry("run", "gemm", "f32", "--shapes", file.name, *HOST)
        self.assertIn("--b f32:row --a-scale row --b-scale tensor --out", done.lines[0])

    def test_what_is_wrong_is_said(self):
        for flags, says in ((("--a-scale", "column"), "--a-scale: scales: expected tensor, row or 1x128, got `column`"),
                            (("--b-scale", "row"), "--b-scale: scales: expected tensor, column, 1x128 or 128x128, got `row`"),
                            (("--a-scale", "1x64"), "--a-scale: scales: expected tensor, row or 1x128, got `1x64`"),
                            (("--b-scale", ""), "--b-scale: ")):
            with self.subTest(flags=flags):
                self.refused("find", *PROBLEM, *flags, says=says)
        self.refused("find", "gemm", "64x64x64", "s8", "--out", "s32", "--b-scale", "column",
                     says="Operand `b_scale` is unsupported: an s32 output is computed in s32, which is not scaled")
        self.refused("find", "gemm", "1x1x9223372036854775807", "f16", "--a-scale", "1x128", says="Operand `a` is too large")
        self.refused("find", "reduce_split_k", "3x64x64", "f32", "--a-scale", "row", says="--a-scale does not go with reduce_split_k")


if __name__ == "__main__":
    unittest.main()
