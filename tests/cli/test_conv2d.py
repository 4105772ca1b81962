"""conv2d as an operation of the command: find, run, verify, campaign, emulate, and what it refuses."""
import unittest

from quarry_command import CommandTest, run_quarry

HAS_EMULATOR = "emulate" in run_quarry("--help").out
SHAPE = ("2x9x8x12", "20x3x3")


class Conv2d(CommandTest):
    def test_find_has_a_kernel_for_each_direction_and_type(self):
        for direction in ("fprop", "dgrad", "wgrad"):
            for kind in ("f16", "bf16", "f32", "f64", "s8", "u8"):
                with self.subTest(direction=direction, kind=kind):
                    out = ("--out", "s32") if kind in ("s8", "u8") else ()
                    document = self.quarry("find", "conv2d", direction, *SHAPE, kind, *out, "--padding", "1", "--format", "json").json
                    names = [row["name"] for row in document["candidates"]]
                    self.assertTrue(names and all(name.startswith(f"conv2d_simt_{direction}_{kind}") for name in names), names)

    def test_run_is_right_on_the_host(self):
        for words in (
            ("fprop", "1x28x28x16", "32x3x3", "bf16", "--padding", "1"),
            ("dgrad", "2x15x13x8", "12x3x5", "f32", "--padding", "1x2", "--stride", "2x3", "--groups", "4"),
            ("wgrad", "2x11x12x6", "9x4x2", "f16", "--dilation", "2x3", "--groups", "3", "--kind", "convolution"),
            ("fprop", "1x9x9x5", "7x3x3", "s8", "--out", "s32", "--padding", "6"),
            ("fprop", "1x9x9x8", "8x1x1", "f64", "--c", "f64", "--beta", "0.5", "--bias", "column", "--activation", "gelu"),
        ):
            with self.subTest(words=words):
                self.quarry("run", "conv2d", *words, "--on", "host")

    def test_verify_meets_every_path(self):
        out = self.quarry("verify", "--where", "operation == conv2d", "--on", "host", "--problems", "18", "--seed", "3").out
        self.assertIn("0 wrong", out)

    def test_campaign_draws_convolutions(self):
        out = self.quarry("verify", "--campaign", "300", "--where", "operation == conv2d", "--on", "host", "--seed", "5").out
        self.assertIn("0 wrong", out)

    @unittest.skipUnless(HAS_EMULATOR, "no emulator in this build")
    def test_a_kernel_is_emulated_with_a_shape(self):
        result = self.quarry("emulate", "conv2d_simt_dgrad_f32_f32_f32_f32_64x64x16_t4x4", "1x7x6x5", "6x3x3", "--stride", "2", "--padding", "1")
        self.assertIn("0 wrong", result.out)

    def test_show_says_the_direction(self):
        out = self.quarry("show", "conv2d_simt_wgrad_bf16_bf16_f32_bf16_64x64x16_t4x4", "--format", "json").json
        self.assertIn("wgrad", str(out))
        names = self.quarry("list", "--where", "direction == dgrad and a.dtype == f64", "--format", "names").out.split()
        self.assertEqual(names, ["conv2d_simt_dgrad_f64_f64_f64_f64_64x64x16_t4x4"])

    def test_bad_problems_are_refused_by_name(self):
        for words, message in (
            (("fprop", "2x9x8x12"), "no shape given"),
            (("sideways", *SHAPE, "f32"), "direction"),
            (("fprop", "9x8x12", "20x3x3", "f32"), "32x56x56x64"),
            (("fprop", "2x9x8x12", "20x3", "f32"), "64x3x3"),
            (("fprop", *SHAPE), "which type?"),
            (("fprop", *SHAPE, "f32", "--stride", "0"), "--stride"),
            (("fprop", *SHAPE, "f32", "--dilation", "1x0"), "--dilation"),
            (("fprop", *SHAPE, "f32", "--padding", "-1"), "padding"),
            (("fprop", *SHAPE, "f32", "--groups", "5"), "Groups do not divide the channels"),
            (("fprop", *SHAPE, "f32", "--dilation", "9"), "larger than the padded image"),
            (("fprop", *SHAPE, "f32", "--bias", "row"), "--bias"),
            (("wgrad", *SHAPE, "f32", "--bias", "column"), "wgrad takes none"),
            (("fprop", *SHAPE, "f32", "--residual", "f32"), "--residual does not go with conv2d"),
            (("fprop", *SHAPE, "f32", "--a", "f32:col"), "channels are contiguous"),
            (("fprop", *SHAPE, "f32", "--kind", "other"), "--kind"),
            (("fprop", *SHAPE, "f32", "--split-k", "2"), "--split-k does not go with conv2d"),
        ):
            with self.subTest(words=words):
                result = run_quarry("find", "conv2d", *words)
                self.assertNotEqual(result.status, 0)
                self.assertIn(message, result.err + result.out)


if __name__ == "__main__":
    unittest.main()
