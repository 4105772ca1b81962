"""Expressions as the epilogues of GEMMs: find, run, verify, emulate, and what is refused."""
import unittest

from quarry_command import CommandTest, run_quarry

GATED = ("--epilogue", "out = gelu(sum + bias) * gate", "--with", "bias=f32:per_column,gate=bf16:row")
HAS_EMULATOR = "emulate" in run_quarry("--help").out


class GemmExpressions(CommandTest):
    def test_find_answers_with_the_kernels_that_there_are_without(self):
        plain = self.quarry("find", "gemm", "512x512x512", "bf16", "--format", "names").lines
        found = self.quarry("find", "gemm", "512x512x512", "bf16", *GATED, "--format", "json").json
        self.assertEqual({row["name"] for row in found["candidates"]}, set(plain))
        long = self.quarry("find", "gemm", "64x64x65536", "bf16", *GATED, "--format", "json").json
        self.assertIn("split_k_parallel", {row["mode"] for row in long["candidates"]})

    def test_run_is_right_on_the_host(self):
        for shape, kind, *words in (
            ("96x80x64", "bf16", *GATED),
            ("96x80x64", "bf16", *GATED, "--mode", "split_k_serial", "--split-k", "2"),
            ("96x80x640", "bf16", *GATED, "--mode", "split_k_parallel", "--split-k", "3"),
            ("50x33x20", "f16", "--out", "f16:col", *GATED),
            ("50x33x640", "f16", "--out", "f16:col", *GATED, "--mode", "split_k_parallel", "--split-k", "3", "--batch", "2"),
            ("50x33x20", "f32", "--batch", "3", "--epilogue", "z = sum * s; out = z + m", "--with", "s=f32:scalar,m=f32:col,z=bf16:row"),
            ("50x33x20", "f64", "--epilogue", "out = sum * d", "--with", "d=f64:per_row"),
            ("64x32x48", "s8", "--epilogue", "out = f32(sum) * scale", "--with", "scale=f32:per_column"),
            ("50x33x20", "f16", "--epilogue", "out = sum + x", "--with", "x=f16:row", "--in-place", "x"),
            ("50x33x20", "f16", "--epilogue", "out = sum + x", "--with", "x=bf16:row", "--in-place", "x"),
            ("50x33x20", "f16", "--a", "f16:array", "--out", "f16:array", "--batch", "2", "--epilogue", "out = relu(sum)"),
            ("1x1x0", "f16", "--epilogue", "out = exp(sum)"),
            ("50x33x20", "bf16", "--epilogue", "out = sum + t[i]", "--with", "t=bf16:gathered,i=s32:per_row", "--table-rows", "7"),
            ("50x33x20", "bf16", "--out", "bf16:col", "--batch", "2", "--epilogue", "out = sum * t[i]", "--with", "t=f32:gathered,i=s32:per_row"),
            ("50x33x640", "f16", "--epilogue", "out = sum + t[i]", "--with", "t=f16:gathered,i=s32:per_row", "--mode", "split_k_parallel", "--split-k", "3"),
            ("50x33x640", "f16", "--out", "f16:col", "--epilogue", "out = sum + t[i]", "--with", "t=f16:gathered,i=s32:per_row", "--mode", "split_k_parallel", "--split-k", "3"),
        ):
            with self.subTest(shape=shape, words=words):
                self.quarry("run", "gemm", shape, kind, *words, "--on", "host")

    def test_verify_meets_the_path(self):
        for family in ("gemm_simt", "gemm_sm80", "gemm_sm90"):
            with self.subTest(family=family):
                plain = "out.layout == row or out.layout == column"
                kernels = self.quarry("list", "--where", f"family == {family} and ({plain})", "--format", "names").lines
                some = kernels[:: len(kernels) // 12]
                for path in ("expression", "expression_parallel", "gathered"):
                    out = self.quarry("verify", *some, "--on", "host", "--path", path).out
                    self.assertRegex(out, r"[1-9]\d* right, 0 wrong")  # those of kernels that need scales have no such path

    @unittest.skipUnless(HAS_EMULATOR, "no emulator in this build")
    def test_random_expressions_are_emulated(self):
        for family in ("gemm_simt", "gemm_sm80", "gemm_sm90"):
            with self.subTest(family=family):
                for path in ("expression", "expression_parallel", "gathered"):
                    out = self.quarry("emulate", "--where", f"family == {family}", "--sample", "1", "--path", path).out
                    self.assertIn("0 wrong", out)

    def test_pairs_and_reductions_are_right_on_the_host(self):
        for shape, kind, *words in (
            ("96x128x64", "bf16", "--b", "col", "--epilogue", "out = silu(gate(sum)) * up(sum)"),
            ("96x128x64", "bf16", "--b", "col", "--epilogue", "out = silu(gate8(sum)) * up8(sum)"),
            ("96x128x64", "bf16", "--batch", "2", "--epilogue", "out = gate8(sum) + up8(sum); t = column_sum(out)"),
            ("96x128x64", "bf16", "--batch", "2", "--epilogue", "out = gate(sum) + up(sum); t = column_sum(out)"),
            ("96x80x64", "bf16", "--epilogue", "out = sum + x; squares = row_sum(out * out)", "--with", "x=bf16:row"),
            ("96x300x64", "bf16", "--epilogue", "z = sum + bias; scale = group_max(abs(z)) / 448; out = z / scale; amax = max(abs(z))",
             "--with", "bias=bf16:per_column,scale=f32:col,amax=f32:scalar"),
            ("64x32x48", "s8", "--epilogue", "out = f32(sum); m = row_max(sum)"),
            ("50x33x20", "f16", "--out", "f16:col", "--epilogue", "out = sum; m = max(abs(sum))"),
        ):
            with self.subTest(shape=shape, words=words):
                self.quarry("run", "gemm", shape, kind, *words, "--on", "host")

    @unittest.skipUnless(HAS_EMULATOR, "no emulator in this build")
    def test_pairs_and_reductions_are_emulated(self):
        for family in ("gemm_simt", "gemm_sm80", "gemm_sm90"):
            for path in ("reductions", "groups", "gated", "gated_reductions", "eights", "eights_reductions"):
                with self.subTest(family=family, path=path):
                    some = f"family == {family} and out.layout == row and tile.n == 256"
                    if family == "gemm_simt":
                        some = f"family == {family} and out.layout == row and tile.n == 128"
                    out = self.quarry("emulate", "--where", some, "--sample", "1", "--path", path, "--seed", "3").out
                    self.assertIn("0 wrong", out)

    def test_bad_expressions_are_refused_with_a_caret_or_a_name(self):
        for words, message in (
            (("--epilogue", "out = gleu(sum)"), "did you mean `gelu`"),
            (("--epilogue", "out = gleu(sum)"), "\n      ^"),
            (("--epilogue", "out = sum + z"), "unknown"),
            (("--epilogue", "out = sum; out = sum"), "out"),
            (("--epilogue", "z = sum"), "out"),
            (("--epilogue", "out = sum", "--with", "y=f32:row"), "nothing uses `y`"),
            (("--epilogue", "out = sum + y", "--with", "y=s32:row"), "s32"),
            (("--epilogue", "out = sum + a", "--with", "a=f32:row"), "name of an operand of the product"),
            (("--epilogue", "out = row_max(sum)"), "each element"),
            (("--epilogue", "out = gate(sum)"), "one half of a pair"),
            (("--epilogue", "out = gate8(sum) * up(sum)"), "do not go together"),
            (("--epilogue", "out = sum / group_max(sum)", "--out", "col", "--device-model", "a100"), "row-major"),
            (("--epilogue", "out = 1"), "nothing uses `sum`"),
            (("--epilogue", "out = sum + t[i]", "--with", "t=f32:gathered,i=s8:per_row"), "an index is an input of s32:per_row"),
            (("--epilogue", "out = sum + t[i]", "--with", "t=f32:row,i=s32:per_row"), "expected t=TYPE:gathered"),
            (("--epilogue", "out = sum + t[i]", "--with", "t=f32:gathered,i=s32:per_row", "--table-rows", "0"), "--table-rows"),
            (("--epilogue", "out = sum + t[i]", "--with", "t=f32:gathered,i=s32:per_row", "--table-rows", "x"), "--table-rows"),
            (("--epilogue", "out = sum", "--bias", "column"), "`bias` stands beside an expression"),
            (("--epilogue", "out = sum", "--alpha", "2"), "`alpha` stands beside an expression"),
            (("--with", "y=f32:row"), "--epilogue"),
            (("--in-place", "y"), "--epilogue"),
            (("--epilogue", "out = sum + y", "--with", "y=f32:row", "--in-place", "z"), "--in-place"),
            (("--epilogue", "out = sum + y", "--with", "y=f32:row", "--in-place", "y"), "--in-place"),
            (("--epilogue", "out = sum + f32(y)", "--with", "y=s4:row"), "whole bytes"),
            (("--epilogue", "out = sum; z = sum", "--with", "z=u4:row"), "whole bytes"),
            (("--epilogue", "out = sum; r = row_sum(sum)", "--mode", "split_k_parallel"), "unsupported with gated pairs and reductions"),
        ):
            with self.subTest(words=words):
                result = run_quarry("find", "gemm", "64x64x64", "bf16", *words)
                self.assertNotEqual(result.status, 0)
                self.assertIn(message, result.err + result.out)


if __name__ == "__main__":
    unittest.main()
