"""gemm_list as an operation of the command: find, run, verify, emulate, and what it refuses."""
import os
import tempfile
import unittest

from quarry_command import CommandTest, run_quarry

HOST = ("--on", "host")
HAS_EMULATOR = "emulate" in run_quarry("--help").out
LIST = "64x40x33,1x1x1,70x8x100,0x8x8,8x8x0"
ALIGNED_LIST = "64x40x32,1x1x8,70x8x104,0x8x8,8x8x0"
BYTE_LIST = "64x40x32,1x1x16,70x8x112,0x8x8,8x8x0"


class Lists(CommandTest):
    def test_find_prefers_tensor_cores(self):
        document = self.quarry("find", "gemm_list", "8*512x1024x2048,64x64x64", "bf16", "--format", "json").json
        names = [row["name"] for row in document["candidates"]]
        self.assertEqual(names[-1], "gemm_list_simt_bf16_bf16_f32_bf16_rrr_64x64x16_t4x4")
        self.assertTrue(names[0].startswith("gemm_list_sm90_bf16_bf16_f32_bf16_rrr_"))

    def test_find_prefers_tensor_cores_for_bytes_with_scales(self):
        for out in ("s8", "f32"):
            for scales in (("--a-scale", "row", "--b-scale", "column"), ("--a-scale", "tensor"), ("--b-scale", "column")):
                with self.subTest(out=out, scales=scales):
                    names = self.quarry("find", "gemm_list", "8*512x1024x2048,64x64x64", "s8", "--b", "col", "--out", out, *scales, "--format", "names").lines
                    self.assertEqual({name.startswith("gemm_list_sm80_s8_s8_s32_") and name.endswith("_vector_scales") for name in names[:-1]}, {True})
                    self.assertEqual(names[-1], f"gemm_list_simt_s8_s8_s32_{out}_rcr_64x64x64_t4x4_block_scales")

    def test_the_ranking_goes_by_the_tiles_of_the_problems(self):
        def first(shape):
            return self.quarry("find", "gemm_list", shape, "bf16", "--bounds", "4096x4096x4096", "--limit", "1", "--format", "names").out
        self.assertIn("128x", first("16*4096x4096x4096"))
        self.assertIn("_64x64x128_", first("200*8x16x4096"))

    def test_run_is_right_on_the_host(self):
        for words in (
            (LIST, "bf16"),
            (LIST, "f32", "--leading", "packed", "--b", "f32:col"),
            (LIST, "f16", "--bias", "column", "--activation", "relu", "--beta", "1"),
            (LIST, "f64", "--a", "f64:stride=7000", "--b", "f64:shared", "--residual", "f64"),
            (LIST, "s8", "--out", "s32"),
            (LIST, "s8", "--b", "s8:col", "--out", "f32"),
            (LIST, "s8", "--out", "f32", "--a-scale", "row", "--b-scale", "column"),
            (LIST, "s8", "--b", "s8:col", "--out", "f32", "--bounds", "96x48x112", "--a-scale", "row", "--b-scale", "column"),
            (LIST, "f16", "--sizes=64x40x33,-1x5x5,99x8x8,3x3x3,8x8x9999", "--wrong-sizes", "clamp"),
            (LIST, "f16", "--schedule", "host"),
            ("64x40x33,1x1x1,70x8x104", "f16", "--leading", "packed"),
            ("64x40x32,9x20x21", "f16", "--bounds", "64x40x64", "--leading", "packed", "--wrong-sizes", "clamp"),
            ("64x40x32,9x20x21", "f16", "--bounds", "64x40x64", "--leading", "packed", "--leading-alignment", "8"),
            (LIST, "f16", "--bounds", "96x48x112", "--leading", "112:48:0:48,1:1:0:1,112:48:0:48,1:1:0:1,8:8:0:8"),
        ):
            with self.subTest(words=words):
                self.assertIn("right", self.quarry("run", "gemm_list", *words, *HOST).out)

    def test_expressions_take_the_place_of_the_epilogue(self):
        for words in (
            (LIST, "f16", "--epilogue", "out = gelu(sum + bias)", "--with", "bias=f32:per_column", "--of-each", "bias"),
            (LIST, "bf16", "--leading", "packed", "--epilogue", "z = sum * w; out = z + x", "--with", "w=f32:per_row,x=bf16:row,z=f32:col",
             "--of-each", "w"),
            (LIST, "s8", "--out", "s32", "--epilogue", "out = sum + x", "--with", "x=s32:row"),
            (LIST, "f16", "--epilogue", "out = sum; r = row_sum(sum); c = column_max(sum) + x; m = max(sum)", "--with", "x=f32:per_column", "--of-each", "x"),
            (LIST, "f16", "--epilogue", "out = sum + t[i]", "--with", "t=bf16:gathered,i=s32:per_row", "--table-rows", "11", "--of-each", "t"),
            (LIST, "f32", "--out", "f32:stride=2800", "--epilogue", "out = sum + x", "--with", "x=f32:row", "--in-place", "x"),
        ):
            with self.subTest(words=words):
                ran = self.quarry("run", "gemm_list", *words, *HOST).out
                self.assertIn("right", ran)
                if "--of-each" in words:
                    self.assertIn("--of-each " + words[-1], ran)
        shape = ("run", "gemm_list", LIST, "f16", *HOST)
        self.refused(*shape, "--of-each", "x", says=["--of-each", "there is no expression"])
        self.refused(*shape, "--epilogue", "out = sum + x", "--with", "x=f16:row", "--of-each", "x", says=["per_row, per_column or gathered", "got `x`"])
        self.refused(*shape, "--epilogue", "out = sum", "--bias", "column", says="`bias` stands beside an expression")

    def test_a_list_comes_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "list.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("64x32x16\n2*8x8x8\n")
            self.assertIn("64x32x16,2*8x8x8", self.quarry("run", "gemm_list", path, "f16", *HOST).out)

    def test_wrong_sizes_are_refused_on_the_host(self):
        result = run_quarry("run", "gemm_list", LIST, "f16", "--sizes=64x40x33,-1x5x5,1x8x8,3x3x3,8x8x0", *HOST)
        self.assertEqual(result.status, 2)
        self.assertIn("Operand `sizes` is wrong at problem 1: its M is -1, which is negative", result.err + result.out)

    def test_wrong_leading_dimensions_are_bad_input(self):
        for words, message in (
            (("4x4x4", "f16", "--leading", "3:4:4:4"), "Operand `leading` is wrong at problem 0: for a it is 3, and its lines have 4 elements"),
            (("4x4x4,2x3x4", "f32", "--leading", "4:4:0:4,4:3:0:5"), "Operand `leading` is wrong at problem 1: for out it is 5, and the view's is 4"),
            (("4x4x4", "f16", "--leading-alignment", "8"), "--leading-alignment: there is no --leading"),
            (("4x4x4", "f16", "--leading", "packed", "--leading-alignment", "0"), "--leading-alignment"),
        ):
            with self.subTest(words=words):
                result = run_quarry("run", "gemm_list", *words, *HOST)
                self.assertEqual(result.status, 2)
                self.assertIn(message, result.err + result.out)
                self.assertNotIn("FAILED", result.err + result.out)
        self.assertIn("right", self.quarry("run", "gemm_list", "4x4x4", "f16", "--leading", "3:4:4:4", "--wrong-sizes", "clamp", *HOST).out)

    def test_an_input_in_the_outputs_place_has_its_leading_dimensions(self):
        run = ("run", "gemm_list", "4x4x4,8x8x8", "f16", *HOST, "--leading")
        expressed = ("--out", "f16:stride=64", "--epilogue", "out = sum + x", "--with", "x=f16:row", "--in-place", "x")
        self.assertIn("right", self.quarry(*run, "packed", "--c", "out").out)
        self.refused(*run, "packed", "--residual", "out",
                     says="--residual out: the leading dimensions differ at problem 0: for out it is 4, and for the input the view's, 8")
        self.refused(*run, "packed", *expressed, says="--in-place: the leading dimensions differ at problem 0")
        self.refused(*run, "4:4:8:4,8:8:8:8", "--c", "out", says="--c out: the leading dimensions differ at problem 0: for out it is 4, and for the input 8")
        for words in (("--residual", "out"), expressed):
            self.assertIn("right", self.quarry(*run, "4:4:8:8,8:8:8:8", *words).out)

    def test_aligned_kernels_take_leading_dimensions_that_keep_their_alignment(self):
        def first(*words):
            return self.quarry("find", "gemm_list", "8*512x1024x2048,64x64x64", "bf16", "--device-model", "h200", "--limit", "1", "--format", "names", *words).out
        self.assertIn("gemm_list_sm90", first("--leading", "packed"))
        self.assertNotIn("a8x8", first("--leading", "packed", "--leading-alignment", "4"))
        self.assertNotIn("a8x8", first("--leading", "8*2048:1024:0:1024,65:64:0:64"))

    def test_a_broken_promise_is_refused_on_the_host(self):
        words = ("run", "gemm_list", "64x40x32,9x20x21", "f16", "--bounds", "64x40x64", "--leading", "32:40:0:40,21:24:0:20", "--leading-alignment", "8", *HOST)
        result = run_quarry(*words, "--where", "a.alignment == 8")
        self.assertEqual(result.status, 1)
        self.assertIn("problem 1: for a it is 21, and `leading_alignment` promises a multiple of 8", result.err + result.out)

    def test_gated_pairs_are_of_each_problem(self):
        pairs = ("--epilogue", "out = silu(gate(sum) + bias) * up(sum)", "--with", "bias=f32:per_column", "--of-each", "bias")
        eights = ("--epilogue", "z = up8(sum); out = silu(gate8(sum)) * z", "--with", "z=f32:row")
        for words in (
            ("64x40x33,1x2x1,70x8x100,0x8x8,8x8x0", "f16", *pairs),
            ("64x40x32,1x16x8,70x48x104", "bf16", "--leading", "packed", *pairs),
            ("64x40x33,1x2x1", "f32", "--sizes=64x39x33,-1x3x1", "--wrong-sizes", "clamp", *pairs),
            ("64x48x33,1x16x1", "f16", "--schedule", "host", *eights),
            ("64x48x33,1x16x1", "f16", "--sizes=64x47x33,1x99x1", "--wrong-sizes", "clamp", *eights),
            ("64x300x32,9x256x64", "bf16", "--b", "bf16:col", "--epilogue", "s = group_max(abs(sum)); out = sum / s", "--with", "s=f32:row"),
        ):
            with self.subTest(words=words):
                self.assertIn("right", self.quarry("run", "gemm_list", *words, *HOST).out)
        self.refused("run", "gemm_list", "64x40x33,1x3x1", "f16", *pairs, *HOST, says="at problem 1: its N is 3, and gated pairs need a multiple of 2")
        self.refused("run", "gemm_list", "64x48x33,1x8x1", "f16", *eights, *HOST, says="at problem 1: its N is 8, and gated pairs need a multiple of 16")

    def test_verify_meets_every_path(self):
        out = self.quarry("verify", "--where", "operation == gemm_list and a.dtype == bf16", *HOST, "--problems", "31",
                          "--seed", "3").out
        self.assertIn("0 wrong", out)

    @unittest.skipUnless(HAS_EMULATOR, "no emulator in this build")
    def test_a_kernel_is_emulated(self):
        for name, problems in (("gemm_list_simt_f16_f16_f32_f16_rcr_64x64x16_t4x4", LIST),
                               ("gemm_list_sm80_f16_f16_f32_f16_rcr_64x64x64_w2x2x1_s3_a1x1", LIST),
                               ("gemm_list_sm90_f16_f16_f32_f16_rcr_64x64x128_c1x1_s6_ping_pong_a8x8", ALIGNED_LIST)):
            for words in ((), ("--leading", "packed"), ("--schedule", "host"), ("--sizes=64x40x33,-1x5x5,99x8x8,3x3x3,8x8x9999", "--wrong-sizes", "clamp")):
                with self.subTest(name=name, words=words):
                    self.assertIn("0 wrong", self.quarry("emulate", name, problems, *words).out)

    @unittest.skipUnless(HAS_EMULATOR, "no emulator in this build")
    def test_scales_are_emulated(self):
        name = "gemm_list_sm80_s8_s8_s32_s8_rcr_16x64x128_w1x4x1_s5_a16x16_vector_scales"
        for scales in (("--a-scale", "row", "--b-scale", "column"), ("--a-scale", "tensor"), ("--b-scale", "column")):
            for words in ((), ("--leading", "packed"), ("--schedule", "host"), ("--sizes=64x40x32,-1x5x5,99x8x8,3x3x3,8x8x9999", "--wrong-sizes", "clamp")):
                with self.subTest(scales=scales, words=words):
                    self.assertIn("0 wrong", self.quarry("emulate", name, BYTE_LIST, *scales, *words).out)

    @unittest.skipUnless(HAS_EMULATOR, "no emulator in this build")
    def test_gated_pairs_are_emulated(self):
        for name in ("gemm_list_simt_f16_f16_f32_f16_rcr_64x64x16_t4x4", "gemm_list_sm80_f16_f16_f32_f16_rcr_64x64x64_w2x2x1_s3_a1x1",
                     "gemm_list_sm90_f16_f16_f32_f16_rcr_128x128x64_c1x1_s6_ping_pong_a8x8"):
            for words in ((), ("--leading", "packed"), ("--schedule", "host"), ("--sizes=64x39x32,-1x2x8,99x80x9999", "--wrong-sizes", "clamp")):
                with self.subTest(name=name, words=words):
                    self.assertIn("0 wrong", self.quarry("emulate", name, "64x40x32,1x2x8,70x80x104", *words,
                                                         "--epilogue", "out = silu(gate(sum)) * up(sum)").out)

    def test_bad_problems_are_refused_by_flag(self):
        for words, message in (
            (("8x64x64",), "which type?"),
            (("8x64", "f16"), "expected MxNxK or COUNT*MxNxK, whole numbers of 32 bits, found `8x64`"),
            (("-8x64x64", "f16"), ""),
            (("8x64x64", "f16", "--bounds", "8x64"), "--bounds"),
            (("8x64x64", "f16", "--sizes", "1x2x3,4x5x6"), "--sizes: expected 1 problem, got 2"),
            (("8x64x64", "f16", "--leading", "1:2:3"), "--leading: expected A:B:C:OUT or COUNT*A:B:C:OUT for each problem"),
            (("8x64x64", "f16", "--leading", "1:2:3:4,5:6:7:8"), "--leading: expected leading dimensions of 1 problem, got 2"),
            (("8x64x64", "f16", "--wrong-sizes", "drop"), "--wrong-sizes"),
            (("8x64x64", "f16", "--schedule", "later"), "unknown schedule `later`; expected `device` or `host`"),
            (("8x64x64", "f16", "--math", "exact"), "--math does not go with gemm_list"),
            (("no_such_file", "f16"), "got `no_such_file`: cannot read it"),
            (("/dev/zero", "f16"), "longer than"),
        ):
            with self.subTest(words=words):
                result = run_quarry("find", "gemm_list", *words)
                self.assertNotEqual(result.status, 0)
                self.assertIn(message, result.err + result.out)


if __name__ == "__main__":
    unittest.main()
