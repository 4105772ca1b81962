"""Scales of A and B through the commands: find, run and emulate."""

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
                    done = self.quarry("find", *PROBLEM, f"--{flag}-scale", word, "--explain")
                    self.assertIn(REFUSED.format(flag + "_scale"), done.out + done.err)

    def test_find_says_it_in_json(self):
        done = self.quarry("find", *PROBLEM, "--a-scale", "row", "--b-scale", "column", "--batch", "2", "--explain", "--format", "json")
        problem = done.json["problems"][0]
        self.assertEqual(problem["problem"], "2*300x200x500")
        self.assertGreater(problem["matched"], 0)
        self.assertIn(REFUSED.format("a_scale"), [row["reason"] for row in problem["rejections"]])

    def test_kernels_are_for_problems_with_scales_or_without(self):
        unscaled = self.quarry("find", *PROBLEM, "--limit", "1", "--format", "names").lines[0]
        self.refused("run", *PROBLEM, "--b-scale", "tensor", "--kernel", unscaled, *HOST, status=1, says=REFUSED.format("b_scale"))
        scaled = self.quarry("find", *PROBLEM, "--b-scale", "128x128", "--limit", "1", "--format", "names").lines[0]
        self.assertTrue(scaled.endswith("_block_scales"), scaled)
        self.refused("run", *PROBLEM, "--kernel", scaled, *HOST, status=1,
                     says="Operand `a_scale` is missing: expected scales of A or B, got none")
        done = self.quarry("run", *PROBLEM, "--b-scale", "128x128", "--kernel", scaled, *HOST, "--format", "json")
        self.assertTrue(done.json["runs"][0]["right"], done.out)

    @unittest.skipUnless(EMULATES, "this build has no emulator")
    def test_emulate(self):
        name = self.quarry("find", *PROBLEM, "--limit", "1", "--format", "names").lines[0]
        self.refused("emulate", name, "64x64x64", "--a-scale", "row", status=1, says=REFUSED.format("a_scale"))
        scaled = self.quarry("list", "--where", "scales == block_scales and family == gemm_simt and a.dtype == f32", "--limit", "1",
                             "--format", "names").lines[0]
        self.quarry("emulate", scaled, "70x30x150", "--a-scale", "1x128", "--b-scale", "128x128")

    @unittest.skipUnless(EMULATES, "this build has no emulator")
    def test_wide_tiles_have_a_scale_for_each_strip_of_columns(self):
        # Tiles of 160 and 192 columns begin within blocks of 128, and end in others.
        name = "gemm_sm90_e4m3_e4m3_f32_bf16_rcr_128x{}_cooperative_a16x16_block_scales"
        dense = (name.format("192x128_c2x1_s4"), "150x500x304")
        grouped = ("grouped_" + name.format("160x128_c1x1_s5"), "2x500x304", "--tokens", "190")
        for problem in (dense, grouped):
            for b_scale in ("128x128", "column"):
                with self.subTest(problem=problem, b_scale=b_scale):
                    self.quarry("emulate", *problem, "--a", "e4m3:row", "--b", "e4m3:col", "--out", "bf16:row", "--a-scale", "1x128", "--b-scale", b_scale)

    def test_beside_an_expression(self):
        scales = ("--a-scale", "1x128", "--b-scale", "128x128")
        problem = ("gemm", "70x96x300", "e4m3", "--b", "col", "--out", "bf16")
        for text in ("out = silu(sum)", "out = silu(gate(sum)) * up(sum)", "out = silu(gate8(sum)) * up8(sum)", "out = sum; r = row_sum(sum)"):
            for more in (scales, scales[:2], scales[2:], ("--accumulation", "precise")):
                with self.subTest(text=text, more=more):
                    done = self.quarry("run", *problem, *more, "--epilogue", text, *HOST, "--format", "json")
                    self.assertTrue(done.json["runs"][0]["right"], done.out)
        names = self.quarry("find", *problem, *scales, "--epilogue", "out = silu(sum)", "--format", "names").lines
        self.assertTrue(all(name.endswith("_block_scales") for name in names), names)
        self.assertEqual({name[:9] for name in names}, {"gemm_sm90", "gemm_simt"})
        # Sums of bytes with scales of blocks are f32.
        self.quarry("run", "gemm", "70x96x300", "s8", "--b", "col", "--out", "f32", *scales, "--epilogue", "out = sum * 0.001", *HOST)
        for words, message in (
            (("--a-scale", "row"), "`a_scale` stands beside an expression: write it in the expression"),
            (("--a-scale", "1x128", "--b-scale", "column"), "`b_scale` stands beside an expression: write it in the expression"),
            (("--b-scale", "tensor"), "`b_scale` stands beside an expression: write it in the expression"),
            (("--b-scale", "1x64"), "`b_scale` of 1x64 is not taken together with an expression: no kernel has both"),
            (("--b", "s4:col", "--b-scale", "1x128"), "`b_scale` of 1x128 is not taken together with an expression: no kernel has both"),
            (("--b", "s8:col", "--a-scale", "1x128"), "`a_scale` of 1x128 is not taken together with an expression: no kernel has both"),
        ):
            with self.subTest(words=words):
                self.refused("find", "gemm", "64x64x256", "bf16", *words, "--epilogue", "out = sum", says=message)

    @unittest.skipUnless(EMULATES, "this build has no emulator")
    def test_emulate_beside_an_expression(self):
        name = "gemm_sm90_e4m3_e4m3_f32_bf16_rcr_128x128x128_c2x1_s6_cooperative_a16x16_block_scales"
        problem = ("150x288x304", "--a", "e4m3:row", "--b", "e4m3:col", "--out", "bf16:row", "--a-scale", "1x128")
        for b_scale in ("128x128", "1x128"):
            for text in ("out = silu(sum)", "out = silu(gate(sum)) * up(sum)", "out = silu(gate8(sum)) * up8(sum)"):
                with self.subTest(b_scale=b_scale, text=text):
                    self.quarry("emulate", name, *problem, "--b-scale", b_scale, "--epilogue", text)

    def test_zero_points(self):
        problem = ("gemm", "5x70x200", "--a", "bf16", "--b", "u4:col:ld=200", "--out", "bf16")
        for granularity in ("tensor", "column", "1x32", "1x64", "1x128", "128x128"):
            with self.subTest(granularity=granularity):
                done = self.quarry("run", *problem, "--b-scale", granularity, "--b-zero", "u8", *HOST, "--format", "json")
                self.assertTrue(done.json["runs"][0]["right"], done.out)
        done = self.quarry("find", *problem, "--b-scale", "1x64", "--b-zero", "u8", "--explain")
        self.assertIn(REFUSED.format("b_zero"), done.out + done.err)
        name = self.quarry("find", *problem, "--b-scale", "1x64", "--limit", "1", "--format", "names").lines[0]
        self.refused("run", *problem, "--b-scale", "1x64", "--b-zero", "u8", "--kernel", name, *HOST, status=1, says=REFUSED.format("b_zero"))
        for flags, says in ((("--b-zero", "u8"), "Operand `b_zero` stands without `b_scale`, whose granularity zero points have"),
                            (("--b-scale", "1x64", "--b-zero", "f32"), "--b-zero: zero points: expected u8, got `f32`"),
                            (("--b-scale", "1x64", "--b-zero", "u8", "--b", "s4:col"), "Operand `b_zero` is for unsigned weights")):
            with self.subTest(flags=flags):
                given = problem if "--b" not in flags else problem[:4] + problem[6:]
                self.refused("find", *given, *flags, says=says)

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
        for flags, says in ((("--a-scale", "column"), "--a-scale: scales: expected tensor, row, 1x128, 1x32 or 1x64, got `column`"),
                            (("--b-scale", "row"), "--b-scale: scales: expected tensor, column, 1x128, 128x128, 1x32 or 1x64, got `row`"),
                            (("--a-scale", "1x16"), "--a-scale: scales: expected tensor, row, 1x128, 1x32 or 1x64, got `1x16`"),
                            (("--b-scale", ""), "--b-scale has an empty value")):
            with self.subTest(flags=flags):
                self.refused("find", *PROBLEM, *flags, says=says)
        self.refused("find", "gemm", "64x64x64", "s8", "--out", "s32", "--b-scale", "column",
                     says="Operand `b_scale` is unsupported: an s32 output is computed in s32, which is not scaled")
        self.refused("find", "gemm", "1x1x9223372036854775807", "f16", "--a-scale", "1x128", says="Operand `a` is too large")
        self.refused("find", "reduce_split_k", "3x64x64", "f32", "--a-scale", "row", says="--a-scale does not go with reduce_split_k")


if __name__ == "__main__":
    unittest.main()
