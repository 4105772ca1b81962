"""elementwise as an operation of the command: find, run, verify, emulate, and what it refuses."""
import unittest

from quarry_command import CommandTest, run_quarry

ADD = ("--epilogue", "out = x + y", "--with", "x=bf16:row,y=bf16:row")
HAS_EMULATOR = "emulate" in run_quarry("--help").out


class Elementwise(CommandTest):
    def test_find_ranks_wide_kernels_first_where_memory_allows(self):
        document = self.quarry("find", "elementwise", "4096x4096", "bf16", *ADD, "--format", "json").json
        names = [row["name"] for row in document["candidates"]]
        self.assertEqual(len(names), 15)
        self.assertTrue(names[0].startswith(("elementwise_v8_", "elementwise_v16_")), names[0])
        unaligned = self.quarry("find", "elementwise", "100x99", "bf16", *ADD, "--align", "1", "--format", "json").json
        self.assertEqual({row["name"][:14] for row in unaligned["candidates"]}, {"elementwise_v1"})

    def test_run_is_right_on_the_host(self):
        for shape, kind, *words in (
            ("300x200", "bf16", *ADD),
            ("1000", "bf16", "--epilogue", "out = x", "--with", "x=f32:row"),
            ("2x3x40x50", "f32", "--epilogue", "out = gelu(x + b) * s", "--with", "x=f16:row,b=f32:per_column,s=f32:scalar"),
            ("64x33", "f16", "--epilogue", "out = x * 2", "--with", "x=f16:row", "--in-place", "x", "--lines", "8"),
            ("64", "u8", "--epilogue", "out = x", "--with", "x=s8:row", "--in-place", "x"),
            ("64x33", "f16", "--epilogue", "out = x + 1", "--with", "x=bf16:row", "--in-place", "x"),
            ("40x50", "s8", "--epilogue", "out = x; y = f32(x) * 0.5", "--with", "x=s8:col,y=f32:col"),
            ("40x50", "f16"),
            ("40x50", "f16", "--epilogue", "out = t[i] * s", "--with", "t=bf16:gathered,i=s32:per_row,s=f32:scalar", "--table-rows", "9"),
            ("3x40x500", "e4m3", "--epilogue", "s = group_max(abs(x)) / 448; out = x / s", "--with", "x=bf16:row"),
            ("40x500", "f32", "--epilogue", "out = row_sum(x * x) / 500", "--with", "x=bf16:row"),
            ("2x30x70", "f32", "--epilogue", "out = x; c = column_sum(x); m = max(abs(x)); r = row_max(x)", "--with", "x=f16:row"),
        ):
            with self.subTest(shape=shape, words=words):
                self.quarry("run", "elementwise", shape, kind, *words, "--on", "host")

    def test_run_says_how_values_were_compared(self):
        run = ("run", "elementwise", "30x20", "bf16", *ADD, "--on", "host")
        self.assertIn("result    right: each of 600 values is within its own bound, against float64", self.quarry(*run).out)
        row = self.quarry(*run, "--format", "json").json["runs"][0]
        self.assertEqual((row["error"], row["bound"], row["right"]), (None, None, True))

    def test_campaign_draws_expressions(self):
        out = self.quarry("verify", "--campaign", "300", "--where", "operation == elementwise", "--on", "host").out
        self.assertRegex(out, r"^300 problems: \d{3,} right results of 15 kernels, \d{3,} refusals with a true cause, 0 wrong;")

    def test_verify_meets_every_path(self):
        out = self.quarry("verify", "--where", "operation == elementwise", "--on", "host", "--problems", "10", "--seed", "3").out
        self.assertIn("0 wrong", out)

    @unittest.skipUnless(HAS_EMULATOR, "no emulator in this build")
    def test_kernels_are_emulated_with_the_problems_expression(self):
        for name in ("elementwise_v1_u2", "elementwise_v8_u1"):
            result = self.quarry("emulate", name, "50x48", *ADD, "--lines", "16")
            self.assertIn("0 wrong", result.out)

    @unittest.skipUnless(HAS_EMULATOR, "no emulator in this build")
    def test_reductions_are_emulated(self):
        for name in ("elementwise_v1_u1", "elementwise_v2_u2", "elementwise_v16_u4"):
            for path in ("rows", "groups", "lines"):
                with self.subTest(name=name, path=path):
                    out = self.quarry("emulate", name, "--path", path, "--seed", "5").out
                    self.assertIn("0 wrong", out)

    def test_bad_problems_are_refused_with_a_caret_or_a_name(self):
        for words, message in (
            (("40x50", "f32", "--epilogue", "out = x + z", "--with", "x=f32:row"), "unknown"),
            (("40x50", "f32", "--epilogue", "out = x", "--with", "x=f32:row,y=f32:row"), "nothing uses `y`"),
            (("40x50", "f32", "--epilogue", "out = x - row_max(x)", "--with", "x=f32:row"), "complete only"),
            (("40x50", "f32", "--epilogue", "out = x; m = row_max(x)", "--with", "x=f32:row,m=f32:row"), "expected per_row"),
            (("40x50", "f32", "--epilogue", "out = sum", "--with", "x=f32:row"), "sum"),
            (("40x50",), "which type?"),
            (("40x50", "f32", "--in-place", "z"), "--in-place"),
            # It is no matrix like the output, has other bits, or other strides.
            *(((*shape, "f32", "--epilogue", "out = x + y", "--with", f"x=bf16:row,y=f32:{kind}", "--in-place", "y"), "--in-place")
              for kind in ("per_column", "per_row", "scalar", "col") for shape in (("40x40",), ("40x50",))),
            (("40x40", "f32", "--epilogue", "out = x + 1", "--with", "x=bf16:row", "--in-place", "x"), "--in-place"),
            (("40x40", "f32", "--epilogue", "out = row_sum(x)", "--with", "x=f32:row,out=f32:per_row", "--in-place", "x"), "--in-place"),
            (("1x2x3x4x5", "f32"), "4096x4096"),
            (("40x50", "s4", "--epilogue", "out = x", "--with", "x=f32:row"), "s4"),
        ):
            with self.subTest(words=words):
                result = run_quarry("find", "elementwise", *words)
                self.assertNotEqual(result.status, 0)
                self.assertIn(message, result.err + result.out)


if __name__ == "__main__":
    unittest.main()
