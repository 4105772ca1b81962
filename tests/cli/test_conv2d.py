"""conv2d as an operation of the command: find, run, verify, campaign, emulate, and what it refuses."""
import unittest

from quarry_command import CommandTest, run_quarry

HAS_EMULATOR = "emulate" in run_quarry("--help").out
SHAPE = ("2x9x8x12", "20x3x3")


class Conv2d(CommandTest):
    def names_found(self, *words):
        document = self.quarry("find", "conv2d", *words, "--format", "json").json
        return [row["name"] for row in document["candidates"]]

    def test_find_has_a_kernel_for_each_direction_and_type(self):
        for direction in ("fprop", "dgrad", "wgrad"):
            for kind in ("f16", "bf16", "f32", "f64", "s8", "u8"):
                with self.subTest(direction=direction, kind=kind):
                    out = ("--out", "s32") if kind in ("s8", "u8") else ()
                    names = self.names_found(direction, *SHAPE, kind, *out, "--padding", "1")
                    self.assertTrue(all(f"_{direction}_{kind}" in name for name in names), names)
                    self.assertTrue(any(name.startswith(f"conv2d_simt_{direction}_{kind}") for name in names), names)

    def test_find_prefers_tensor_cores_of_threads_to_none(self):
        for words in (("fprop", *SHAPE, "bf16"), ("dgrad", *SHAPE, "f16", "--stride", "2"), ("wgrad", *SHAPE, "bf16", "--groups", "4"),
                      ("fprop", "2x9x8x3", "20x3x3", "f16"), ("fprop", "2x9x8x16", "20x3x3", "s8", "--out", "s8"),
                      ("wgrad", *SHAPE, "f32", "--math", "fast_tf32")):
            with self.subTest(words=words):
                names = self.names_found(*words, "--padding", "1", "--device-model", "a100")
                self.assertTrue(names[0].startswith(f"conv2d_sm80_{words[0]}_{words[3]}"), names)
        self.assertTrue(self.names_found("fprop", *SHAPE, "f32")[0].startswith("conv2d_simt_"))

    def test_find_prefers_tensor_cores_where_the_copy_engine_can_walk(self):
        for direction in ("fprop", "dgrad", "wgrad"):
            for kind, out in (("f16", "f32"), ("bf16", "bf16")):
                with self.subTest(direction=direction, kind=kind):
                    words = (direction, "8x14x14x128", "64x3x3", kind, "--out", out, "--padding", "1", "--device-model", "h200")
                    names = self.names_found(*words)
                    self.assertTrue(names[0].startswith(f"conv2d_sm90_{direction}_{kind}_{kind}_f32_{out}_"), names)
                    self.assertTrue(names[-1].startswith("conv2d_simt_"), names)
        self.quarry("run", "conv2d", "wgrad", "1x12x12x64", "32x3x3", "bf16", "--padding", "1", "--on", "host")
        self.quarry("run", "conv2d", "dgrad", "1x12x12x64", "32x3x3", "f16", "--padding", "2x1", "--kind", "convolution", "--on", "host")

    def test_run_is_right_on_the_host(self):
        for words in (
            ("fprop", "1x28x28x16", "32x3x3", "bf16", "--padding", "1"),
            ("dgrad", "2x15x13x8", "12x3x5", "f32", "--padding", "1x2", "--stride", "2x3", "--groups", "4"),
            ("wgrad", "2x11x12x6", "9x4x2", "f16", "--dilation", "2x3", "--groups", "3", "--kind", "convolution"),
            ("fprop", "1x9x9x5", "7x3x3", "s8", "--out", "s32", "--padding", "6"),
            ("fprop", "2x9x8x64", "32x3x3", "u8", "--out", "s8", "--padding", "1", "--c", "s8", "--layout", "nc32hw32"),
            ("fprop", "1x9x9x8", "8x1x1", "f64", "--c", "f64", "--beta", "0.5", "--bias", "column", "--activation", "gelu"),
            ("fprop", "1x9x9x8", "12x3x3", "f16", "--groups", "4", "--scale", "column", "--residual", "f16:row:ld=16", "--activation", "silu"),
            ("dgrad", "1x9x9x8", "12x3x3", "bf16", "--stride", "2", "--scale", "tensor", "--residual", "out", "--aux", "bf16"),
            ("wgrad", "1x9x9x16", "12x3x3", "f32", "--residual", "f32", "--aux", "f32:row:ld=20", "--activation", "gelu"),
            ("fprop", "2x9x8x64", "32x3x3", "s8", "--padding", "1", "--layout", "nc32hw32", "--scale", "column", "--residual", "s8", "--aux", "s8"),
        ):
            with self.subTest(words=words):
                self.quarry("run", "conv2d", *words, "--on", "host")

    def test_an_expression_takes_the_place_of_the_epilogue(self):
        for words in (
            ("fprop", "1x14x14x16", "32x3x3", "bf16", "--padding", "1", "--epilogue", "out = silu(sum + x) + y", "--with", "x=bf16:per_column,y=bf16:row"),
            ("dgrad", "2x9x9x8", "12x3x3", "f32", "--stride", "2", "--groups", "4", "--epilogue", "z = sum; out = z + y", "--with", "y=f32:row,z=f32:row", "--in-place", "y"),
            ("wgrad", "2x9x8x6", "9x3x3", "f16", "--out", "f32", "--groups", "3", "--epilogue", "out = sum * s", "--with", "s=f32:scalar"),
            ("fprop", "1x9x9x5", "7x3x3", "s8", "--out", "s8", "--epilogue", "out = f32(sum) * s", "--with", "s=f32:per_column"),
        ):
            with self.subTest(words=words):
                self.assertIn("within its own bound", self.quarry("run", "conv2d", *words, "--on", "host").out)
        plain = ("fprop", *SHAPE, "bf16", "--on", "host")
        for flags, says, lines in ((("--epilogue", "out = row_sum(sum)"), "Reductions are not computed by kernels of convolutions", 1),
                                   (("--epilogue", "out = gleu(sum)"), "did you mean `gelu`", 3),
                                   (("--epilogue", "out = sum + x", "--with", "x=f32:per_row"), "declared per_row", 1),
                                   (("--epilogue", "out = sum", "--bias", "column"), "stands beside an expression", 1),
                                   (("--with", "x=f32:row"), "say --epilogue, too", 1)):
            with self.subTest(flags=flags):
                self.refused("run", "conv2d", *plain, *flags, says=says, lines=lines)

    @unittest.skipUnless(HAS_EMULATOR, "needs the emulator")
    def test_kernels_with_expressions_are_right_in_the_emulator(self):
        names = [name for family in ("conv2d_simt", "conv2d_sm80", "conv2d_sm90") for name in
                 self.quarry("list", "--where", f"family == {family} and a.dtype == bf16 and direction != dgrad", "--format", "names").out.split()[:2]]
        done = self.quarry("emulate", *names, "--path", "expression")
        self.assertIn("0 wrong", done.out)

    def test_a_flag_gives_the_direction_where_the_shape_does_not(self):
        for direction in ("fprop", "dgrad", "wgrad"):
            with self.subTest(direction=direction):
                flags = ("--padding", "1", "--device-model", "h200")
                by_word = self.names_found(direction, *SHAPE, "bf16", *flags)
                self.assertTrue(all(f"_{direction}_" in name for name in by_word), by_word)
                self.assertEqual(self.names_found(*SHAPE, "bf16", "--direction", direction, *flags), by_word)
                self.assertEqual(self.names_found(direction, *SHAPE, "bf16", "--direction", direction, *flags), by_word)
        self.quarry("run", "conv2d", *SHAPE, "bf16", "--direction", "wgrad", "--on", "host")

    def test_controls_are_kept(self):
        words = ("conv2d", "fprop", "2x14x14x64", "72x3x3", "f16", "--padding", "1", "--device-model", "h200")
        for mode, slices, order in (("split_k_serial", "3", "along_m"), ("split_k_parallel", "4", "along_n"), ("split_k_cluster", "2", "along_m")):
            with self.subTest(mode=mode):
                flags = ("--mode", mode, "--split-k", slices, "--swizzle", "2", "--raster", order)
                found = self.quarry("find", *words, *flags, "--format", "json").json["candidates"]
                self.assertTrue(found)
                chosen = {(row["mode"], row["split_k"], row["swizzle"], row["raster"]) for row in found}
                self.assertEqual(chosen, {(mode, int(slices), 2, order)})
                ran = self.quarry("run", *words[:-2], *flags, "--kernel", found[0]["name"], "--on", "host", "--format", "json").json["runs"][0]
                self.assertTrue(ran["right"])
        self.quarry("verify", "conv2d_sm80_wgrad_f16_f16_f32_f16_64x32x128_w4x1x1_s1_window_a8x1", "--on", "host", "--problems", "40")

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
            ((), "no shape given; say for example: conv2d fprop"),
            (("fprop", "2x9x8x12"), "the shape `fprop 2x9x8x12` is not complete; say for example: conv2d fprop"),
            (("sideways", *SHAPE, "f32"), "direction"),
            (("fprop", *SHAPE, "f32", "--direction", "dgrad"), "contradicts the shape, which begins with fprop"),
            (("fprop", *SHAPE, "f32", "--direction", "sideways"), "--direction"),
            ((*SHAPE, "f32", "--direction", "sideways"), "--direction"),
            ((*SHAPE, "f32"), "which direction? Say fprop, dgrad or wgrad in front of the shape, or as --direction"),
            (("2x9x8x12", "--direction", "fprop"), "the shape `2x9x8x12` is not complete; say for example: conv2d fprop"),
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
            (("fprop", *SHAPE, "f32", "--batch", "2"), "--batch does not go with conv2d"),
            (("fprop", *SHAPE, "f32", "--scale", "row"), "expected `column` or `tensor`"),
            (("wgrad", *SHAPE, "f32", "--scale", "tensor"), "Operand `scale` is unsupported: wgrad takes none"),
            (("fprop", *SHAPE, "s8", "--out", "s32", "--scale", "column"), "which is not scaled"),
            (("fprop", *SHAPE, "f32", "--residual", "f32:col"), "channels are contiguous"),
            (("fprop", *SHAPE, "f32", "--residual", "f16"), "`residual`"),
            (("fprop", *SHAPE, "f32", "--aux", "f32:col"), "channels are contiguous"),
            (("fprop", *SHAPE, "f32", "--aux", "out"), "--aux"),
            (("fprop", "2x9x8x64", "32x3x3", "s8", "--layout", "nc32hw32", "--residual", "s8:ld=96"), "leave out ld"),
            (("fprop", *SHAPE, "f32", "--a", "f32:col"), "channels are contiguous"),
            (("fprop", *SHAPE, "f32", "--kind", "other"), "--kind"),
            (("fprop", *SHAPE, "s8", "--layout", "nchw"), "--layout"),
            (("fprop", *SHAPE, "s8", "--layout", "nc32hw32"), "multiples of 32, got 20"),
            (("fprop", "2x9x8x64", "32x3x3", "s8", "--layout", "nc32hw32", "--a", "s8:ld=96"), "leave out ld"),
            (("fprop", "2x9x8x64", "32x3x3", "f16", "--layout", "nc32hw32"), "which is for operands of s8 and u8"),
            (("dgrad", "2x9x8x64", "32x3x3", "s8", "--layout", "nc32hw32", "--padding", "1"), "expected fprop of one group, got dgrad"),
            (("fprop", *SHAPE, "f32", "--split-k", "2"), "Control `split_k_slices` is unsupported"),
            (("fprop", *SHAPE, "f16", "--split-k", "2", "--mode", "gemm"), "which needs a mode of split_k_serial"),
            (("fprop", *SHAPE, "f16", "--mode", "stream_k"), "Control `mode` is unsupported"),
            (("fprop", *SHAPE, "f16", "--swizzle", "3"), "expected 1, 2, 4 or 8, got 3"),
            (("fprop", *SHAPE, "f16", "--split-k", "0"), "--split-k"),
            (("fprop", *SHAPE, "f16", "--raster", "across"), "--raster"),
            (("fprop", *SHAPE, "f32", "--multiprocessors", "4"), "Control `multiprocessors` is unsupported"),
        ):
            with self.subTest(words=words):
                result = run_quarry("find", "conv2d", *words)
                self.assertNotEqual(result.status, 0)
                self.assertIn(message, result.err + result.out)


if __name__ == "__main__":
    unittest.main()
