"""Integer GEMM through the commands: find, run, verify, list and emulate."""

import random
import unittest

from quarry_command import CommandTest, run_quarry

HOST = ("--on", "host")
MODEL = ("--device-model", "h200")
EMULATES = "emulate" in run_quarry("--help").out


class Integers(CommandTest):
    def test_the_output_is_of_the_operands_type_and_sums_are_s32(self):
        for dtype in ("s8", "u8"):
            rows = self.quarry("find", "gemm", "64x64x64", dtype, *MODEL, "--format", "json").json["candidates"]
            self.assertTrue(rows)
            for row in rows:
                self.assertEqual([row[f"{o}.dtype"] for o in ("a", "b", "out")] + [row["accumulator"]], 3 * [dtype] + ["s32"])

    def test_every_pair_and_output_is_found_and_right(self):
        for a in ("s8", "u8"):
            for b in ("s8", "u8"):
                for out in ("s32", "s8", "u8", "f32"):
                    flags = ("--a", a, "--b", f"{b}:col", "--out", out, "--bias", "row", "--beta", "2")
                    with self.subTest(flags=flags):
                        alpha = "3" if out == "s32" else "0.0003"
                        run = self.quarry("run", "gemm", "70x50x133", *flags, "--alpha", alpha, "--activation", "relu",
                                          *HOST, "--format", "json").json["runs"][0]
                        self.assertTrue(run["right"])
                        self.assertIn(f"_{a}_{b}_s32_{out}_rcr_", run["kernel"])
                        if out == "s32":
                            self.assertEqual((run["error"], run["bound"]), (0, 0))

    def test_tensor_cores_multiply_what_is_contiguous_along_k(self):
        for b, families in (("s8:col", {"gemm_sm90", "gemm_sm80", "gemm_simt"}), ("s8:row", {"gemm_sm90", "gemm_simt"})):
            with self.subTest(b=b):
                found = self.quarry("find", "gemm", "512x512x512", "--a", "s8", "--b", b, "--out", "s32", *MODEL, "--columns",
                                    "name,family,instruction.k", "--format", "json").json["candidates"]
                self.assertEqual({kernel["family"] for kernel in found}, families)
                self.assertEqual(found[0]["family"], "gemm_sm90")
                self.assertEqual({k["instruction.k"] for k in found if k["family"] == "gemm_sm80"} - {32}, set())

    def test_verify(self):
        where = "a.dtype == s8 and out.dtype in (s32, s8) and out.layout == row"
        names = random.sample(self.quarry("list", "--where", where, "--format", "names").lines, 60)
        summary = self.quarry("verify", "-", "--problems", "6", *HOST, "--format", "json", stdin="\n".join(names)).json["summary"]
        self.assertEqual((summary["right"], summary["wrong"]), (60, 0))

    def test_list(self):
        where = "a.dtype == s8 and b.dtype in (s8, u8)"
        rows = self.quarry("list", "--where", where, "--format", "json").json["kernels"]
        self.assertTrue(rows)
        self.assertEqual({row["accumulator"] for row in rows}, {"s32"})
        self.assertEqual({row["out.dtype"] for row in rows}, {"s32", "s8", "u8", "f32"})
        self.assertEqual({row["b.dtype"] for row in rows}, {"s8", "u8"})

    def test_bytes_beside_a_16_bit_type_are_found_and_right(self):
        for a, b in (("f16", "s8"), ("u8", "bf16"), ("bf16", "s8"), ("u8", "f16")):
            for b_layout in ("row", "col"):
                with self.subTest(a=a, b=b, b_layout=b_layout):
                    wide = a if b in ("s8", "u8") else b
                    operands = ("--a", a, "--b", f"{b}:{b_layout}", "--out", wide)
                    run = self.quarry("run", "gemm", "70x50x133", *operands, *HOST, "--format", "json").json["runs"][0]
                    self.assertTrue(run["right"])
                    found = self.quarry("find", "gemm", "512x512x512", *operands, *MODEL, "--columns", "family", "--format",
                                        "json").json["candidates"]
                    # Tensor cores take bytes that are contiguous along K; as weights, those of Hopper do.
                    multiplied = "gemm_sm80" if a == "u8" else "gemm_sm90" if b_layout == "col" else "gemm_simt"
                    self.assertEqual(found[0]["family"], multiplied)

    @unittest.skipUnless(EMULATES, "this build has no emulator")
    def test_emulate(self):
        done = self.quarry("emulate", "--where", "accumulator == s32 and tile.m == 64", "--sample", "2", "--problems", "6",
                           "--format", "json")
        self.assertEqual(done.json["wrong"], [])

    def test_what_s32_cannot_compute_is_refused_with_the_cause(self):
        problem = ("find", "gemm", "64x64x64", "s8", "--out", "s32")
        for flags, says in ((("--alpha", "0.5"), "`alpha` is 0.5"), (("--beta", "3e9"), "`beta` is 3e+09"),
                            (("--activation", "gelu"), "Activation `gelu` is unsupported")):
            with self.subTest(flags=flags):
                done = run_quarry(*problem, *flags)
                self.assertNotEqual(done.status, 0)
                self.assertIn(says, done.err)
                self.assertIn("an s32 output is computed in s32", done.err)

    def test_wrong_types_are_refused_with_the_rule(self):
        for flags, says in ((("s8", "--b", "f32"), "go with one another, or with f16 or bf16"), (("s8", "--accumulator", "f32"), "summed in s32"),
                            (("f16", "--out", "s8"), "an integer output"), (("s8", "--out", "bf16"), "an output of s32, s8, u8 or f32")):
            with self.subTest(flags=flags):
                self.refused("find", "gemm", "64x64x64", *flags, status=1, says=says)


if __name__ == "__main__":
    unittest.main()
