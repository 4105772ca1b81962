"""grouped_gemm as an operation of the command: find, run, verify, emulate, and what it refuses."""
import os
import tempfile
import unittest

from quarry_command import CommandTest, run_quarry

HOST = ("--on", "host")
HAS_EMULATOR = "emulate" in run_quarry("--help").out


class Grouped(CommandTest):
    def test_find_prefers_tensor_cores_for_every_form(self):
        for words in ((), ("--form", "masked", "--room", "256"), ("--form", "ragged_k", "--tokens", "16384")):
            with self.subTest(words=words):
                document = self.quarry("find", "grouped_gemm", "8x4096x7168", "bf16", *words, "--format", "json").json
                names = [row["name"] for row in document["candidates"]]
                self.assertEqual(names[-1], "grouped_gemm_simt_bf16_bf16_f32_bf16_rrr_64x64x16_t4x4")
                self.assertTrue(names[0].startswith("grouped_gemm_sm90_bf16_bf16_f32_bf16_rrr_"))
                self.assertTrue(names[-2].startswith("grouped_gemm_sm80_bf16_bf16_f32_bf16_rrr_"))

    def test_run_is_right_on_the_host(self):
        for words in (
            ("4x64x96", "bf16", "--tokens", "300", "--distribution", "zipf"),
            ("4x64x96", "f32", "--tokens", "100", "--distribution", "uniform", "--sizes-are", "counts", "--b", "f32:col"),
            ("3x40x33", "f16", "--form", "masked", "--sizes", "7,0,20", "--room", "20", "--outside", "zero"),
            ("3x40x33", "f64", "--form", "ragged_k", "--sizes", "7,7,60", "--bias", "column", "--activation", "gelu"),
            ("3x40x33", "s8", "--out", "s32", "--sizes", "7,7,30", "--room", "50"),
            ("3x40x33", "s8", "--out", "f32", "--sizes", "7,7,30", "--a-scale", "row", "--b-scale", "column"),
            ("3x40x33", "e4m3", "--tokens", "30"),
            ("3x72x256", "--a", "e4m3:row", "--b", "e4m3:col", "--out", "bf16", "--sizes", "7,7,60", "--a-scale", "1x128",
             "--b-scale", "128x128"),
            ("3x72x144", "--a", "e4m3:row", "--b", "e4m3:col", "--out", "f32", "--form", "masked", "--sizes", "7,0,60", "--a-scale",
             "row", "--b-scale", "tensor"),
            ("3x40x33", "f16", "--sizes=-4,99,3", "--room", "50", "--wrong-sizes", "clamp", "--beta", "1"),
        ):
            with self.subTest(words=words):
                self.assertIn("right", self.quarry("run", "grouped_gemm", *words, *HOST).out)

    def test_expressions_take_the_place_of_the_epilogue(self):
        for words in (
            ("4x64x96", "bf16", "--tokens", "300", "--epilogue", "out = silu(gate(sum) + bias) * up(sum)", "--with", "bias=f32:per_column",
             "--of-each", "bias"),
            ("3x40x33", "f16", "--form", "masked", "--sizes", "7,0,20", "--room", "20", "--outside", "zero", "--epilogue", "z = sum * w; out = z + x",
             "--with", "w=f32:per_row,x=f16:row,z=f32:col", "--of-each", "w"),
            ("3x40x33", "f64", "--form", "ragged_k", "--sizes", "7,7,60", "--epilogue", "out = sum + 1"),
            ("3x256x32", "bf16", "--sizes", "7,7,30", "--room", "50", "--epilogue", "s = group_max(abs(sum)); out = sum / s", "--with", "s=f32:row"),
            ("3x40x33", "f32", "--sizes", "7,7,30", "--epilogue", "out = sum + x", "--with", "x=f32:row", "--in-place", "x"),
            ("3x40x33", "f32", "--sizes", "7,7,30", "--epilogue", "out = sum + f32(x)", "--with", "x=s32:row", "--in-place", "x"),
            ("3x40x33", "f16", "--sizes", "7,7,30", "--epilogue", "out = sum + t[i]", "--with", "t=bf16:gathered,i=s32:per_row", "--table-rows", "11",
             "--of-each", "t"),
            ("3x40x33", "f16", "--sizes", "7,7,30", "--room", "41", "--epilogue", "out = sum; r = row_sum(sum); c = column_max(sum) + x; m = max(sum)",
             "--with", "x=f32:per_column", "--of-each", "x"),
            ("3x40x33", "bf16", "--form", "masked", "--sizes", "5,0,9", "--room", "11", "--epilogue", "out = sum; r = row_max(sum) * w; s = sum(abs(sum))",
             "--with", "w=f32:per_row", "--of-each", "w"),
            ("3x40x33", "f64", "--form", "ragged_k", "--sizes", "7,7,60", "--epilogue", "out = sum; c = column_sum(sum)"),
        ):
            with self.subTest(words=words):
                ran = self.quarry("run", "grouped_gemm", *words, *HOST).out
                self.assertIn("right", ran)
                if "--of-each" in words:
                    self.assertIn("--of-each " + words[-1], ran)
        shape = ("run", "grouped_gemm", "3x40x33", "f16", *HOST)
        self.refused(*shape, "--of-each", "x", says=["--of-each", "there is no expression"])
        self.refused(*shape, "--epilogue", "out = sum + x", "--with", "x=f16:per_row", "--of-each", "x", says=["per_column or gathered", "got `x`"])
        self.refused(*shape, "--epilogue", "out = sum", "--bias", "column", says="`bias` stands beside an expression")

    def test_the_largest_group_is_a_hint(self):
        words = ("find", "grouped_gemm", "128x2048x4096", "bf16", "--tokens", "2048", "--device-model", "h200", "--format", "json")
        def first(*more):
            return self.quarry(*words, *more).json["candidates"][0]
        self.assertEqual(first("--largest", "16"), first("--largest", "1"))  # an even share, or less: all are alike
        self.assertLess(first("--largest", "16")["predicted_us"], first()["predicted_us"])
        # Known sizes have the same tiles, whatever there is room for.
        alike = ("find", "grouped_gemm", "8x2048x4096", "bf16", "--tokens", "2048", "--largest", "256", "--device-model", "h200", "--format", "json")
        of_room = [self.quarry(*alike, "--room", room).json["candidates"][0] for room in ("2048", "2049", "9000")]
        self.assertEqual(len({(each["name"], each["predicted_us"]) for each in of_room}), 1)
        self.assertNotEqual(first("--largest", "2048")["name"], first()["name"])
        self.assertLess(first("--largest", "2048")["predicted_us"], first()["predicted_us"])
        self.refused(*words[:-2], "--largest", "2049", says=["`expected_largest` is 2049", "which is 2048"])
        self.refused(*words[:-2], "--largest", "-1", says="--largest")
        ran = self.quarry("run", "grouped_gemm", "3x40x33", "f16", "--tokens", "60", "--largest", "50", *HOST).out
        self.assertIn("--largest 50", ran)

    def test_there_may_be_no_rows_and_no_groups(self):
        for form in ("contiguous", "masked", "ragged_k"):
            for shape, words in (("4x64x96", ("--tokens", "0")), ("4x64x96", ("--tokens", "0", "--room", "8", "--beta", "1")),
                                 ("4x64x96", ("--largest", "0")), ("0x64x16", ()), ("0x64x16", ("--room", "8", "--outside", "zero")),
                                 ("0x64x16", ("--tokens", "0", "--distribution", "one", "--residual", "bf16"))):
                with self.subTest(form=form, shape=shape, words=words):
                    ran = self.quarry("run", "grouped_gemm", shape, "bf16", "--form", form, *words, *HOST).out
                    self.assertIn("right", ran)
                    self.quarry("find", "grouped_gemm", shape, "bf16", "--form", form, *words, "--device-model", "h200")

    def test_sizes_come_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sizes.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("10 10\n25\n")
            self.assertIn("--sizes 10,10,25", self.quarry("run", "grouped_gemm", "3x40x33", "f16", "--sizes", path, *HOST).out)

    def test_wrong_sizes_are_refused_on_the_host(self):
        result = run_quarry("run", "grouped_gemm", "2x40x33", "f16", "--sizes", "9,5", *HOST)
        self.assertIn("Operand `sizes` is wrong at group 1: it is 5, and the group before it ends at 9", result.err + result.out)
        self.assertEqual((result.status, result.out), (2, ""))  # no kernel is to blame

    def test_verify_meets_every_path(self):
        out = self.quarry("verify", "--where", "operation == grouped_gemm and a.dtype == bf16", *HOST, "--problems", "24",
                          "--seed", "3").out
        self.assertIn("0 wrong", out)

    @unittest.skipUnless(HAS_EMULATOR, "no emulator in this build")
    def test_a_kernel_is_emulated(self):
        names = ("grouped_gemm_simt_f16_f16_f32_f16_rcr_64x64x16_t4x4",
                 "grouped_gemm_sm80_f16_f16_f32_f16_rcr_64x64x64_w2x2x1_s3_a1x1",
                 "grouped_gemm_sm90_f16_f16_f32_f16_rcr_64x128x64_c1x1_s8_ping_pong_a8x8",
                 "grouped_gemm_sm90_f16_f16_f32_f16_rcr_128x128x64_c2x1_s6_ping_pong_a8x8")
        for name in names:
            for words in ((), ("--form", "masked"), ("--form", "ragged_k", "--sizes", "7,7,64"),
                          ("--sizes=-4,99,3", "--room", "50", "--wrong-sizes", "clamp")):
                with self.subTest(name=name, words=words):
                    self.assertIn("0 wrong", self.quarry("emulate", name, "3x40x40", *words).out)

    @unittest.skipUnless(HAS_EMULATOR, "no emulator in this build")
    def test_scales_are_emulated(self):
        name = "grouped_gemm_simt_e4m3_e5m2_f32_f32_rcr_64x64x16_t4x4_block_scales"
        for words in (("--a-scale", "1x128", "--b-scale", "128x128"), ("--a-scale", "row", "--form", "masked"),
                      ("--b-scale", "column", "--sizes=-4,99,3", "--room", "50", "--wrong-sizes", "clamp")):
            with self.subTest(words=words):
                self.assertIn("0 wrong", self.quarry("emulate", name, "3x72x300", *words).out)

    def test_scales_need_no_tensor_cores(self):
        names = self.quarry("find", "grouped_gemm", "8x512x1024", "--a", "e4m3:row", "--b", "e4m3:col", "--out", "bf16", "--a-scale", "1x128",
                            "--b-scale", "128x128", "--device-model", "a100", "--format", "names").out
        self.assertIn("grouped_gemm_simt_e4m3_e4m3_f32_bf16_rcr_64x64x16_t4x4_block_scales", names)

    def test_bad_problems_are_refused_by_flag(self):
        for words, message in (
            (("8x64x64",), "which type?"),
            (("0x64x64", "f16", "--tokens", "5"), "--tokens: expected 0, as there are no groups, got 5"),
            (("0x64x64", "f16", "--sizes", "5"), "--sizes: expected 0 sizes, one for each group, got 1"),
            (("0x64x64", "f16", "--distribution", "normal"), "--distribution: unknown distribution `normal`"),
            (("2x64x64", "f16", "--tokens", "-1"), "--tokens"),
            (("8x64", "f16"), "8x4096x7168"),
            (("8x64x64", "f16", "--form", "dense"), "--form: expected one of contiguous, masked, ragged_k, got `dense`"),
            (("8x64x64", "f16", "--outside", "a\x01b"), "--outside: expected one of keep, zero, got `a?b`"),
            (("8x64x64", "f16", "--distribution", "normal"), "--distribution: unknown distribution `normal`"),
            (("8x64x64", "f16", "--sizes", "1,2"), "--sizes: expected 8 sizes, one for each group, got 2"),
            (("1x64x64", "f16", "--sizes", "1,2"), "--sizes: expected 1 size, one for each group, got 2"),
            (("2x64x64", "f16", "--out", "f16:array"), "--out: an array of pointers goes with a batch, which this problem does not have"),
            (("3x32x32", "s8", "--out", "s8:row32"), "Operand `out` is unsupported: expected strided, got row_interleaved32"),
            (("2x64x64", "f16", "--sizes", "1,x"), "--sizes"),
            (("2x64x64", "f16", "--sizes", "1,2", "--tokens", "9"), "--sizes"),
            (("2x64x64", "f16", "--sizes-are", "offsets"), "--sizes-are: unknown meaning of sizes `offsets`; expected `ends` or `counts`"),
            (("2x64x64", "f16", "--sizes-are", "count"), "--sizes-are: unknown meaning of sizes `count`; did you mean `counts`?"),
            (("2x64x64", "f16", "--outside", "drop"), "--outside"),
            (("2x64x64", "f16", "--form", "masked", "--sizes-are", "ends"), "counts of their rows, not ends"),
            (("2x64x64", "f16", "--math", "exact"), "--math does not go with grouped_gemm"),
            (("2x64x64", "s8", "--out", "s32", "--a-scale", "row"), "Operand `a_scale` is unsupported: an s32 output is computed in s32, which is not scaled"),
            (("2x64x64", "f16", "--form", "ragged_k", "--a-scale", "row"), "Operand `a_scale` is unsupported with ragged K"),
        ):
            with self.subTest(words=words):
                result = run_quarry("find", "grouped_gemm", *words)
                self.assertNotEqual(result.status, 0)
                self.assertIn(message, result.err + result.out)


if __name__ == "__main__":
    unittest.main()
