"""GEMM of 8-bit floating point, and f32 by Hopper's tensor cores, through the commands: find, run, show, emulate."""

import unittest

from quarry_command import CommandTest, run_quarry

HOST = ("--on", "host")
MODEL = ("--device-model", "h200")
EMULATES = "emulate" in run_quarry("--help").out
FP8 = ("e4m3", "e5m2")
SMALL = "64x128x128_c1x1_s8_one_tile"


class Fp8(CommandTest):
    def found(self, *flags):
        return self.quarry("find", "gemm", "512x512x512", *flags, *MODEL, "--columns", "name,family,reorders", "--format", "json").json["candidates"]

    def test_every_pair_and_output_is_found_and_right(self):
        for a in FP8:
            for b in FP8:
                for out in ("bf16", "f16", "f32", *FP8):
                    flags = ("--a", a, "--b", f"{b}:col", "--out", out, "--bias", "row", "--activation", "relu")
                    with self.subTest(flags=flags):
                        run = self.quarry("run", "gemm", "130x144x517", *flags, *HOST, "--format", "json").json["runs"][0]
                        self.assertTrue(run["right"])
                        self.assertRegex(run["kernel"], f"^gemm_sm90_{a}_{b}_f32_{out}_rcr_.*_a1x1$")

    def test_tensor_cores_multiply_what_is_contiguous_along_k(self):
        for b, families in (("e5m2:col", {"gemm_sm90", "gemm_simt"}), ("e5m2:row", {"gemm_sm90", "gemm_simt"})):
            with self.subTest(b=b):
                found = self.found("--a", "e4m3", "--b", b, "--out", "bf16")
                self.assertEqual({kernel["family"] for kernel in found}, families)
                self.assertEqual(found[0]["family"], "gemm_sm90")
                self.assertEqual({kernel["reorders"] for kernel in found if kernel["family"] == "gemm_sm90"}, {b == "e5m2:row"})

    def test_f32_goes_to_hopper_under_fast_tf32_alone(self):
        for math, fast in (("exact", False), ("fast_tf32", True)):
            found = self.found("--a", "f32", "--b", "f32:col", "--math", math)
            with self.subTest(math=math):
                self.assertEqual(any(kernel["family"] == "gemm_sm90" for kernel in found), fast)
                self.assertEqual(found[0]["family"], "gemm_sm90" if fast else "gemm_simt")

    def test_an_output_that_no_kernel_writes_is_named(self):
        self.refused("find", "gemm", "64x64x64", "--a", "e4m3", "--b", "e4m3:col", "--out", "f64", *MODEL,
                     says="the output is e4m3, e5m2, f16, bf16 or f32", status=1)

    def test_operands_of_two_classes_are_refused(self):
        self.refused("find", "gemm", "64x64x64", "--a", "e4m3", "--b", "s8:col", "--out", "bf16", *MODEL, says="No kernel", status=1)

    @unittest.skipUnless(EMULATES, "built without the emulator")
    def test_emulated_kernels_are_right(self):
        for name in (f"gemm_sm90_e4m3_e5m2_f32_bf16_rcr_{SMALL}_a16x16", "gemm_sm90_f32_f32_f32_f32_rcr_64x128x32_c1x1_s8_one_tile_fast_tf32_a4x4"):
            with self.subTest(name=name):
                self.assertIn("0 wrong", self.quarry("emulate", name, "--problems", "3").out)


if __name__ == "__main__":
    unittest.main()
